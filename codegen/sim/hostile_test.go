package sim

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// doubling is functions that each call the one before twice, to a depth.
func doubling(body string, depth int) string {
	var b strings.Builder
	b.WriteString("@group(0) @binding(0) var<storage, read_write> out: array<u32, 4>;\nfn q0(x: u32) -> u32 { " + body + " }\n")
	for i := 1; i <= depth; i++ {
		fmt.Fprintf(&b, "fn q%d(x: u32) -> u32 { return q%d(x) + q%d(x + 1u); }\n", i, i-1, i-1)
	}
	return b.String()
}

// Programs that would take time or memory without bound are refused, with what is too much.
func TestTooLarge(t *testing.T) {
	const one = "@compute @workgroup_size(1)\nfn main() "
	for name, c := range map[string]struct{ text, want string }{
		"calls that double":      {doubling("return x + 1u;", 30) + one + "{ out[0] = q30(1u); }", "its functions call each other too often"},
		"branches of calls":      {doubling("if (x > 5u) { return 1u; } return x;", 18) + "@compute @workgroup_size(65536)\nfn main() { out[0] = q18(1u); }", "too many"},
		"private memory":         {"var<private> a: array<u32, 1000000000>;\n" + one + "{ a[0] = 1u; }", "too large to be simulated"},
		"workgroup memory":       {"var<workgroup> a: array<u32, 1000000000>;\n" + one + "{ a[0] = 1u; }", "bytes of workgroup memory"},
		"function memory":        {one + "{ var a: array<u32, 1000000000>; a[0] = 1u; }", "too large to be simulated"},
		"registers":              {"var<private> a: array<u32, 16384>;\n@compute @workgroup_size(8192)\nfn main() { a[0] = 1u; }", "too many registers"},
		"large values by copies": {"var<private> a: array<u32, 16384>;\n" + one + "{ " + strings.Repeat("{ var b = a; b[0] = 1u; } ", 200) + "}", "too large to be simulated"},
		"workgroup":              {"override n: i32 = 0;\n@compute @workgroup_size(n)\nfn main() { }", "has none"},
	} {
		t.Run(name, func(t *testing.T) {
			file, _, err := wgsl.ParseLenient("test.wgsl", c.text)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Compile(file, ""); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Workers share what memory there is.
func TestWorkersShareMemory(t *testing.T) {
	large := compile(t, "var<workgroup> a: array<u32, 60000000>;\n@compute @workgroup_size(1)\nfn main() { a[0] = 1u; }")
	small := compile(t, "var<workgroup> a: array<u32, 60>;\n@compute @workgroup_size(1)\nfn main() { a[0] = 1u; }")
	if n := large.together(); n != 2 {
		t.Errorf("%d workgroups of 240 MB at the same time", n)
	}
	if n := small.together(); n < 1000 {
		t.Errorf("%d small workgroups at the same time", n)
	}
}

// A run that is stopped ends within some operations, also where nothing loops.
func TestStopsWithoutLoops(t *testing.T) {
	p := compile(t, "@compute @workgroup_size(1)\nfn main() { }")
	m := p.machine()
	m.dispatch = &dispatch{program: p}
	var ops []op
	ran := 0
	for range 1000 {
		ops = append(ops, func(m *machine, a *lanes) {
			if ran++; ran == 100 {
				m.stop.Store(true)
			}
		})
	}
	a := lanes{dense: true, on: make([]bool, 1)}
	a.all(1)
	if m.run(ops, &a); ran > 200 || !m.ended {
		t.Errorf("%d operations ran after the stop", ran-100)
	}
}

// Each limit that a device or compiler has is told by its name.
func TestLimitsOfEveryKind(t *testing.T) {
	const one = "@compute @workgroup_size(1)\nfn main() "
	const out = "@group(0) @binding(0) var<storage, read_write> out: array<u32, 4>;\n"
	for name, c := range map[string]struct {
		text, variable, want string
		offset               uint64
	}{
		"private variables":       {out + "var<private> a: array<u32, 2000>;\nvar<private> b: array<u32, 49>;\n" + one + "{ a[0] = 1u; out[0] = a[1] + b[0]; }", "main", "bytes of private variables: 8196 needed, 8192 granted", 0},
		"variables of a function": {out + "fn f() -> u32 { var a: array<u32, 2000>; { var b: array<u32, 49>; return a[0] + b[0]; } }\n" + one + "{ var c: array<u32, 2000>; out[0] = f() + c[0]; }", "f", "bytes of a function's variables: 8196 needed, 8192 granted", 0},
		"workgroup memory":        {out + "var<workgroup> a: array<u32, 4093>;\nvar<workgroup> b: u32;\n" + one + "{ a[0] = 1u; b = 1u; out[0] = a[0] + b; }", "main", "maxComputeWorkgroupStorageSize: 16400 needed, 16384 granted", 0},
		"bind groups":             {"@group(4) @binding(0) var<storage, read_write> out: u32;\n" + one + "{ out = 1u; }", "out", "maxBindGroups: 5 needed, 4 granted", 0},
		"bindings":                {"@group(0) @binding(1000) var<storage, read_write> out: u32;\n" + one + "{ out = 1u; }", "out", "maxBindingsPerBindGroup: 1001 needed, 1000 granted", 0},
		"offset":                  {out + one + "{ out[0] = 1u; }", "out", "minStorageBufferOffsetAlignment: the offset 128 is no multiple of 256", 128},
		"z of a workgroup":        {out + "@compute @workgroup_size(1, 1, 65)\nfn main(@builtin(local_invocation_index) i: u32) { if (i == 0u) { out[0] = 1u; } }", "main", "maxComputeWorkgroupSizeZ: 65 needed, 64 granted", 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := compile(t, c.text)
			d := p.Bindings()[0]
			b := NewBuffer(d.Name, 512, true)
			r, err := p.Run(context.Background(), [3]int{1, 1, 1}, []Binding{{Group: d.Group, Binding: d.Binding, Buffer: b, Offset: c.offset, Bytes: 16}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			declared := map[string]string{"main": "@compute", "f": "fn f", "out": "@group"}[c.variable]
			line := strings.Count(c.text[:strings.Index(c.text, declared)], "\n") + 1
			if len(r.Findings) != 1 || r.Findings[0].Line != line || r.Findings[0].Kind != Limit || r.Findings[0].Variable != c.variable || r.Findings[0].Detail != c.want {
				t.Errorf("got %v, want %s", r.Findings, c.want)
			}
		})
	}
	p := compile(t, out+one+"{ out[0] = 1u; }")
	b := NewBuffer("out", 1024, true)
	r, err := p.Run(context.Background(), [3]int{1, 1, 1}, []Binding{{Buffer: b, Bytes: 16}}, Options{Limits: plan.Limits{BufferBytes: 512}})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Detail != "maxBufferSize: 1024 needed, 512 granted" {
		t.Errorf("got %v, %v", r, err)
	}
}

// A finding that is seen again and again is counted, and told of with the smallest invocations.
func TestFindingsAreCounted(t *testing.T) {
	c := faultCase{text: "MAIN for (var k = 0u; k < 100u; k++) {\ny[i + 64u + k] = 1.0;\n} }", grid: [3]int{5, 1, 1}, options: Options{Workers: 3, Seed: 7}}
	_, findings := c.findings(t)
	if len(findings) != 1 || findings[0].Count != 5*8*100 || findings[0].Index != 64 || findings[0].Invocations[0] != (Invocation{}) {
		t.Errorf("got %v", findings)
	}
}

// The value of an override is computed apart, however large the program is by then.
func TestOverridesCostLittle(t *testing.T) {
	var b strings.Builder
	b.WriteString("var<workgroup> w: array<u32, 60000000>;\n")
	for i := range 400 {
		fmt.Fprintf(&b, "override k%d = %du;\noverride l%d = k%d * 2u;\n", i, i, i, i)
	}
	b.WriteString("@group(0) @binding(0) var<storage, read_write> out: array<u32, 1>;\n@compute @workgroup_size(1)\nfn main() { w[0] = 0u; var s = w[0];\n")
	for i := range 400 {
		fmt.Fprintf(&b, "s += l%d;\n", i)
	}
	b.WriteString("out[0] = s; }\n")
	file, _, err := wgsl.ParseLenient("test.wgsl", b.String())
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, err := Compile(file, "")
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d bytes to compile", n)
	}
	out, _ := run(t, p, [3]int{1, 1, 1}, Options{ZeroWorkgroup: true}, make([]uint32, 1))
	if want := uint32(400 * 399); out[0][0] != want {
		t.Errorf("got %d, want %d", out[0][0], want)
	}
}
