package sim

import (
	"reflect"
	"strings"
	"testing"
)

// faultCase is a program with one fault, in the line that ends in // here, and a grid of 2 workgroups of 8 invocations unless it says
// otherwise. Bindings are x, of floats that are read, y, of floats, and n, of atomics, as far as the text names them.
type faultCase struct {
	name, text string
	kind       Kind
	variable   string
	index      int64
	grid       [3]int
	options    Options
}

const faultHead = `@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> n: array<atomic<u32>, 64>;
`

// text returns the whole program: MAIN stands for the head of the entry point, WHOLE for its end, where everything is used.
func (c faultCase) whole() string {
	text := c.text
	if !strings.Contains(text, "MAIN") {
		text = "MAIN " + text + "\n}"
	}
	if !strings.Contains(text, "@compute") {
		text = strings.Replace(text, "MAIN", "@compute @workgroup_size(8)\nMAIN", 1)
	}
	args := "@builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_index) i: u32, @builtin(global_invocation_id) id: vec3<u32>"
	if strings.Contains(text, "lane") {
		args += ", @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32"
	}
	text = strings.Replace(text, "MAIN", "fn main("+args+") {", 1)
	head := faultHead
	if strings.Contains(text, "subgroup") || strings.Contains(text, "quad") || strings.Contains(text, "lane") {
		head = "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n" + head
	}
	if strings.Contains(text, "f16") {
		head = "enable f16;\n" + head
	}
	return head + text
}

func (c faultCase) findings(t *testing.T) ([][]uint32, []Finding) {
	t.Helper()
	grid := c.grid
	if grid == [3]int{} {
		grid = [3]int{2, 1, 1}
	}
	p := compile(t, c.whole())
	var contents [][]uint32
	for _, b := range p.Bindings() {
		words := make([]uint32, max(64, int(b.Bytes+3)/4))
		for i := range words {
			if b.Name == "x" {
				words[i] = bitsOfFloat(float32(i) / 64)
			}
		}
		contents = append(contents, words)
	}
	return run(t, p, grid, c.options, contents...)
}

// anyIndex stands for an index that the order of workgroups decides.
const anyIndex = -2

// runFaults expects the one fault, at its place, and nothing else.
func runFaults(t *testing.T, cases []faultCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text := c.whole()
			line := 1 + strings.Count(text[:max(strings.Index(text, "// here"), 0)], "\n")
			_, findings := c.findings(t)
			found := false
			for _, f := range findings {
				if f.Kind == c.kind && f.Line == line && f.Variable == c.variable && (f.Index == c.index || c.index == anyIndex) {
					found = true
				} else {
					t.Errorf("besides: %v", f)
				}
			}
			if !found {
				t.Errorf("no %s of %s[%d] in line %d", c.kind, c.variable, c.index, line)
			}
		})
	}
}

// Races within a workgroup: in one workgroup of 8.
func TestRacesWithinAWorkgroup(t *testing.T) {
	const w = "var<workgroup> w: array<u32, 64>;\n"
	cases := []faultCase{
		{name: "different branches", text: w + "MAIN if (i < 4u) {\nw[i] = 1u;\n} else {\ny[i] = f32(w[i - 4u]); // here\n} }", variable: "w", index: 0},
		{name: "loop without a barrier", text: w + "MAIN for (var k = 0u; k < 3u; k++) {\nw[(i + k) % 8u] = k; // here\n} }", variable: "w", index: 0},
		{name: "second round", text: w + "MAIN w[i] = 0u;\nfor (var k = 0u; k < 2u; k++) {\nworkgroupBarrier();\nlet v = w[7u - i];\nw[i] = v; // here\n} }", variable: "w", index: 7},
		{name: "continuing", text: w + "MAIN var k = 0u; loop {\nw[i] = k;\ncontinuing { k += 1u;\ny[i] = f32(w[(i + 1u) % 8u]); // here\nbreak if k == 1u; } } }", variable: "w", index: 0},
		{name: "switch", text: w + "MAIN switch (i) {\ncase 3u: { w[5] = 1u; }\ncase 6u: { w[5] = 1u; } // here\ndefault: { } } }", variable: "w", index: 5},
		{name: "the same value", text: w + "MAIN w[3] = 7u; // here\n}", variable: "w", index: 3},
		{name: "after a barrier of the other memory", text: w + "MAIN w[i] = 1u;\nstorageBarrier();\ny[i] = f32(w[7u - i]); // here\n}", variable: "w", index: 0},
		{name: "storage after a barrier of the other memory", text: "MAIN y[i] = 1.0;\nworkgroupBarrier();\nlet v = y[7u - i]; // here\nworkgroupBarrier(); storageBarrier(); y[i] = v; }", variable: "y", index: 0},
		{name: "member of a struct", text: "struct S { a: u32, b: vec2<f32>, c: array<u32, 3> }\nvar<workgroup> s: array<S, 8>;\nMAIN s[i].c[2] = i;\ny[i] = f32(s[7u - i].c[2]); // here\n}", variable: "s", index: 0},
		{name: "scalar of a workgroup", text: "var<workgroup> s: u32;\nMAIN if (i == 0u) { s = 4u; }\ny[i] = f32(s); // here\n}", variable: "s", index: -1},
		{name: "component of a vector", text: "var<workgroup> v: array<vec4<f32>, 8>;\nMAIN v[i].x = 1.0;\ny[i] = v[7u - i].x; // here\n}", variable: "v", index: 0},
		{name: "another component of a vector that is written", text: "var<workgroup> v: array<vec4<f32>, 2>;\nMAIN v[i / 4u][i % 4u] = 1.0; // here\n}", variable: "v", index: 0},
		{name: "another component of a vector in storage", text: "@group(0) @binding(3) var<storage, read_write> v: array<vec4<f32>, 2>;\nMAIN if (i == 1u) { y[0] = v[1].y;\n} else if (i == 2u) { v[1].w = 1.0; } // here\n}", variable: "v", index: 1},
		{name: "halves", text: "var<workgroup> h: array<f16, 9>;\nMAIN h[i + 1u] = 1.0h;\nif (i < 7u) { y[i] = f32(h[i + 2u]); } // here\n}", variable: "h", index: 2},
		{name: "whole array against an element", text: "struct S { a: array<u32, 4> }\nvar<workgroup> s: S;\nMAIN if (i == 0u) { s.a = array(1u, 2u, 3u, 4u);\n} else if (i == 1u) { s.a[2] = 5u; } // here\n}", variable: "s", index: 2},
		{name: "whole struct that is read", text: "struct S { a: u32, b: u32 }\nvar<workgroup> s: S;\nMAIN if (i == 0u) { s.a = 1u; s.b = 1u;\n} else if (i == 1u) { let c = s; y[i] = f32(c.a); } // here\n}", variable: "s", index: -1},
		{name: "read through a pointer", text: w + "MAIN let p = &w[7u - i]; w[i] = 1u;\ny[i] = f32(*p); // here\n}", variable: "w", index: 0},
		{name: "compound assignment", text: "MAIN y[0] += 1.0; // here\n}", variable: "y", index: 0},
		{name: "in a function", text: w + "fn put(k: u32, v: u32) {\nw[k] = v; // here\n}\nMAIN put(i / 2u, i); }", variable: "w", index: 0},
		{name: "first load and later write", text: w + "MAIN if (i == 7u) { w[2] = 1u; } workgroupBarrier();\nvar s = 0u; if (i < 4u) { s = w[2]; }\ny[i] = f32(s);\nif (i == 6u) { w[2] = 5u; } // here\n}", variable: "w", index: 2},
		{name: "three readers, one of which writes", text: w + "MAIN if (i == 7u) { w[2] = 1u; } workgroupBarrier();\nvar s = 0u; if (i == 4u) { s = w[2]; } if (i == 2u) { s = w[2]; } if (i == 6u) { s = w[2]; }\ny[i] = f32(s);\nif (i == 4u) { w[2] = 5u; } // here\n}", variable: "w", index: 2},
		{name: "store without a barrier after workgroupUniformLoad's", text: "var<workgroup> s: u32;\nMAIN if (i == 0u) { s = 1u; } let v = workgroupUniformLoad(&s); if (i == 1u) { s = v; }\nif (i == 2u) { y[i] = f32(s); } // here\n}", variable: "s", index: -1},
		{name: "subgroup operations order nothing", text: w + "MAIN w[i] = i; let s = subgroupAdd(i);\ny[i] = f32(w[7u - i] + s); // here\n}", variable: "w", index: 0},
		{name: "atomics order nothing", text: w + "MAIN w[i] = i; _ = atomicAdd(&n[0], 1u);\ny[i] = f32(w[7u - i]); // here\n}", variable: "w", index: 0},
	}
	for i := range cases {
		cases[i].kind, cases[i].grid = Race, [3]int{1, 1, 1}
		if cases[i].variable == "w" || cases[i].name == "halves" { // reads of what is not there yet are not what is asked here
			cases[i].options.ZeroWorkgroup = true
		}
	}
	runFaults(t, cases)
}

// Races between workgroups, whatever the order they run in.
func TestRacesBetweenWorkgroups(t *testing.T) {
	grid := [3]int{3, 2, 2}
	cases := []faultCase{
		{name: "along x", text: "MAIN if (i == 0u) {\ny[g.y + g.z * 2u] = 1.0; // here\n} }", variable: "y", index: 0, grid: grid},
		{name: "along y", text: "MAIN if (i == 0u) {\ny[g.x + g.z * 3u] = 1.0; // here\n} }", variable: "y", index: 0, grid: grid},
		{name: "along z", text: "MAIN if (i == 0u) {\ny[g.x + g.y * 3u] = 1.0; // here\n} }", variable: "y", index: 0, grid: grid},
		{name: "only the last two", text: "MAIN let k = g.x + 3u * (g.y + 2u * g.z); if (i == 0u) {\ny[min(k, 10u)] = 1.0; // here\n} }", variable: "y", index: 10, grid: grid},
		{name: "read of what another writes", text: "MAIN let k = g.x + 3u * (g.y + 2u * g.z); if (i == 0u) { let v = y[40u + (k / 11u) * 10u]; if (k != 11u) {\ny[k] = v; } else { y[40] = 3.0; } // here\n} }", variable: "y", index: 40, grid: grid},
		{name: "halves of a word are apart", text: "@group(0) @binding(3) var<storage, read_write> h: array<f16>;\nMAIN if (i == 0u) {\nh[min(g.x, 1u)] = 1.0h; // here\n} }", variable: "h", index: 1, grid: [3]int{3, 1, 1}},
		{name: "components of a vector", text: "@group(0) @binding(3) var<storage, read_write> v: array<vec2<f32>>;\nMAIN if (i == 0u) {\nv[0][g.x] = 1.0; // here\n} }", variable: "v", index: 0},
		{name: "a barrier orders one workgroup", text: "MAIN if (i == 0u) {\ny[g.x] = 1.0; // here\n} storageBarrier();\nif (i == 0u) { let v = y[1u - g.x]; y[8u + g.x] = v; } }", variable: "y", index: 0},
		{name: "the last one done", text: "var<workgroup> last: bool;\nMAIN if (i == 0u) {\ny[g.x] = 1.0; // here\n} storageBarrier();\nif (i == 0u) { last = atomicAdd(&n[0], 1u) == 1u; }\nif (workgroupUniformLoad(&last)) { if (i == 0u) { y[8] = y[0] + y[1]; } } }", variable: "y", index: anyIndex},
	}
	for i := range cases {
		cases[i].kind = Race
	}
	for _, workers := range []int{1, 3} {
		for seed := range uint64(4) {
			for i := range cases {
				cases[i].options.Workers, cases[i].options.Seed = workers, seed
			}
			runFaults(t, cases)
		}
	}
}

// What is found of races between workgroups is the same, counts too, whatever order they ran in and however many at a time.
func TestRacesRepeat(t *testing.T) {
	for name, text := range map[string]string{
		"one line":      "MAIN y[g.x / 2u] += 1.0; }",
		"several lines": "MAIN if (i == 0u) { if (g.x % 3u == 0u) {\ny[0] = 1.0;\n} else if (g.x % 3u == 1u) {\ny[0] = 2.0;\n} else {\ny[g.x] = y[0]; } } }",
		"readers":       "MAIN if (i == 0u) { let v = y[g.x / 4u]; if (g.x == 9u) {\ny[1] = v + 1.0;\n} else { y[20u + g.x] = v; } } }",
	} {
		t.Run(name, func(t *testing.T) {
			var want []Finding
			for seed := range uint64(12) {
				c := faultCase{text: text, grid: [3]int{13, 1, 1}, options: Options{Seed: seed, Workers: 1 + int(seed)%4}}
				_, got := c.findings(t)
				if seed == 0 {
					want = got
				}
				if len(got) == 0 || !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d: %v\nseed 0: %v", seed, got, want)
				}
			}
		})
	}
}

// A buffer that is bound twice is told of as that, not as a race of a workgroup with itself.
func TestAliasIsNoRace(t *testing.T) {
	p := compile(t, "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n@group(0) @binding(1) var<storage, read_write> b: array<u32>;\n@compute @workgroup_size(8)\nfn main(@builtin(global_invocation_id) id: vec3<u32>) { a[id.x] = 1u; b[id.x] += 1u; }")
	buffer := NewBuffer("a", 64, true)
	r, err := p.Run(t.Context(), [3]int{2, 1, 1}, []Binding{{Buffer: buffer, Bytes: 64}, {Binding: 1, Buffer: buffer, Bytes: 64}}, Options{})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Kind != Alias {
		t.Errorf("got %v, %v", r, err)
	}
}

// An empty grid runs nothing, and is right.
func TestEmptyGrid(t *testing.T) {
	c := faultCase{text: "MAIN y[900] = 1.0; }"}
	for _, grid := range [][3]int{{0, 1, 1}, {1, 0, 1}, {3, 1, 0}} {
		p := compile(t, c.whole())
		r, err := p.Run(t.Context(), grid, []Binding{{Binding: 1, Buffer: NewBuffer("y", 64, true), Bytes: 64}}, Options{})
		if err != nil || r.Groups != 0 || len(r.Findings) != 0 {
			t.Errorf("%v: %v, %v", grid, r, err)
		}
	}
}

// What nobody wrote before the dispatch is unwritten for all workgroups but the one that writes it, in whatever order they run.
func TestUnwrittenRepeats(t *testing.T) {
	p := compile(t, "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n@group(0) @binding(1) var<storage, read_write> out: array<u32>;\n@compute @workgroup_size(8)\nfn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {\nif (g.x == 4u) { y[i] = 1u; }\nout[g.x * 8u + i] = y[i];\n}")
	for seed := range uint64(10) {
		var bindings []Binding
		for i := range 2 {
			b := NewBuffer("b", 256, false)
			bindings = append(bindings, Binding{Binding: i, Buffer: b, Bytes: 256})
		}
		r, err := p.Run(t.Context(), [3]int{8, 1, 1}, bindings, Options{Seed: seed, Workers: 1 + int(seed%3)})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) != 2 || r.Findings[1].Kind != Uninitialized || r.Findings[1].Count != 7*8 {
			t.Errorf("seed %d: %v", seed, r.Findings)
		}
	}
	again, err := p.Run(t.Context(), [3]int{1, 1, 1}, []Binding{{Buffer: NewBuffer("y", 256, true), Bytes: 256}, {Binding: 1, Buffer: NewBuffer("out", 256, false), Bytes: 256}}, Options{})
	if err != nil || len(again.Findings) != 0 {
		t.Errorf("%v, %v", again, err)
	}
}
