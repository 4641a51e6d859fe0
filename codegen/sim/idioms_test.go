package sim

import (
	"math"
	"testing"
)

// Ways to write kernels that are in wide use and right: nothing is found, at no size of subgroups. They get the bindings of faultCase.
func TestRightIdioms(t *testing.T) {
	const wide = "@compute @workgroup_size(64)\n"
	for _, c := range []faultCase{
		{name: "tree reduction", text: "var<workgroup> w: array<f32, 64>;\n" + wide + "MAIN w[i] = x[i]; workgroupBarrier(); for (var s = 32u; s > 0u; s >>= 1u) { if (i < s) { w[i] += w[i + s]; } workgroupBarrier(); } if (i == 0u) { y[g.x] = w[0]; } }"},
		{name: "two buffers by turns", text: "var<workgroup> w: array<array<f32, 64>, 2>;\n" + wide + "MAIN w[0][i] = x[i]; workgroupBarrier(); var turn = 0u; for (var d = 1u; d < 64u; d <<= 1u) { var v = w[turn][i]; if (i >= d) { v += w[turn][i - d]; } turn = 1u - turn; w[turn][i] = v; workgroupBarrier(); } if (g.x == 0u) { y[i] = w[turn][i]; } }"},
		{name: "one barrier a round", text: "var<workgroup> w: array<f32, 128>;\n" + wide + "MAIN var s = 0.0; w[i] = x[i]; for (var k = 0u; k < 5u; k++) { workgroupBarrier(); s += w[k % 2u * 64u + 63u - i]; w[(k + 1u) % 2u * 64u + i] = f32(k); } if (g.x == 0u) { y[i] = s; } }"},
		{name: "histogram", text: "var<workgroup> h: array<atomic<u32>, 16>;\n" + wide + "MAIN if (i < 16u) { atomicStore(&h[i], 0u); } workgroupBarrier(); atomicAdd(&h[u32(x[i] * 16.0)], 1u); workgroupBarrier(); if (i < 16u) { atomicAdd(&n[i], atomicLoad(&h[i])); } }"},
		{name: "transposition with padding", text: "var<workgroup> w: array<array<f32, 9>, 8>;\n" + wide + "MAIN w[i / 8u][i % 8u] = x[i]; workgroupBarrier(); if (g.x == 0u) { y[i] = w[i % 8u][i / 8u]; } }"},
		{name: "sums of subgroups", text: "var<workgroup> part: array<f32, 16>;\n@compute @workgroup_size(64)\nMAIN let s = subgroupInclusiveAdd(x[i]); if (lane == size - 1u || i == 63u) { part[i / size] = s; } workgroupBarrier(); var before = 0.0; for (var k = 0u; k < i / size; k++) { before += part[k]; } if (g.x == 0u) { y[i] = before + s; } }"},
		{name: "steps of a shuffle", text: "@compute @workgroup_size(64)\nMAIN var v = x[i]; for (var d = 1u; d < size; d <<= 1u) { let o = subgroupShuffleUp(v, d); v = select(v, v + o, lane >= d); } if (g.x == 0u) { y[i] = v; } }"},
		{name: "leaving early, all together", text: "var<workgroup> w: array<f32, 64>;\n" + wide + "MAIN if (g.x == 1u) { return; } w[i] = x[i]; workgroupBarrier(); y[i] = w[63u - i]; }"},
		{name: "guarded tail", text: wide + "MAIN if (id.x < arrayLength(&y)) { y[id.x] = x[min(id.x, 63u)]; } }", grid: [3]int{3, 1, 1}},
		{name: "guarded quotient", text: wide + "MAIN let d = max(x[i] - 0.5, 0.0); let q = select(1.0 / d, 0.0, d == 0.0); if (g.x == 0u) { y[i] = q * 2.0; } }"},
		{name: "guarded quotient beside an infinity of the input", text: "@group(0) @binding(3) var<storage, read> bits: array<u32>;\n" + wide + "MAIN let d = max(x[i] - 0.5, 0.0); let q = select(1.0 / d, 0.0, d == 0.0); let least = bitcast<f32>(bits[i] | 0xff800000u); let m = max(least, q); if (g.x == 0u) { y[i] = exp(least) + m; } }"},
		{name: "guarded root beside a sum with infinities", text: "@group(0) @binding(3) var<storage, read> bits: array<u32>;\n" + wide + "MAIN let d = x[i] - 0.5; var r = 0.0; if (d >= 0.0) { r = sqrt(d); } else { let s = sqrt(d); _ = s; } let inf = bitcast<f32>(bits[i] | 0x7f800000u); if (g.x == 0u) { y[i] = inf + r; } }"},
		{name: "reading what was written by oneself", text: wide + "MAIN if (g.x == 0u) { y[i] = x[i]; y[i] += 1.0; let v = y[i]; y[i] = v * 2.0; } }"},
		{name: "read_write that is read", text: wide + "MAIN if (y[i % 8u] > 5.0) { atomicStore(&n[0], 1u); } }"},
		{name: "storage within a workgroup", text: wide + "MAIN if (g.x == 0u) { y[i] = x[i]; } storageBarrier(); let v = y[select(i, 63u - i, g.x == 0u)]; storageBarrier(); if (g.x == 0u) { y[i] = v; } }", grid: [3]int{1, 1, 1}},
		{name: "both barriers", text: "var<workgroup> w: array<f32, 64>;\n" + wide + "MAIN w[i] = x[i]; y[i] = x[i]; workgroupBarrier(); storageBarrier(); let v = w[63u - i] + y[63u - i]; storageBarrier(); y[i] = v; }", grid: [3]int{1, 1, 1}},
		{name: "value for all", text: "var<workgroup> s: f32;\n" + wide + "MAIN for (var k = 0u; k < 3u; k++) { if (i == k) { s = x[i]; } let v = workgroupUniformLoad(&s); if (v < 0.0) { break; } } }"},
		{name: "ticket", text: "var<workgroup> ticket: u32;\n" + wide + "MAIN if (i == 0u) { ticket = atomicAdd(&n[0], 1u); } let k = workgroupUniformLoad(&ticket); if (i == 0u) { y[k] = 1.0; } }"},
		{name: "maximum by bits", text: wide + "MAIN atomicMax(&n[0], bitcast<u32>(x[i])); }"},
		{name: "compare and exchange", text: wide + "MAIN var old = atomicLoad(&n[1]); for (var k = 0u; k < 4096u; k++) { let r = atomicCompareExchangeWeak(&n[1], old, bitcast<u32>(bitcast<f32>(old) + 1.0)); if (r.exchanged) { break; } old = r.old_value; } }"},
		{name: "own components", text: "var<workgroup> v: array<vec3<f32>, 64>;\n" + wide + "MAIN v[i].x = x[i]; v[i].y = 1.0; v[i].z = 2.0; workgroupBarrier(); let r = v[63u - i]; if (g.x == 0u) { y[i] = r.x + r.y + r.z; } }"},
		{name: "neighbouring halves", text: "var<workgroup> h: array<f16, 64>;\n" + wide + "MAIN h[i] = f16(x[i]); workgroupBarrier(); if (g.x == 0u) { y[i] = f32(h[63u - i]); } }"},
		{name: "members of one struct", text: "struct S { a: f32, b: f32 }\nvar<workgroup> s: array<S, 32>;\n" + wide + "MAIN if (i % 2u == 0u) { s[i / 2u].a = 1.0; } else { s[i / 2u].b = 2.0; } workgroupBarrier(); if (g.x == 0u) { y[i] = s[31u - i / 2u].a + s[i / 2u].b; } }"},
		{name: "running maximum of a softmax", text: wide + "MAIN var m = -3.4e38; var l = 0.0; for (var k = 0u; k < 64u; k++) { let next = max(m, x[k]); l = l * exp(m - next) + exp(x[k] - next); m = next; } if (g.x == 0u) { y[i] = exp(x[i] - m) / l; } }"},
		{name: "tile with a zeroed edge", text: "var<workgroup> w: array<f32, 66>;\n" + wide + "MAIN if (i == 0u) { w[0] = 0.0; w[65] = 0.0; } w[i + 1u] = x[i]; workgroupBarrier(); if (g.x == 0u) { y[i] = w[i] + w[i + 1u] + w[i + 2u]; } }"},
		{name: "barrier in a function", text: "var<workgroup> w: array<f32, 64>;\nfn sum(v: f32, i: u32) -> f32 { w[i] = v; workgroupBarrier(); let r = w[63u - i]; workgroupBarrier(); return r; }\n" + wide + "MAIN let a = sum(x[i], i); let b = sum(a, i); if (g.x == 0u) { y[i] = b; } }"},
		{name: "grid of three dimensions", text: "@compute @workgroup_size(2, 2, 2)\nMAIN y[i + 8u * (g.x + 2u * (g.y + 2u * g.z))] = 1.0; }", grid: [3]int{2, 2, 2}},
		{name: "wrapped decrement", text: wide + "MAIN for (var k = 3u; k < 4u; k--) { if (g.x == 0u) { y[i] += x[k]; } } }"},
		{name: "subgroup of less than its size", text: "@compute @workgroup_size(37)\nMAIN let s = subgroupAdd(1u) + subgroupBallot(true).x; if (g.x == 0u && s > 0u) { y[i] = f32(s); } }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range SubgroupSizes() {
				c.options.SubgroupSize = size
				_, findings := c.findings(t)
				for _, f := range findings {
					t.Errorf("subgroups of %d: %v", size, f)
				}
			}
		})
	}
}

// The idioms compute what they are for.
func TestIdiomsCompute(t *testing.T) {
	scan := faultCase{text: "var<workgroup> w: array<array<f32, 64>, 2>;\n@compute @workgroup_size(64)\nMAIN w[0][i] = x[i]; workgroupBarrier(); var turn = 0u; for (var d = 1u; d < 64u; d <<= 1u) { var v = w[turn][i]; if (i >= d) { v += w[turn][i - d]; } turn = 1u - turn; w[turn][i] = v; workgroupBarrier(); } y[i] = w[turn][i]; }", grid: [3]int{1, 1, 1}}
	after, _ := scan.findings(t)
	for i := range 64 {
		if got, want := math.Float32frombits(after[1][i]), float32(i*(i+1))/128; got != want {
			t.Errorf("sum to %d is %v, want %v", i, got, want)
		}
	}
}
