package main

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// makeBuffers makes the buffers of a run, one for each input; some may be the same.
func makeBuffers(inputs []simInput) []*sim.Buffer {
	buffers := make([]*sim.Buffer, len(inputs))
	for i, in := range inputs {
		if in.as != i {
			continue
		}
		buffers[i] = sim.NewBuffer(in.declared.Name, in.bytes, true)
		data := in.data
		if in.seeded {
			data = randomData(in.declared.Type, in.bytes, in.seed)
		}
		if len(data)%4 != 0 {
			data = append(slices.Clone(data), make([]byte, 4-len(data)%4)...)
		}
		buffers[i].Write(0, data)
	}
	for i, in := range inputs {
		buffers[i] = buffers[in.as]
	}
	return buffers
}

// bind says which buffer each binding gets.
func bind(inputs []simInput, buffers []*sim.Buffer) []sim.Binding {
	all := make([]sim.Binding, len(inputs))
	for i, in := range inputs {
		all[i] = sim.Binding{Group: in.declared.Group, Binding: in.declared.Binding, Buffer: buffers[i], Bytes: in.bytes}
	}
	return all
}

// randomData fills memory of a type with numbers that depend on the seed alone, in the order of memory: floats are uniform in
// [-1, 1), integers of any 32 bits. What lies between members is zero.
func randomData(t wgsl.Type, bytes, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, bytes)
	eachScalar(t, 0, int(bytes), func(s wgsl.Scalar, offset int) bool {
		bits := random.Uint32()
		switch s {
		case wgsl.F32:
			x := float32(bits>>8)/(1<<23) - 1
			binary.LittleEndian.PutUint32(data[offset:], math.Float32bits(x))
		case wgsl.F16:
			binary.LittleEndian.PutUint16(data[offset:], halfBits(int(bits>>21)-1024))
		default:
			binary.LittleEndian.PutUint32(data[offset:], bits)
		}
		return true
	})
	return data
}

// halfBits returns n/1024 as an f16, for n from -1024 to 1023.
func halfBits(n int) uint16 {
	var sign uint16
	if n < 0 {
		sign, n = 1<<15, -n
	}
	if n == 0 {
		return 0
	}
	exponent := uint16(15)
	for n < 1024 {
		n, exponent = n*2, exponent-1
	}
	return sign | exponent<<10 | uint16(n-1024)
}
