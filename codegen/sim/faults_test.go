package sim

import "testing"

// Indices beyond arrays and vectors of every kind, told of where the index is.
func TestIndicesOutOfBounds(t *testing.T) {
	one := [3]int{1, 1, 1}
	cases := []faultCase{
		{name: "component of a value", text: "MAIN let v = vec4(x[i], 1.0, 2.0, 3.0); y[i] =\nv[i]; // here\n}", variable: "v", index: 4},
		{name: "component of a variable", text: "MAIN var v = vec2(x[i], 1.0);\nv[i] = 1.0; // here\ny[i] = v.x; }", variable: "v", index: 2},
		{name: "function's array", text: "MAIN var a = array(1.0, 2.0, 3.0); y[i] =\na[i]; // here\n}", variable: "a", index: 3},
		{name: "private array", text: "var<private> a: array<f32, 7>;\nMAIN y[i] =\na[i]; // here\n}", variable: "a", index: 7},
		{name: "const array", text: "const a = array(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);\nMAIN y[i] =\na[i]; // here\n}", variable: "a", index: 7},
		{name: "inner array", text: "var<private> a: array<array<f32, 7>, 9>;\nMAIN y[i] =\na[i][i]; // here\n}", variable: "a", index: -1},
		{name: "outer array", text: "var<private> a: array<array<f32, 9>, 7>;\nMAIN y[i] =\na[i][i]; // here\n}", variable: "a", index: 7},
		{name: "array in a struct", text: "struct S { n: u32, a: array<f32, 7> }\nvar<workgroup> s: S;\nMAIN if (i == 0u) { for (var k = 0u; k < 7u; k++) { s.a[k] = 1.0; } } workgroupBarrier(); y[i] =\ns.a[i]; // here\n}", variable: "s", index: 7},
		{name: "runtime array at a struct's end", text: "struct S { n: vec4<u32>, a: array<u32> }\n@group(0) @binding(3) var<storage, read> s: S;\nMAIN y[i] =\nf32(s.a[i + 53u]); // here\n}", variable: "s", index: 60},
		{name: "negative", text: "MAIN let k = i32(i) - 1; y[i] =\nx[k]; // here\n}", variable: "x", index: 0xffffffff},
		{name: "through a pointer argument", text: "fn put(p: ptr<function, array<f32, 7>>, k: u32) {\n(*p)[k] = 1.0; // here\n}\nMAIN var a: array<f32, 7>; put(&a, i); y[i] = a[0]; }", variable: "a", index: 7},
		{name: "element taken before", text: "MAIN var a: array<f32, 7>;\nlet p = &a[i]; // here\n*p = 1.0; y[i] = *p; }", variable: "a", index: 7},
		{name: "less than nothing of a length", text: "MAIN let last = arrayLength(&x) - 65u; y[i] =\nx[last]; // here\n}", variable: "x", index: 0xffffffff},
		{name: "only some invocations", text: "MAIN if (i > 5u) { y[i] =\nx[58u + i]; // here\n} }", variable: "x", index: 64},
		{name: "atomic", text: "MAIN\natomicAdd(&n[i * 10u], 1u); // here\n}", variable: "n", index: 70},
		{name: "override's length", text: "override k = 7u;\nvar<workgroup> w: array<f32, k>;\nMAIN\nw[i] = 1.0; // here\n}", variable: "w", index: 7},
		{name: "compound assignment once", text: "MAIN var a: array<f32, 7>;\na[i] += 1.0; // here\ny[i] = a[0]; }", variable: "a", index: 7},
		{name: "lane", text: "MAIN let v = subgroupShuffle(x[i],\ni + 1u); y[i] = v; }", variable: "", index: 8},
		{name: "quad", text: "@compute @workgroup_size(6)\nMAIN let v = x[i]; y[i] =\nquadSwapX(v) + quadSwapY(v); // here\n}", variable: "", index: 6},
	}
	for i := range cases {
		cases[i].kind, cases[i].grid = OutOfBounds, one
	}
	cases[len(cases)-2].text = "MAIN let v =\nsubgroupShuffle(x[i], i + 1u); // here\ny[i] = v; }"
	runFaults(t, cases)
}

// Reads of what nobody wrote: parts that were left out.
func TestUnwrittenParts(t *testing.T) {
	one := [3]int{1, 1, 1}
	cases := []faultCase{
		{name: "member", text: "struct S { a: f32, b: f32 }\nvar<workgroup> s: array<S, 8>;\nMAIN s[i].a = 1.0; y[i] =\ns[i].b; // here\n}", variable: "s", index: 0},
		{name: "component", text: "var<workgroup> v: array<vec4<f32>, 8>;\nMAIN v[i].x = 1.0; v[i].z = 1.0; y[i] =\nv[i].y; // here\n}", variable: "v", index: 0},
		{name: "component of a vector that is read", text: "var<workgroup> v: array<vec2<f32>, 8>;\nMAIN v[i].x = 1.0;\nlet r = v[i]; // here\ny[i] = r.x; }", variable: "v", index: 0},
		{name: "half", text: "var<workgroup> h: array<f16, 16>;\nMAIN h[i * 2u] = 1.0h; y[i] =\nf32(h[i * 2u + 1u]); // here\n}", variable: "h", index: 1},
		{name: "bool", text: "var<workgroup> b: array<bool, 8>;\nMAIN if (i != 3u) { b[i] = true; }\ny[i] = select(0.0, 1.0, b[i]); // here\n}", variable: "b", index: 3},
		{name: "atomic", text: "var<workgroup> a: atomic<u32>;\nMAIN\natomicAdd(&a, 1u); // here\n}", variable: "a", index: -1},
		{name: "only in the second workgroup", text: "var<workgroup> w: array<f32, 8>;\nMAIN if (g.x == 0u) { w[i] = 1.0; }\ny[id.x] = w[i]; // here\n}", variable: "w", index: 0, grid: [3]int{2, 1, 1}},
		{name: "workgroupUniformLoad", text: "var<workgroup> w: f32;\nMAIN\nlet v = workgroupUniformLoad(&w); // here\ny[i] = v; }", variable: "w", index: -1},
		{name: "one way of an if", text: "var<workgroup> w: array<f32, 8>;\nMAIN if (i < 4u) { w[i] = 1.0; } else if (i > 4u) { w[i] = 2.0; } workgroupBarrier();\ny[i] = w[7u - i]; // here\n}", variable: "w", index: 4},
	}
	for i := range cases {
		cases[i].kind = Uninitialized
		if cases[i].grid == [3]int{} {
			cases[i].grid = one
		}
	}
	runFaults(t, cases)
}

// Barriers and subgroup operations that not all come to.
func TestDivergence(t *testing.T) {
	one := [3]int{1, 1, 1}
	cases := []faultCase{
		{name: "function in one branch", text: "fn f() {\nworkgroupBarrier(); // here\n}\nMAIN if (i < 4u) { f(); } }"},
		{name: "two barriers", text: "MAIN if (i < 4u) {\nworkgroupBarrier(); // here\n} }"},
		{name: "fewer rounds", text: "MAIN for (var k = 0u; k < i + 3u; k++) {\nworkgroupBarrier(); // here\n} }"},
		{name: "break before", text: "MAIN loop { if (x[i] > 0.05) { break; }\nstorageBarrier(); // here\nbreak; } }"},
		{name: "continue before", text: "MAIN for (var k = 0u; k < 2u; k++) { if (k == 1u && i == 3u) { continue; }\nworkgroupBarrier(); // here\n} }"},
		{name: "case of a switch", text: "MAIN switch (i) { case 1u: {\nworkgroupBarrier(); // here\n} default: { } } }"},
		{name: "return before", text: "MAIN if (i == 0u) { return; }\nworkgroupBarrier(); // here\n}"},
		{name: "workgroupUniformLoad", text: "var<workgroup> w: u32;\nMAIN if (i == 0u) { w = 1u; } workgroupBarrier(); if (i != 5u) {\n_ = workgroupUniformLoad(&w); // here\n} }"},
		{name: "subgroup operation after a return", text: "MAIN if (i == 6u) { return; }\nlet s = subgroupAdd(x[i]); // here\ny[i] = s; }"},
		{name: "subgroup operation after a break", text: "MAIN for (var k = 0u; k < i + 1u; k++) {\nlet s = subgroupMax(x[i]); // here\ny[i] = s; } }"},
		{name: "right of &&", text: "MAIN if (i > 3u && subgroupAny(x[i] > 0.0)) { // here\ny[i] = 1.0; } }"},
		{name: "only in some subgroups", text: "MAIN if (i != 5u) {\nlet s = subgroupBallot(true); // here\ny[i] = f32(s.x); } }", options: Options{SubgroupSize: 4}},
		{name: "place of workgroupUniformLoad", text: "var<workgroup> w: array<u32, 8>;\nMAIN w[i] = i;\n_ = workgroupUniformLoad(&w[i / 4u]); // here\n}", variable: "w"},
		{name: "delta that differs", text: "MAIN\nlet s = subgroupShuffleDown(x[i], i / 2u); // here\nif (i < 2u) { y[i] = s; } }"},
		{name: "mask that differs", text: "MAIN\nlet s = subgroupShuffleXor(x[i], select(1u, 2u, i == 7u)); // here\nif (i < 2u) { y[i] = s; } }"},
	}
	for i := range cases {
		cases[i].kind, cases[i].index, cases[i].grid = Divergent, -1, one
	}
	runFaults(t, cases)

	both := faultCase{text: "MAIN if (i < 4u) {\nworkgroupBarrier();\n} else {\nworkgroupBarrier();\n} }", grid: one}
	if _, findings := both.findings(t); len(findings) != 2 || findings[0].Kind != Divergent || findings[1].Kind != Divergent {
		t.Errorf("a barrier in each branch: %v", findings)
	}
}

// Infinities and NaN of finite values, wherever they go before they are used. Workgroup memory isn't poisoned, as that is NaN.
func TestNaNFlow(t *testing.T) {
	one := [3]int{1, 1, 1}
	cases := []faultCase{
		{name: "through a shuffle", text: "MAIN var v = 1.0; if (i == 0u) {\nv = 1.0 / x[0]; // here\n} let s = subgroupBroadcast(v, 0u); if (i > 0u) { y[i] = s; } }"},
		{name: "through the first of a subgroup", text: "MAIN var v = 1.0; if (i == 0u) {\nv = 1.0 / x[0]; // here\n} let s = subgroupBroadcastFirst(v); if (i > 0u) { y[i] = s; } }"},
		{name: "through a neighbour", text: "MAIN var v = 1.0; if (i == 2u) {\nv = 1.0 / x[0]; // here\n} let s = quadSwapX(v); if (i != 2u) { y[i] = s; } }"},
		{name: "sum of a subgroup", text: "MAIN\nlet s = subgroupAdd(x[i] + 3.0e38); // here\ny[i] = s; }"},
		{name: "product of a subgroup", text: "MAIN\nlet s = subgroupMul(x[i] + 1.0e20); // here\ny[i] = s; }"},
		{name: "sum up to here", text: "MAIN\nlet s = subgroupInclusiveAdd(x[i] + 1.0e38); // here\ny[i] = s; }"},
		{name: "sum before here", text: "MAIN\nlet s = subgroupExclusiveAdd(x[i] + 1.0e38); // here\ny[i] = s; }"},
		{name: "half that overflows", text: "MAIN\nlet h = f16(x[i] + 60000.0) + f16(8000.0); // here\ny[i] = f32(h); }"},
		{name: "conversion to half", text: "MAIN\nlet h = f16(x[i] + 70000.0); // here\ny[i] = f32(h); }"},
		{name: "integer to half", text: "MAIN\nlet h = f16(i + 70000u); // here\ny[i] = f32(h); }"},
		{name: "large integer to half", text: "MAIN\nlet h = f16(~i); // here\ny[i] = f32(h); }"},
		{name: "through a loop", text: "MAIN var s = 1.0; for (var k = 0u; k < 200u; k++) {\ns = s * (x[i] + 2.0); // here\n} y[i] = s; }"},
		{name: "into a comparison", text: "MAIN let d = x[i] * 0.0;\nlet q = d / d; // here\nif (q < 1.0) { y[i] = 1.0; } }"},
		{name: "into a minimum", text: "MAIN let d = x[i] * 0.0;\nlet q = 1.0 / d; // here\ny[i] = min(q, 5.0); }"},
		{name: "into an integer", text: "MAIN\nlet q = log(x[i] * 0.0); // here\ny[i] = f32(i32(q)); }"},
		{name: "into bits", text: "@group(0) @binding(3) var<storage, read_write> bits: array<u32>;\nMAIN\nlet q = sqrt(-1.0 - x[i]); // here\nbits[i] = bitcast<u32>(q); }"},
		{name: "through a variable", text: "MAIN var a: array<f32, 4>; let d = x[i] * 0.0;\na[i % 4u] = 1.0 / d; // here\nlet b = a; y[i] = b[i % 4u]; }"},
		{name: "through a function", text: "fn f(v: f32) -> f32 {\nreturn 1.0 / v; // here\n}\nMAIN var r = 1.0; r = f(x[i] * 0.0); y[i] = r; }"},
		{name: "through memory of the workgroup", text: "var<workgroup> w: array<f32, 8>;\nMAIN\nw[i] = exp(x[i] + 100.0); // here\nworkgroupBarrier(); y[i] = w[7u - i]; }"},
		{name: "exponent", text: "MAIN\nlet q = 1.0 / (x[i] * 0.0); // here\ny[i] = f32(frexp(q).exp); }"},
		{name: "ldexp", text: "MAIN\nlet q = ldexp(x[i] + 1.0, 128); // here\ny[i] = q; }"},
		{name: "the one that is used of two", text: "MAIN let d = x[i] * 0.0;\nlet used = 1.0 / d; // here\nlet dropped = sqrt(d - 1.0);\ny[i] = used + select(dropped, 1.0, d == 0.0); }"},
		{name: "normalize", text: "MAIN\nlet q = normalize(vec2(x[i] * 0.0)); // here\ny[i] = q.x; }"},
	}
	for i := range cases {
		cases[i].kind, cases[i].index, cases[i].grid = NaN, -1, one
		cases[i].options.ZeroWorkgroup = true
	}
	runFaults(t, cases)
}

// What is indexed is told where it is not the whole variable.
func TestIndexedPart(t *testing.T) {
	c := faultCase{text: "struct S { a: array<f32, 4> }\nvar<private> s: array<S, 9>;\nMAIN\ny[i] = s[i].a[i]; }", grid: [3]int{1, 1, 1}}
	_, findings := c.findings(t)
	const want = "test.wgsl:8:14: out-of-bounds: s: index 4 of a length of 4 in s[i].a (workgroup 0,0,0 invocation 4), seen 4 times"
	if len(findings) != 1 || findings[0].String() != want {
		t.Errorf("got %v, want %s", findings, want)
	}
}

// Half a word that was written is not the whole of it.
func TestUnwrittenHalves(t *testing.T) {
	const head = "enable f16;\nstruct S { n: u32, h: f16 }\n@group(0) @binding(0) var<storage, read_write> h: array<f16>;\n@group(0) @binding(1) var<storage, read_write> s: array<S>;\n@group(0) @binding(2) var<storage, read_write> out: array<f32>;\n"
	write := compile(t, head+"@compute @workgroup_size(8)\nfn main(@builtin(local_invocation_index) i: u32) { h[2u * i] = 1.0h; s[i].h = 2.0h; s[i].n = 3u; }")
	for text, wrong := range map[string]int{"h[2u * i] + s[i].h + f16(s[i].n)": 0, "h[2u * i + 1u]": 8} {
		read := compile(t, head+"@compute @workgroup_size(8)\nfn main(@builtin(local_invocation_index) i: u32) { out[i] = f32("+text+"); }")
		var bindings []Binding
		for i := range 3 {
			b := NewBuffer("b", 64, i == 2)
			bindings = append(bindings, Binding{Binding: i, Buffer: b, Bytes: 64})
		}
		for _, p := range []*Program{write, read} {
			r, err := p.Run(t.Context(), [3]int{1, 1, 1}, bindings, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			if p == read {
				want = wrong
			}
			found := 0
			for _, f := range r.Findings {
				if found += f.Count; f.Kind != Uninitialized || f.Variable != "h" || f.Index != 1 {
					t.Error(f)
				}
			}
			if found != want {
				t.Errorf("%s: %d findings, want %d: %v", text, found, want, r.Findings)
			}
		}
	}
}

// Waiting for another invocation may take for ever, and is a loop without an end here.
func TestWaiting(t *testing.T) {
	one := [3]int{1, 1, 1}
	runFaults(t, []faultCase{
		{name: "lock", text: "MAIN\nloop { // here\nif (atomicCompareExchangeWeak(&n[0], 0u, 1u).exchanged) { break; } } atomicStore(&n[0], 0u); }", kind: LoopCap, index: -1, grid: one, options: Options{StopTrips: 5000, LoopTrips: -1}},
		{name: "flag of a workgroup that comes later", text: "MAIN if (g.x > 0u) {\nwhile (atomicLoad(&n[g.x - 1u]) == 0u) { } // here\n} atomicStore(&n[g.x], 1u); }", kind: LoopCap, index: -1, grid: [3]int{9, 1, 1}, options: Options{StopTrips: 5000, LoopTrips: -1, Workers: 1}},
	})
}

// Values of lanes that aren't there: what is done with them decides.
func TestAbsentLanes(t *testing.T) {
	one := [3]int{1, 1, 1}
	small := Options{SubgroupSize: 4}
	cases := []faultCase{
		{name: "distance of 32 lanes", text: "MAIN var v = x[i]; for (var d = 16u; d > 0u; d >>= 1u) {\nv += subgroupShuffleDown(v, d); // here\n} if (i == 0u) { y[0] = v + f32(g.x); } }", index: 4, options: small}, // and by 8 and 16
		{name: "distance of integers", text: "MAIN\nlet v = subgroupShuffleUp(i, 4u); // here\nif (i > 3u) { y[i] = f32(v); } }", index: 4, options: small},
		{name: "stored", text: "MAIN\nlet v = subgroupShuffleUp(x[i], 1u); // here\ny[i] = v * 2.0 + 1.0; }", index: -1, options: small},
		{name: "summed by all", text: "MAIN\nlet v = subgroupShuffleDown(x[i], 1u) * 3.0; // here\nlet s = subgroupAdd(v); if (i == 0u) { y[0] = s; } }", index: -1, options: small},
		{name: "subgroup that is not full", text: "@compute @workgroup_size(5)\nMAIN var v = x[i]; for (var d = 4u; d > 0u; d >>= 1u) {\nv += subgroupShuffleDown(v, d); // here\n} if (i == 0u) { y[0] = v; } }", index: -1, options: Options{SubgroupSize: 8}},
	}
	for i := range cases {
		cases[i].kind, cases[i].grid = OutOfBounds, one
	}
	runFaults(t, cases)
	for _, text := range []string{
		"MAIN var v = x[i]; for (var d = size / 2u; d > 0u; d >>= 1u) { v += subgroupShuffleDown(v, d); } if (lane == 0u) { y[i] = v; } }",
		"MAIN let v = subgroupShuffleUp(x[i], 1u); if (lane > 0u) { y[i] = v; } else { y[i] = 0.0; } }",
		"MAIN let v = subgroupShuffleUp(x[i], 1u) + 1.0; let w = select(v, 0.0, lane == 0u); y[i] = w; }",
		"MAIN let v = subgroupShuffleDown(x[i], 2u); let m = select(x[i], v, lane + 2u < size && v > x[i]); y[i] = m; }",
	} {
		for _, size := range []int{4, 8} {
			c := faultCase{text: text, grid: one, options: Options{SubgroupSize: size}}
			if _, findings := c.findings(t); len(findings) > 0 {
				t.Errorf("subgroups of %d: %s: %v", size, text, findings)
			}
		}
	}
}

// Each function that may leave the finite numbers is watched. z is 0, one 1, big 3e38.
func TestFunctionsThatLeaveTheNumbers(t *testing.T) {
	for _, text := range []string{
		"one / z", "z / z", "big + big", "big * 2.0", "-big - big", "one % z", "fma(big, 2.0, one)", "log(z)", "log2(z - one)", "sqrt(z - one)", "inverseSqrt(z)",
		"pow(z - one, one)", "pow(z, z - one)", "pow(big, 2.0)", "exp(big)", "exp2(big)", "asin(one + one)", "acos(one + one)", "acosh(z)", "atanh(one)", "sinh(big)", "cosh(big)",
		"ldexp(one, i32(big))", "normalize(vec2(z, z)).x", "dot(vec2(big, big), vec2(big, big))", "length(vec2(big, big))", "distance(vec2(big, z), vec2(-big, z))",
		"cross(vec3(big, big, one), vec3(-big, big, one)).z", "mix(big, -big, big)", "smoothstep(one, one, one)", "degrees(big)", "quantizeToF16(big)",
		"reflect(vec2(big, big), vec2(big, big)).x", "f32(f16(big))", "f32(f16(one + 65504.0) * 2.0h)", "unpack2x16float(pack2x16float(vec2(big, one))).x", "abs(one / z)", "sign(z / z)",
		"select(one / z, one, z > one)", "vec2(one / z, one)[u32(z)]", "max(z / z, one)", "faceForward(vec2(one / z), vec2(one), vec2(one)).x", "modf(one / z).whole", "-(one / z)",
	} {
		c := faultCase{text: "@compute @workgroup_size(1)\nMAIN let z = x[0]; let one = x[0] + 1.0; let big = one * 3e38; y[i] = " + text + "; }", grid: [3]int{1, 1, 1}}
		_, findings := c.findings(t)
		if len(findings) != 1 || findings[0].Kind != NaN {
			t.Errorf("%s: %v", text, findings)
		}
	}
}
