package kernels_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/schedules"
	"github.com/x448/float16"
)

// testGEMVTails takes numbers of rows that fill no whole tile. Around every operand lie 4 KiB that must stay as they are and that
// read as huge values: the guards of run.
func testGEMVTails(t *testing.T, d device) {
	var worst float64
	profiles := []schedules.Profile{d.portable}
	if d.subgroups.Subgroups {
		profiles = append(profiles, d.subgroups)
	}
	for _, p := range profiles {
		for i, rows := range []int{1, 2, 3, 7, 31, 33, 63, 65, 127, 129, 1000, 1001} {
			for j, format := range kernels.Formats() {
				if !turn(p, i+j) {
					continue
				}
				g := kernels.GEMV{Format: format, Columns: whole(format, 96), Results: []int{rows}, Epilogue: kernels.Store}
				d.checkGEMV(t, g, schedules.DefaultGEMV(g.Problem(), p), p, uint64(rows), &worst)
			}
			for j, format := range kernels.FormatsQ8() {
				if (i+j)%4 != 0 || !turn(p, (i+j)/4) {
					continue
				}
				g := kernels.GEMV{Format: format, Columns: whole(format, 96), Results: []int{rows}, X: schedules.XQ8, Epilogue: kernels.Store}
				x := evaluateQuant(t, normal(random(uint64(rows)), g.Columns, 1))
				d.checkGEMVQ8(t, g, schedules.DefaultGEMV(g.Problem(), p), p, x, uint64(rows), &worst)
			}
		}
	}
	t.Logf("largest NMSE %.2g", worst)
}

// testGEMVFolded is a head of 262144 rows with a workgroup for each: more than one dimension of a grid holds.
func testGEMVFolded(t *testing.T, d device) {
	var worst float64
	g := kernels.GEMV{Format: quant.Q8_0, Columns: 32, Results: []int{262144}, Epilogue: kernels.Store}
	s := schedules.DefaultGEMV(g.Problem(), d.portable)
	s.Workgroup, s.RowsPerThread = 1, 1
	k, err := g.Kernel(s, d.portable)
	if err != nil {
		t.Fatal(err)
	}
	if k.Grid[1] < 2 || k.Grid[0]*k.Grid[1] <= 262144 {
		t.Fatalf("a grid of %v has no second dimension, or no workgroups to spare", k.Grid)
	}
	d.checkGEMV(t, g, s, d.portable, 1, &worst)
}

// testGEMVBeyondF16 adds up 512 products of 1 and 256. The sum, twice what f16 holds, is exact in f32 in any order.
func testGEMVBeyondF16(t *testing.T, d device) {
	profiles := []schedules.Profile{d.portable}
	if d.subgroups.Subgroups {
		profiles = append(profiles, d.subgroups)
	}
	const rows, columns = 3, 512
	x := make([]float32, columns)
	for i := range x {
		x[i] = 256
	}
	for _, p := range profiles {
		for _, format := range kernels.Formats() {
			g := kernels.GEMV{Format: format, Columns: columns, Results: []int{rows}, Epilogue: kernels.Store}
			w := ones(t, format, rows*columns)
			k, err := g.Kernel(schedules.DefaultGEMV(g.Problem(), p), p)
			b := build(t, k, err)
			for row, y := range d.multiply(t, b, g, []weight{w}, x, nil) {
				if y != 131072 {
					t.Errorf("%s, %s: row %d is %v, want 131072", b.Name, p.Name, row, y)
				}
			}
		}
		// With codes of 127 the scale is 256/127, so that rounding it shows; what f16 does to the sum shows far more.
		for _, format := range kernels.FormatsQ8() {
			g := kernels.GEMV{Format: format, Columns: columns, Results: []int{rows}, X: schedules.XQ8, Epilogue: kernels.Store}
			w := ones(t, format, rows*columns)
			k, err := g.Kernel(schedules.DefaultGEMV(g.Problem(), p), p)
			b := build(t, k, err)
			inputs := map[string][]byte{kernels.X: evaluateQuant(t, x).bytes()}
			planes(t, b, format, columns, g.Results, []weight{w}, inputs)
			for row, y := range unfloats(d.run(t, b, inputs)[kernels.Result(0)]) {
				if math.Abs(float64(y)-131072) > 131072*1e-6 {
					t.Errorf("%s, %s: row %d is %v, want 131072", b.Name, p.Name, row, y)
				}
			}
		}
	}
}

// ones is a weight of n values that are all 1.
func ones(t *testing.T, format quant.Type, n int) weight {
	t.Helper()
	block, _ := format.Block()
	w := weight{make([]byte, n/block.Elems*block.Bytes), make([]float32, n)}
	for at := 0; at < len(w.raw); at += block.Bytes {
		b := w.raw[at:][:block.Bytes]
		codes, code := b[len(b):], byte(0)
		one := 0 // where the f16 is that is 1
		switch format {
		case quant.F32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(1))
			continue
		case quant.Q8_0:
			codes, code = b[2:], 1
		case quant.Q4_0:
			codes, code = b[2:], 0x99 // 9 − 8
		case quant.Q4_1:
			codes, code = b[4:], 0x11
		case quant.Q5_0:
			for i := 2; i < 6; i++ {
				b[i] = 0xff
			}
			codes, code = b[6:], 0x11 // 17 − 16
		case quant.Q5_1:
			codes, code = b[8:], 0x11
		case quant.IQ4_NL:
			codes, code = b[2:], 0x88 // level 1
		case quant.MXFP4:
			b[0], codes, code = 128, b[1:], 0x11
			for i := range codes {
				codes[i] = code
			}
			continue
		case quant.Q2_K:
			copy(b, bytes.Repeat([]byte{1}, 16))
			codes, code, one = b[16:80], 0x55, 80
		case quant.Q3_K: // scales of 33 − 32, codes of 5 − 4
			copy(b, bytes.Repeat([]byte{0xff}, 32))
			copy(b[96:], bytes.Repeat([]byte{0x11}, 8))
			copy(b[104:], bytes.Repeat([]byte{0xaa}, 4))
			codes, code, one = b[32:96], 0x55, 108
		case quant.Q4_K: // scales of 1, minima of 0
			copy(b[4:], []byte{1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1})
			codes, code = b[16:], 0x11
		case quant.Q5_K:
			copy(b[4:], []byte{1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1})
			codes, code = b[48:], 0x11
		case quant.Q6_K: // codes of 33 − 32
			copy(b[128:], bytes.Repeat([]byte{0xaa}, 64))
			copy(b[192:], bytes.Repeat([]byte{1}, 16))
			codes, code, one = b[:128], 0x11, 208
		}
		binary.LittleEndian.PutUint16(b[one:], uint16(float16.Fromfloat32(1)))
		for i := range codes {
			codes[i] = code
		}
	}
	if err := quant.Dequantize(format, w.values, w.raw); err != nil {
		t.Fatal(err)
	}
	for i, v := range w.values {
		if v != 1 {
			t.Fatalf("%v: value %d is %v", format, i, v)
		}
	}
	return w
}
