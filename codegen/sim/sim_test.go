package sim

import (
	"context"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// compile compiles a text, mistakes of uniformity aside.
func compile(t testing.TB, text string) *Program {
	t.Helper()
	file, _, err := wgsl.ParseLenient("test.wgsl", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(file, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run runs a program on buffers of the words given, one for each binding in order, and returns their words after.
func run(t testing.TB, p *Program, grid [3]int, o Options, contents ...[]uint32) ([][]uint32, []Finding) {
	t.Helper()
	var bindings []Binding
	for i, d := range p.Bindings() {
		b := NewBuffer(d.Name, uint64(4*len(contents[i])), true)
		copy(b.words, contents[i])
		bindings = append(bindings, Binding{Group: d.Group, Binding: d.Binding, Buffer: b, Bytes: b.Size()})
	}
	r, err := p.Run(context.Background(), grid, bindings, o)
	if err != nil {
		t.Fatal(err)
	}
	var after [][]uint32
	for _, b := range bindings {
		after = append(after, b.Buffer.words)
	}
	return after, r.Findings
}

// Programs whose results can be told by looking at them: all write to out, one word for each invocation.
func TestPrograms(t *testing.T) {
	const head = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"
	main := func(body string) string {
		return head + "@compute @workgroup_size(8)\nfn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {\n" + body + "\n}\n"
	}
	for _, c := range []struct {
		name, text string
		want       []uint32
	}{
		{"index", main("out[i] = i;"), []uint32{0, 1, 2, 3, 4, 5, 6, 7}},
		{"if", main("if (i < 3u) { out[i] = 1u; } else if (i == 5u) { out[i] = 2u; } else { out[i] = 3u; }"), []uint32{1, 1, 1, 3, 3, 2, 3, 3}},
		{"loop", main("var n = 0u; for (var k = 0u; k < i; k++) { if (k == 2u) { continue; } if (k == 5u) { break; } n += k; } out[i] = n;"), []uint32{0, 0, 1, 1, 4, 8, 8, 8}},
		{"while", main("var n = i; while (n > 3u) { n -= 2u; } out[i] = n;"), []uint32{0, 1, 2, 3, 2, 3, 2, 3}},
		{"continuing", main("var n = 0u; loop { if (n == 2u) { n = 10u; continue; } n += 1u; continuing { n += i; break if n > 9u; } } out[i] = n;"), []uint32{10, 11, 12, 12, 10, 12, 14, 16}},
		{"switch", main("switch (i) { case 1u, 2u: { out[i] = 5u; } case 3u: { if (i == 3u) { break; } out[i] = 9u; } default: { out[i] = 7u; } }"), []uint32{7, 5, 5, 0, 7, 7, 7, 7}},
		{"return", main("if (i % 2u == 0u) { return; } out[i] = i;"), []uint32{0, 1, 0, 3, 0, 5, 0, 7}},
		{"function", "fn f(n: u32, p: ptr<function, u32>) -> u32 { *p += n; if (n > 4u) { return n * 2u; } return n; }\n" +
			main("var s = 1u; let r = f(i, &s); out[i] = r * 100u + s;"), []uint32{1, 102, 203, 304, 405, 1006, 1207, 1408}},
		{"order", "fn f(p: ptr<function, u32>) -> u32 { *p = 7u; return 1u; }\n" + main("var s = i; out[i] = s + f(&s);"), []uint32{1, 2, 3, 4, 5, 6, 7, 8}},
		{"array", main("var a = array<u32, 4>(4u, 3u, 2u, 1u); a[i % 4u] += i; let p = &a[(i + 1u) % 4u]; *p = 9u; out[i] = a[0] * 1000u + a[1] * 100u + a[2] * 10u + a[3];"),
			[]uint32{4921, 4491, 4349, 9324, 8921, 4891, 4389, 9328}},
		{"vector", main("var v = vec4<u32>(1u, 2u, 3u, 4u); v[i % 4u] = 9u; let w = v.wzyx; out[i] = w.x * 1000u + w.y * 100u + w.z * 10u + w.w;"),
			[]uint32{4329, 4391, 4921, 9321, 4329, 4391, 4921, 9321}},
		{"struct", "struct S { a: u32, b: vec2<u32>, c: array<u32, 2> }\nfn make(n: u32) -> S { var s: S; s.a = n; s.b = vec2(n, 2u); s.c[n % 2u] = 5u; return s; }\n" +
			main("let s = make(i); out[i] = s.a * 1000u + s.b.y * 100u + s.c[0] * 10u + s.c[1];"), []uint32{250, 1205, 2250, 3205, 4250, 5205, 6250, 7205}},
		{"short circuit", main("var a = array<u32, 2>(1u, 2u); if ((i < 2u && a[i] == 2u) || i == 7u) { out[i] = 1u; }"), []uint32{0, 1, 0, 0, 0, 0, 0, 1}},
		{"const", "const v = vec3(1, 2, 3);\nconst k = 3;\n" + main("let w = vec3<u32>(v) * k; out[i] = w.z + u32(f32(v.y));"), []uint32{11, 11, 11, 11, 11, 11, 11, 11}},
		{"override", "override n: u32 = 5;\nvar<workgroup> w: array<u32, n>;\n" + main("if (i < n) { w[i] = i; } workgroupBarrier(); out[i] = w[n - 1u];"), []uint32{4, 4, 4, 4, 4, 4, 4, 4}},
		{"private", "var<private> p: u32 = 3u;\nfn f() { p += 1u; }\n" + main("f(); f(); out[i] = p + i;"), []uint32{5, 6, 7, 8, 9, 10, 11, 12}},
		{"half", "enable f16;\n" + main("let x = f16(i) / 3.0h; out[i] = u32(x * 1024.0h);"), []uint32{0, 341, 682, 1024, 1365, 1707, 2048, 2390}},
		{"length", main("out[i] = arrayLength(&out);"), []uint32{8, 8, 8, 8, 8, 8, 8, 8}},
		{"shadow", main("var x = i; { var x = 1u; x += 1u; } { let x = x + 1u; out[i] = x; }"), []uint32{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, findings := run(t, compile(t, c.text), [3]int{1, 1, 1}, Options{}, make([]uint32, 8))
			for i, w := range c.want {
				if after[0][i] != w {
					t.Errorf("got %v, want %v", after[0], c.want)
					break
				}
			}
			for _, f := range findings {
				t.Error(f)
			}
		})
	}
}

// A Q4_1 product of a published form, at every subgroup size, against float64.
func TestReductionAtEverySubgroupSize(t *testing.T) {
	const text = `enable subgroups;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> sum: array<f32>;
var<workgroup> partials: array<f32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32,
        @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32) {
  var acc = 0.0;
  for (var i = local; i < 1000u; i += 64u) { acc += x[group.x * 1000u + i]; }
  let part = subgroupAdd(acc);
  if (lane == 0u) { partials[local / size] = part; }
  workgroupBarrier();
  if (local == 0u) {
    var total = 0.0;
    for (var i = 0u; i < (64u + size - 1u) / size; i++) { total += partials[i]; }
    sum[group.x] = total;
  }
}`
	p := compile(t, text)
	x := make([]uint32, 3000)
	want := make([]float64, 3)
	for i := range x {
		v := float32(i%17) - 8.25
		x[i] = math.Float32bits(v)
		want[i/1000] += float64(v)
	}
	for _, size := range SubgroupSizes() {
		after, findings := run(t, p, [3]int{3, 1, 1}, Options{SubgroupSize: size}, x, make([]uint32, 3))
		for i := range want {
			if got := math.Float32frombits(after[1][i]); math.Abs(float64(got)-want[i]) > 1e-3 {
				t.Errorf("subgroups of %d: sum %d is %v, want %v", size, i, got, want[i])
			}
		}
		for _, f := range findings {
			t.Errorf("subgroups of %d: %v", size, f)
		}
	}
}

// Faults that are put in at a marked line are found there.
func TestPlantedFaults(t *testing.T) {
	const two = "@group(0) @binding(0) var<storage, read> x: array<f32>;\n@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
	const entry = "@compute @workgroup_size(64)\nfn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {\n"
	for _, c := range []struct {
		name, text string
		kind       Kind
		variable   string
		index      int64
		options    Options
	}{
		{"missing barrier", two + "var<workgroup> t: array<f32, 64>;\n" + entry + "t[local] = x[local];\ny[local] = t[63u - local]; // here\n}", Race, "t", 0, Options{}},
		{"race of one store", two + entry + "y[local / 2u] = x[local]; // here\n}", Race, "y", 0, Options{}},
		{"race between workgroups", two + entry + "y[local] = x[local]; // here\n}", Race, "y", 0, Options{}},
		{"beyond a sized array", strings.Replace(two, "array<f32>", "array<f32, 64>", 1) + entry + "if (group.x == 0u) { y[local] = x[local + 1u]; } // here\n}", OutOfBounds, "x", 64, Options{}},
		{"beyond a runtime-sized array", two + entry + "if (group.x == 0u) { y[local] = x[local + 1u]; } // here\n}", OutOfBounds, "x", 64, Options{}},
		{"barrier in divergent flow", two + entry + "if (local < 32u) {\nworkgroupBarrier(); // here\n}\n}", Divergent, "", -1, Options{}},
		{"barrier after a return", two + entry + "if (local == 7u) { return; }\nstorageBarrier(); // here\n}", Divergent, "", -1, Options{}},
		{"lane that isn't there", "enable subgroups;\n" + two + entry + "let v = subgroupShuffleXor(x[local], 16u); // here\nif (group.x == 0u) { y[local] = v; }\n}", OutOfBounds, "", 16, Options{SubgroupSize: 4}},
		{"subgroup operation in divergent flow", "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n" + two + entry + "if (local < 40u) { let v = subgroupAdd(x[local]); // here\nif (group.x == 0u) { y[local] = v; } }\n}", Divergent, "", -1, Options{}},
		{"unwritten workgroup memory", two + "var<workgroup> t: array<f32, 65>;\n" + entry + "t[local] = x[local];\nworkgroupBarrier();\nif (group.x == 0u) { y[local] = t[local + 1u]; } // here\n}", Uninitialized, "t", 64, Options{}},
		{"infinity", two + entry + "let v = exp(x[local] + 200.0); // here\nif (group.x == 0u) { y[local] = v; }\n}", NaN, "", -1, Options{}},
		{"NaN that a comparison takes", two + entry + "let v = x[local] - x[local];\nlet r = v / v; // here\nif (group.x == 0u && r > 0.0) { y[local] = 1.0; }\n}", NaN, "", -1, Options{}},
		{"too large for a half", two + entry + "let v = pack2x16float(vec2(x[local] + 70000.0, 0.0)); // here\nif (group.x == 0u) { y[local] = f32(v); }\n}", NaN, "", -1, Options{}},
		{"too many trips", two + entry + "var s = 0.0;\nfor (var i = 0u; i < 70000u; i++) { s += 1.0; } // here\nif (group.x == 0u) { y[local] = s; }\n}", LoopCap, "", -1, Options{}},
		{"no end", two + entry + "loop { if (x[local] > 5.0) { break; } } // here\n}", LoopCap, "", -1, Options{LoopTrips: -1, StopTrips: 1 << 16}},
		{"workgroup memory", two + "var<workgroup> t: array<f32, 5000>;\n@compute @workgroup_size(1) // here\nfn main() { t[0] = x[0]; y[0] = t[0]; }", Limit, "main", -1, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := 1 + strings.Count(c.text[:strings.Index(c.text, "// here")], "\n")
			x := make([]uint32, 64)
			for i := range x {
				x[i] = math.Float32bits(float32(i) / 64)
			}
			_, findings := run(t, compile(t, c.text), [3]int{2, 1, 1}, c.options, x, make([]uint32, 64))
			for _, f := range findings {
				t.Log(f)
				if f.Kind == c.kind && f.Line == line && f.Variable == c.variable && f.Index == c.index {
					return
				}
			}
			t.Errorf("no finding of kind %s of %s[%d] in line %d", c.kind, c.variable, c.index, line)
		})
	}
}

// What looks like a fault and is none.
func TestNoFindings(t *testing.T) {
	const two = "@group(0) @binding(0) var<storage, read> x: array<f32>;\n@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
	const entry = "@compute @workgroup_size(64)\nfn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {\n"
	for name, text := range map[string]string{
		"infinity not selected": two + entry + "let d = x[local] * 0.0;\ny[group.x * 64u + local] = select(1.0 / d, 0.0, d == 0.0);\n}",
		"index not used":        two + entry + "if (local < 10u) { y[group.x * 64u + local] = x[local]; }\n}",
		"barriers":              two + "var<workgroup> t: array<f32, 64>;\n" + entry + "for (var i = 0u; i < 4u; i++) {\nt[local] = x[local];\nworkgroupBarrier();\ny[group.x * 64u + local] += t[63u - local];\nworkgroupBarrier();\n}\n}",
		"atomics":               "@group(0) @binding(0) var<storage, read> x: array<f32>;\n@group(0) @binding(1) var<storage, read_write> n: array<atomic<u32>>;\n" + entry + "if (x[local] > 0.5) { atomicAdd(&n[0], 1u); }\n}",
		"own location":          two + entry + "let i = group.x * 64u + local; y[i] = x[local]; y[i] = y[i] + 1.0;\n}",
		"halves of a word":      "enable f16;\n@group(0) @binding(0) var<storage, read> x: array<f32>;\n@group(0) @binding(1) var<storage, read_write> y: array<f16>;\n" + entry + "y[group.x * 64u + local] = f16(x[local]);\n}",
	} {
		t.Run(name, func(t *testing.T) {
			x := make([]uint32, 64)
			for i := range x {
				x[i] = math.Float32bits(float32(i) / 64)
			}
			_, findings := run(t, compile(t, text), [3]int{2, 1, 1}, Options{}, x, make([]uint32, 128))
			for _, f := range findings {
				t.Error(f)
			}
		})
	}
}

// A device replays records as any backend does, and judges across dispatches.
func TestDevice(t *testing.T) {
	d, err := Open(plan.Requires{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k := &plan.Kernel{Name: "double", Workgroup: [3]int{64, 1, 1}, Bindings: []plan.Binding{{Name: "x", Access: plan.Read, Bytes: 256}, {Name: "y", Access: plan.ReadWrite, Bytes: 256}},
		Text: "@group(0) @binding(0) var<storage, read> x: array<u32, 64>;\n@group(0) @binding(1) var<storage, read_write> y: array<u32, 64>;\n@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) i: u32) { y[i] = 2u * x[i]; }\n"}
	h, err := d.NewPipeline(k, true)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := d.NewBuffer(plan.Buffer{Name: "a", Kind: plan.ArenaBuffer, Bytes: 256})
	b, _ := d.NewBuffer(plan.Buffer{Name: "b", Kind: plan.ArenaBuffer, Bytes: 256})
	forth, err := d.NewGroup(k.Accesses(), []plan.Range{{Buffer: int(a), Bytes: 256}, {Buffer: int(b), Bytes: 256}})
	if err != nil {
		t.Fatal(err)
	}
	back, _ := d.NewGroup(k.Accesses(), []plan.Range{{Buffer: int(b), Bytes: 256}, {Buffer: int(a), Bytes: 256}})
	if err := d.Write(a, 0, binary.LittleEndian.AppendUint32(nil, 21)); err != nil {
		t.Fatal(err)
	}
	ticket, err := d.Submit(plan.Work{
		Replays: [][]uint32{{uint32(h), uint32(forth), 1, 1, 1, uint32(h), uint32(back), 1, 1, 1}},
		Reads:   []plan.Range{{Buffer: int(a), Bytes: 8}},
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.Wait(t.Context(), ticket)
	if err != nil || binary.LittleEndian.Uint32(data) != 84 {
		t.Fatalf("got %v, %v", data, err)
	}
	findings := d.Findings()
	if len(findings) != 1 || findings[0].Kind != Uninitialized || findings[0].Index != 1 || findings[0].Kernel != "double" || findings[0].Line != 4 {
		t.Errorf("got %v", findings)
	}
}
