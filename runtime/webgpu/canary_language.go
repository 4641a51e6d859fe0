//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// The canaries that every adapter must pass: memory, workgroups, and the language as far as kernels use it.

// copyCanary copies words, so that buffers, bindings and grids work at all.
func copyCanary() canary {
	in := noise(4096)
	return exactly(canary{
		name: "copy", input: in, groups: 64,
		kernels: []*plan.Kernel{canaryKernel("copy", "", 64, 4096, `@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = x[id.x]; }
`)},
	}, in, wordOf("word"))
}

// workgroupCanary reverses the words of each workgroup through its memory, then adds them up in a tree.
func workgroupCanary() canary {
	in := noise(4096)
	want := make([]uint32, 4096+64)
	for i, w := range in {
		want[i/64*64+63-i%64] = w
		want[4096+i/64] += w
	}
	k := canaryKernel("workgroup", "", 64, len(want), `var<workgroup> held: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  held[local] = x[id.x];
  workgroupBarrier();
  y[id.x] = held[63u - local];
  for (var half = 32u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if local < half { held[local] += held[local + half]; }
  }
  workgroupBarrier();
  if local == 0u { y[4096u + group.x] = held[0]; }
}
`)
	k.WorkgroupBytes = 256
	return exactly(canary{name: "workgroup", input: in, groups: 64, kernels: []*plan.Kernel{k}}, want, func(i int) string {
		if i < 4096 {
			return "reversed word " + strconv.Itoa(i)
		}
		return "sum " + strconv.Itoa(i-4096)
	})
}

// integersCanary does arithmetic, shifts and comparisons of u32 and i32 on pairs of words. The remainder of negative operands
// is left out, and no kernel uses it: Vulkan leaves it undefined, wgpu-native 29 hands it to the driver all the same, and the
// driver of an NVIDIA H200 (580.159) gives something else.
func integersCanary() canary {
	const pairs = 256
	in := noise(2 * pairs)
	copy(in[2:], []uint32{77, 1<<32 - 5}) // and pairs that are equal
	copy(in[pairs+2:], []uint32{77, 1<<32 - 5})
	names := []string{"a + b", "a - b", "a * b", "a / b", "a % b", "a << s", "a >> s", "the bits of a and b", "the smaller", "the larger",
		"comparisons of u32", "comparisons of i32", "i32 a >> s", "i32 a / b", "i32 a % b", "countOneBits"}
	var want []uint32
	for i, a := range in[:pairs] {
		want = append(want, integerAnswers(a, in[pairs+i])...)
	}
	return exactly(canary{
		name: "integers", input: in, groups: pairs / 64,
		kernels: []*plan.Kernel{canaryKernel("integers", "", 64, len(want), `@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let a = x[id.x];
  let b = x[id.x + 256u];
  let s = b & 31u;
  let over = max(b, 1u);
  let c = bitcast<i32>(a);
  let d = bitcast<i32>(b);
  let by = select(d, 3, d == 0 || d == -1);
  let at = id.x * 16u;
  y[at] = a + b;
  y[at + 1u] = a - b;
  y[at + 2u] = a * b;
  y[at + 3u] = a / over;
  y[at + 4u] = a % over;
  y[at + 5u] = a << s;
  y[at + 6u] = a >> s;
  y[at + 7u] = (a & b) ^ (a | ~b);
  y[at + 8u] = min(a, b);
  y[at + 9u] = max(a, b);
  y[at + 10u] = u32(a < b) | (u32(a <= b) << 1u) | (u32(a > b) << 2u) | (u32(a >= b) << 3u) | (u32(a == b) << 4u) | (u32(a != b) << 5u);
  y[at + 11u] = u32(c < d) | (u32(c <= d) << 1u) | (u32(c > d) << 2u) | (u32(c >= d) << 3u) | (u32(c == d) << 4u) | (u32(c != d) << 5u);
  y[at + 12u] = bitcast<u32>(c >> s);
  y[at + 13u] = bitcast<u32>(c / by);
  y[at + 14u] = bitcast<u32>((c & 0x7fffffff) % max(d & 0x7fffffff, 1));
  y[at + 15u] = countOneBits(a);
}
`)},
	}, want, of("pair", names...))
}

func integerAnswers(a, b uint32) []uint32 {
	over, c, d := max(b, 1), int32(a), int32(b)
	by := d
	if d == 0 || d == -1 {
		by = 3
	}
	return []uint32{
		a + b, a - b, a * b, a / over, a % over, a << (b & 31), a >> (b & 31), (a & b) ^ (a | ^b), min(a, b), max(a, b),
		comparisons(a, b), comparisons(c, d), uint32(c >> (b & 31)), uint32(c / by), uint32(c&math.MaxInt32) % max(b&math.MaxInt32, 1), uint32(bits.OnesCount32(a)),
	}
}

// comparisons has a bit for each of < <= > >= == !=.
func comparisons[T uint32 | int32 | float32](a, b T) uint32 {
	word := uint32(0)
	for i, holds := range []bool{a < b, a <= b, a > b, a >= b, a == b, a != b} {
		if holds {
			word |= 1 << i
		}
	}
	return word
}

// floatsCanary does arithmetic of f32. The operands are multiples of 1/8 up to 256, so that sums and products have one right
// value, fused or not; the last functions have the accuracy that WGSL asks for, and a little less.
func floatsCanary() canary {
	const pairs = 256
	in := make([]uint32, 2*pairs)
	for i, w := range noise(len(in)) {
		in[i] = math.Float32bits(float32(int(w%4096)-2048) / 8)
	}
	in[1], in[pairs+1] = math.Float32bits(2.5), math.Float32bits(2.5)
	in[2], in[pairs+2] = math.Float32bits(-3.5), math.Float32bits(-3.5)
	var want []uint32
	for i, a := range in[:pairs] {
		exact, near := floatAnswers(a, in[pairs+i])
		want = append(want, exact...)
		for _, v := range near {
			want = append(want, math.Float32bits(float32(v)))
		}
	}
	return canary{
		name: "floats", input: in, groups: pairs / 64, answer: [][]uint32{want},
		kernels: []*plan.Kernel{canaryKernel("floats", "", 64, 16*pairs, `@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let a = bitcast<f32>(x[id.x]);
  let b = bitcast<f32>(x[id.x + 256u]);
  let at = id.x * 16u;
  y[at] = bitcast<u32>(a + b);
  y[at + 1u] = bitcast<u32>(a - b);
  y[at + 2u] = bitcast<u32>(a * b);
  y[at + 3u] = bitcast<u32>(fma(a, b, a));
  y[at + 4u] = bitcast<u32>(min(a, b));
  y[at + 5u] = bitcast<u32>(max(a, b));
  y[at + 6u] = bitcast<u32>(abs(a));
  y[at + 7u] = bitcast<u32>(round(a));
  y[at + 8u] = bitcast<u32>(i32(a));
  y[at + 9u] = bitcast<u32>(f32(x[id.x] & 0xffffffu));
  y[at + 10u] = u32(a < b) | (u32(a <= b) << 1u) | (u32(a > b) << 2u) | (u32(a >= b) << 3u) | (u32(a == b) << 4u) | (u32(a != b) << 5u);
  y[at + 11u] = bitcast<u32>(dot(vec4<f32>(a, b, a, 1.0), vec4<f32>(b, b, 0.5, a)));
  y[at + 12u] = bitcast<u32>(a / (abs(b) + 1.0));
  y[at + 13u] = bitcast<u32>(exp(-abs(a) / 8.0));
  y[at + 14u] = bitcast<u32>(inverseSqrt(abs(a) + 0.125));
  y[at + 15u] = bitcast<u32>(sqrt(abs(a)));
}
`)},
		judge: func(out [][]uint32, _ *plan.Device) (string, bool) {
			return judgeFloats(out[0], in[:pairs], in[pairs:])
		},
	}
}

// floatAnswers returns the words that have one right value, and the values that may be off by nearFloats.
func floatAnswers(left, right uint32) (exact []uint32, near []float64) {
	a, b := math.Float32frombits(left), math.Float32frombits(right)
	for _, v := range []float32{
		a + b, a - b, a * b, a*b + a, min(a, b), max(a, b), float32(math.Abs(float64(a))), float32(math.RoundToEven(float64(a))),
	} {
		exact = append(exact, math.Float32bits(v))
	}
	exact = append(exact, uint32(int32(a)), math.Float32bits(float32(left&0xffffff)), comparisons(a, b),
		math.Float32bits(a*b+b*b+a*0.5+a))
	x, y := math.Abs(float64(a)), math.Abs(float64(b))
	return exact, []float64{float64(a) / (y + 1), math.Exp(-x / 8), 1 / math.Sqrt(x+0.125), math.Sqrt(x)}
}

// nearFloats is the relative error that quotients, roots and exponentials may have: WGSL allows exp 67 units in the last place
// of what is asked for here.
const nearFloats = 1.0 / (1 << 16)

func judgeFloats(got, left, right []uint32) (string, bool) {
	what := of("pair", "a + b", "a - b", "a * b", "fma", "min", "max", "abs", "round", "i32(a)", "f32", "comparisons", "dot",
		"a / b", "exp", "inverseSqrt", "sqrt")
	for i := range left {
		exact, near := floatAnswers(left[i], right[i])
		row := got[16*i : 16*i+16]
		for j, want := range exact {
			if row[j] != want && (row[j]|want)<<1 != 0 { // the sign of a zero is free
				return what(16*i+j) + " is " + hex(row[j]) + ", not " + hex(want), false
			}
		}
		for j, want := range near {
			value := float64(math.Float32frombits(row[len(exact)+j]))
			if !(math.Abs(value-want) <= nearFloats*math.Abs(want)) {
				return what(16*i+len(exact)+j) + " is " + number(value) + ", not " + number(want), false
			}
		}
	}
	return "", true
}

func hex(w uint32) string { return "0x" + strconv.FormatUint(uint64(w), 16) }

func number(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }

// controlCanary runs nested loops that change variables outside them, branches that store, short-circuit operators with side
// effects, switches within loops, early returns, and assignments to parts of vectors and arrays.
func controlCanary() canary {
	const items = 64
	in := noise(items)
	var want []uint32
	for _, a := range in {
		want = append(want, controlAnswers(a)...)
	}
	k := canaryKernel("control", "", items, len(want), controlText)
	return exactly(canary{name: "control flow", input: in, groups: 1, kernels: []*plan.Kernel{k}}, want,
		of("item", "nested loops", "rounds of nested loops", "effects of && and ||", "stores of branches",
			"switch in a loop", "early return", "parts of a vector", "parts of an array"))
}

const controlText = `fn count(n: ptr<function, u32>) -> bool {
  *n += 1u;
  return (*n & 1u) == 0u;
}

fn first(a: u32) -> u32 {
  for (var k = 0u; k < 20u; k++) {
    if (a >> k) % 5u == 3u { return k; }
  }
  return 99u;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) id: u32) {
  let a = x[id];
  let at = id * 8u;

  var sum = 0u;
  var rounds = 0u;
  for (var r = 0u; r < a % 7u + 2u; r++) {
    var fresh = 0u;
    for (var c = 0u; c <= r; c++) {
      rounds++;
      fresh += c * a + 1u;
      if (fresh & 3u) == 0u { continue; }
      sum ^= fresh + r;
    }
    if sum % 11u == 5u { break; }
    sum += fresh;
  }
  y[at] = sum;
  y[at + 1u] = rounds;

  var calls = 0u;
  var hits = 0u;
  for (var k = 0u; k < 8u; k++) {
    if ((a >> k) & 1u) == 0u && count(&calls) { hits += 1u; }
    if ((a >> k) & 2u) == 0u || count(&calls) { hits += 16u; }
  }
  y[at + 2u] = calls * 256u + hits;

  if a % 3u == 0u {
    y[at + 3u] = a + 5u;
  } else if a % 3u == 1u {
    y[at + 3u] = a ^ 0xffu;
  } else {
    y[at + 3u] = 7u;
  }

  var turns = a;
  for (var k = 0u; k < 12u; k++) {
    switch (a + k) % 5u {
      case 0u: { turns += 3u; }
      case 1u, 2u: {
        turns ^= k;
        continue;
      }
      case 3u: {
        if k > 8u { break; }
        turns += 7u;
      }
      default: { turns = turns * 3u + 1u; }
    }
    turns += 1u;
  }
  y[at + 4u] = turns;
  y[at + 5u] = first(a);

  var v = vec4<f32>();
  v.y = f32(a & 15u);
  v[a & 3u] += 2.0;
  v.z += v.y;
  v.w = v[(a + 1u) & 3u];
  y[at + 6u] = u32(v.x) + 32u * u32(v.y) + 1024u * u32(v.z) + 32768u * u32(v.w);

  var table = array<u32, 4>(1u, 2u, 3u, 4u);
  var k = 0u;
  loop {
    if k >= 9u { break; }
    table[(a >> k) & 3u] += k + table[k & 3u];
    continuing { k++; }
  }
  while k < 12u {
    table[(k - 9u) & 3u] ^= a;
    k++;
  }
  y[at + 7u] = (table[0] * 31u + table[1]) * 31u + (table[2] * 31u + table[3]);
}
`

// controlAnswers is what controlText stores for a word.
func controlAnswers(a uint32) []uint32 {
	sum, rounds := uint32(0), uint32(0)
	for r := range a%7 + 2 {
		fresh := uint32(0)
		for c := range r + 1 {
			rounds++
			fresh += c*a + 1
			if fresh&3 != 0 {
				sum ^= fresh + r
			}
		}
		if sum%11 == 5 {
			break
		}
		sum += fresh
	}

	calls, hits := uint32(0), uint32(0)
	count := func() bool { calls++; return calls%2 == 0 }
	for k := range 8 {
		if a>>k&1 == 0 && count() {
			hits++
		}
		if a>>k&2 == 0 || count() {
			hits += 16
		}
	}

	stored := [3]uint32{a + 5, a ^ 0xff, 7}[a%3]

	turns := a
	for k := range uint32(12) {
		switch (a + k) % 5 { // the sum may wrap
		case 0:
			turns += 3
		case 1, 2:
			turns ^= k
			continue
		case 3:
			if k <= 8 {
				turns += 7
			}
		case 4:
			turns = turns*3 + 1
		}
		turns++
	}

	early := uint32(99)
	for k := 19; k >= 0; k-- {
		if (a>>k)%5 == 3 {
			early = uint32(k)
		}
	}

	v := [4]uint32{1: a & 15}
	v[a&3] += 2
	v[2] += v[1]
	v[3] = v[(a+1)&3]

	table := [4]uint32{1, 2, 3, 4}
	for k := range uint32(9) {
		table[a>>k&3] += k + table[k&3]
	}
	for i := range 3 {
		table[i] ^= a
	}
	return []uint32{
		sum, rounds, calls*256 + hits, stored, turns, early, v[0] + 32*v[1] + 1024*v[2] + 32768*v[3],
		(table[0]*31+table[1])*31 + table[2]*31 + table[3],
	}
}
