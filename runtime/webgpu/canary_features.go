//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"math"
	"strconv"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// The canaries of what formats and features need, and of loops.

// unpackCanary turns halves into f32 and back, and words into bytes and back. Halves that are no numbers are left out.
func unpackCanary() canary {
	const items = 2048
	in := make([]uint32, items)
	for i := range in {
		in[i] = uint32(i*32) | uint32(0xffff-i*32-i%32)<<16
	}
	var want []uint32
	for _, w := range in {
		want = append(want, math.Float32bits(halfValue(w&0xffff)), math.Float32bits(halfValue(w>>16)), w)
		want = append(want, byteAnswers(w)...)
	}
	return canary{
		name: "unpack", input: in, groups: items / 64, answer: [][]uint32{want},
		kernels: []*plan.Kernel{canaryKernel("unpack", "", 64, 6*items, `@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let w = x[id.x];
  let pair = unpack2x16float(w);
  let at = id.x * 6u;
  y[at] = bitcast<u32>(pair.x);
  y[at + 1u] = bitcast<u32>(pair.y);
  y[at + 2u] = pack2x16float(pair);
  let bytes = unpack4xU8(w);
  y[at + 3u] = ((bytes.x * 3u + bytes.y) * 5u + bytes.z) * 7u + bytes.w;
  let signed = unpack4xI8(w);
  y[at + 4u] = bitcast<u32>(((signed.x * 3 + signed.y) * 5 + signed.z) * 7 + signed.w);
  y[at + 5u] = pack4xI8(signed.wzyx);
}
`)},
		judge: func(out [][]uint32, _ *plan.Device) (string, bool) { return judgeUnpack(out[0], in) },
	}
}

// judgeUnpack wants exact halves, except for those below the smallest normal one, 2^-14: they may become zero, as WGSL allows, or be
// packed with an error of 2^-21, as SwiftShader does: nothing next to the other values of a key or a block.
func judgeUnpack(got, in []uint32) (string, bool) {
	inexact := false
	for i, w := range in {
		row := got[6*i : 6*i+6]
		for j, half := range []uint32{w & 0xffff, w >> 16} {
			if half&0x7c00 == 0x7c00 {
				continue
			}
			want := math.Float32bits(halfValue(half))
			back := row[2] >> (16 * j) & 0xffff
			exact := row[j] == want && back == half
			if !exact && half&0x7c00 == 0 {
				exact = (row[j] == want || row[j]<<1 == 0) && (back<<17 == 0 || back-half+subnormalError <= 2*subnormalError)
				inexact = true
			}
			if !exact {
				return "half " + hex(half) + " is unpacked to " + number(float64(math.Float32frombits(row[j]))) + " and packed to " + hex(back), false
			}
		}
		for j, want := range byteAnswers(w) {
			if row[3+j] != want {
				return of("word", "unpack4xU8", "unpack4xI8", "pack4xI8")(3*i+j) + " is " + hex(row[3+j]) + ", not " + hex(want), false
			}
		}
	}
	if inexact {
		return "halves below 2^-14 are inexact", true
	}
	return "", true
}

// subnormalError is what packing may be off by below the smallest normal half, in its last place, 2^-24.
const subnormalError = 8

// halfValue is the value of a finite half; of others, something that nobody looks at.
func halfValue(half uint32) float32 {
	exponent, mantissa := int(half>>10&31), float64(half&0x3ff)
	v := math.Ldexp(mantissa, -24)
	if exponent > 0 {
		v = math.Ldexp(1024+mantissa, exponent-25)
	}
	if half>>15 != 0 {
		v = math.Copysign(v, -1)
	}
	return float32(v)
}

// byteAnswers is what unpackCanary stores of a word's bytes.
func byteAnswers(w uint32) []uint32 {
	b := [4]uint32{w & 255, w >> 8 & 255, w >> 16 & 255, w >> 24}
	var s [4]int32
	for i := range b {
		s[i] = int32(int8(b[i]))
	}
	return []uint32{
		((b[0]*3+b[1])*5+b[2])*7 + b[3],
		uint32(((s[0]*3+s[1])*5+s[2])*7 + s[3]),
		b[3] | b[2]<<8 | b[1]<<16 | b[0]<<24,
	}
}

// packedDotCanary multiplies words of four signed bytes. Kernels can do without: they unpack.
func packedDotCanary() canary {
	const pairs = 512
	in := noise(2 * pairs)
	in[3], in[pairs+3] = 0x80808080, 0x80808080 // the largest sum
	in[4], in[pairs+4] = 0x80808080, 0x7f7f7f7f // the smallest
	want := make([]uint32, pairs)
	for i := range want {
		for shift := 0; shift < 32; shift += 8 {
			want[i] += uint32(int32(int8(in[i]>>shift)) * int32(int8(in[pairs+i]>>shift)))
		}
	}
	return exactly(canary{
		name: "packed dot", input: in, groups: pairs / 64,
		kernels: []*plan.Kernel{canaryKernel("packed_dot", "", 64, pairs, `@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = bitcast<u32>(dot4I8Packed(x[id.x], x[id.x + 512u])); }
`)},
		wrong: func(d *plan.Device) string {
			d.BadPackedDot = true
			return "dot4I8Packed is not used"
		},
	}, want, wordOf("dot4I8Packed of pair"))
}

// halfCanary computes in f16: integers whose results a half holds exactly.
func halfCanary() canary {
	const items = 256
	in := make([]uint32, items)
	want := make([]uint32, items)
	for i := range in {
		in[i] = uint32(i)
		want[i] = uint32(i%32*(i/32+2) + i)
	}
	return exactly(canary{
		name: "f16", input: in, groups: items / 64,
		applies: func(d plan.Device) bool { return d.F16 },
		kernels: []*plan.Kernel{canaryKernel("f16", "enable f16;\n", 64, items, `@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let w = x[id.x];
  let v = vec2<f16>(f16(w % 32u), f16(1.0)) * vec2<f16>(f16(w / 32u + 2u), f16(w));
  y[id.x] = u32(v.x + v.y);
}
`)},
		wrong: func(d *plan.Device) string {
			d.F16 = false
			return "f16 is not used"
		},
	}, want, wordOf("the sum in f16 of item"))
}

// Loops go as often round as a word of the input says, so that no compiler knows. longLoop is beyond what kernels need; it is 0.5
// to 2 ms of one invocation.
const (
	longLoop             = 100_000
	nestOuter, nestInner = 4000, 12
	// nestTrips is what the nested loops take as plan.Device counts: the last look at a condition is a trip.
	nestTrips = nestOuter*(1+nestInner+1) + 1
)

// loopsCanary finds drivers that end loops early. Mesa's llvmpipe (seen with 22.3.6) does after 65535 trips of all loops of an
// invocation together, and counts the trip that looks at a condition for the last time.
func loopsCanary() canary {
	bindings := `@compute @workgroup_size(1)
fn main() {
`
	single := canaryKernel("loop", "", 1, 2, bindings+`  var trips = 0u;
  var state = x[3];
  for (var i = 0u; i < x[0]; i++) {
    state = state * 1664525u + 1013904223u;
    trips++;
  }
  y[0] = trips;
  y[1] = state;
}
`)
	nested := canaryKernel("nested_loops", "", 1, 2, bindings+`  var rounds = 0u;
  var state = x[3];
  for (var i = 0u; i < x[1]; i++) {
    for (var j = 0u; j < x[2]; j++) { state = state * 1664525u + 1013904223u; }
    rounds++;
  }
  y[0] = rounds;
  y[1] = state;
}
`)
	nested.Proved = false // one of them with bounds checks and what the library does to end loops
	in := []uint32{longLoop, nestOuter, nestInner, 12345}
	return canary{
		name: "loops", input: in, groups: 1, kernels: []*plan.Kernel{single, nested},
		answer: [][]uint32{{longLoop, loopState(in[3], longLoop)}, {nestOuter, loopState(in[3], nestOuter*nestInner)}},
		judge: func(out [][]uint32, d *plan.Device) (string, bool) {
			trips, why := judgeLoops(out[0], out[1], in[3])
			if why != "" {
				return why, false
			}
			if d.LoopTrips = trips; trips != 0 {
				return "loops end after " + strconv.Itoa(trips) + " trips of " + strconv.Itoa(longLoop), false
			}
			return "", true
		},
		wrong: func(d *plan.Device) string {
			if d.LoopTrips == 0 {
				return ""
			}
			return "kernels are kept to " + strconv.Itoa(d.LoopTrips) + " loop trips for each invocation"
		},
	}
}

// judgeLoops returns the trips after which loops end, 0 for a device that ends none early, or why no such number explains what
// was computed.
func judgeLoops(single, nested []uint32, seed uint32) (trips int, why string) {
	n := single[0]
	switch {
	case n > longLoop || single[1] != loopState(seed, n):
		return 0, "a loop of " + strconv.Itoa(longLoop) + " trips counted " + utoa(uint64(n)) + " and computed something else"
	case n == 0:
		return 0, "a loop was not entered"
	case n < longLoop:
		trips = int(n)
	}
	if trips != 0 && nestTrips > trips {
		return trips, ""
	}
	if nested[0] != nestOuter || nested[1] != loopState(seed, nestOuter*nestInner) {
		return 0, "nested loops of " + strconv.Itoa(nestOuter) + " times " + strconv.Itoa(nestInner) + " trips went round " + utoa(uint64(nested[0])) + " times or computed something else"
	}
	return trips, ""
}

// loopState is the state after n trips of the loops' body.
func loopState(state, n uint32) uint32 {
	for range n {
		state = state*1664525 + 1013904223
	}
	return state
}

// subgroupWorkgroups are the sizes of workgroups in which subgroups are looked at.
var subgroupWorkgroups = [...]int{32, 64, 256}

// subgroupGroups is how many workgroups of each size run.
const subgroupGroups = 4

// subgroupWords are stored by each invocation: the size, its place, the place in the workgroup of its subgroup's first invocation,
// how many take part, and two sums over the subgroup, of u32 and of f32.
const subgroupWords = 6

// subgroupsCanary measures the size of subgroups, which libraries report as nothing or as a range, and adds up in them. Sizes
// that differ, lanes that do not follow the order of the workgroup, or a report that says otherwise leave the size unknown;
// wrong sums leave the adapter without subgroups.
func subgroupsCanary(reportedLeast, reportedMost int) canary {
	c := canary{
		name: "subgroups", input: []uint32{0}, groups: subgroupGroups,
		applies: func(d plan.Device) bool { return d.Subgroups },
	}
	for _, workgroup := range subgroupWorkgroups {
		n := strconv.Itoa(workgroup)
		c.kernels = append(c.kernels, canaryKernel("subgroups_"+n, plan.EnableSubgroups, workgroup, workgroup*subgroupGroups*subgroupWords,
			`@compute @workgroup_size(`+n+`)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32) {
  let first = subgroupBroadcastFirst(local);
  let takes = countOneBits(subgroupBallot(true));
  let sum = subgroupAdd(local + 1u);
  let floats = subgroupAdd(f32(local) * 0.5);
  let at = (group.x * `+n+`u + local) * 6u;
  y[at] = size;
  y[at + 1u] = lane;
  y[at + 2u] = first;
  y[at + 3u] = takes.x + takes.y + takes.z + takes.w;
  y[at + 4u] = sum;
  y[at + 5u] = bitcast<u32>(floats);
}
`))
	}
	c.judge = func(out [][]uint32, d *plan.Device) (string, bool) {
		size, why := 0, ""
		for i, workgroup := range subgroupWorkgroups {
			if wrong := judgeSums(out[i], workgroup); wrong != "" {
				d.Subgroups = false
				return wrong, false
			}
			got := subgroupSize(out[i], workgroup)
			switch {
			case got == 0:
				why = "the lanes of subgroups do not follow the order of a workgroup of " + strconv.Itoa(workgroup)
			case size != 0 && size != got:
				why = "subgroups have " + strconv.Itoa(size) + " invocations in some workgroups and " + strconv.Itoa(got) + " in others"
			}
			size = got
		}
		if why == "" {
			why = contradicts(size, reportedLeast, reportedMost)
		}
		if why != "" {
			return why, false
		}
		d.SubgroupSize = size
		return "measured size " + strconv.Itoa(size), true
	}
	c.wrong = func(d *plan.Device) string {
		d.SubgroupSize = 0
		if d.Subgroups {
			return "their size counts as unknown"
		}
		return "subgroups are not used"
	}
	return c
}

// contradicts says why a reported range leaves a measured size unknown: another kernel might be given another size. Libraries
// that report nothing don't contradict.
func contradicts(size, least, most int) string {
	reported := strconv.Itoa(least) + " to " + strconv.Itoa(most)
	switch {
	case least == 0 && most == 0 || least == size && most == size:
		return ""
	case size < least || size > most:
		return "subgroups have " + strconv.Itoa(size) + " invocations, the library reports " + reported
	}
	return "subgroups of " + strconv.Itoa(size) + " were measured, and the library reports that other kernels may get " + reported
}

// judgeSums checks what subgroups added up: over the invocations of a workgroup that name the same first one.
func judgeSums(words []uint32, workgroup int) string {
	for base := 0; base < len(words); base += workgroup * subgroupWords {
		var count, sum, first [256]uint32
		for local := range uint32(workgroup) {
			f := words[base+int(local)*subgroupWords+2]
			if f >= uint32(workgroup) {
				return "subgroupBroadcastFirst gives " + utoa(uint64(f)) + " in a workgroup of " + strconv.Itoa(workgroup)
			}
			first[local] = f
			count[f]++
			sum[f] += local
		}
		for local := range workgroup {
			row, f := words[base+local*subgroupWords:], first[local]
			for _, c := range []struct {
				what      string
				got, want uint32
			}{
				{"subgroupBallot counts", row[3], count[f]},
				{"subgroupAdd of u32 is", row[4], sum[f] + count[f]},
				{"subgroupAdd of f32 has the bits", row[5], math.Float32bits(float32(sum[f]) / 2)},
			} {
				if c.got != c.want {
					return c.what + " " + utoa(uint64(c.got)) + ", not " + utoa(uint64(c.want)) + ", in a workgroup of " + strconv.Itoa(workgroup)
				}
			}
		}
	}
	return ""
}

// subgroupSize returns the size when it is the same for every invocation, and invocations i·size to i·size+size-1 of a workgroup
// form a subgroup with their lanes in order; else 0.
func subgroupSize(words []uint32, workgroup int) int {
	size := words[0]
	if size == 0 {
		return 0
	}
	for i := range len(words) / subgroupWords {
		local, row := uint32(i%workgroup), words[subgroupWords*i:]
		if row[0] != size || row[1] != local%size || row[2] != local-local%size {
			return 0
		}
	}
	return int(size)
}
