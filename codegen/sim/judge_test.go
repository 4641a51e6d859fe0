package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

const copyText = "@group(0) @binding(0) var<storage, read> x: array<u32>;\n@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n" +
	"@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) i: u32) { y[i] = x[i] + 1u; }\n"

// chain is a device with two arenas of 512 bytes and a plan that copies 256 bytes again and again: each step names from and to as arena
// and offset, and the tensors that it thinks are there.
type step struct {
	from, to     plan.Range
	reads, makes string
	short        uint64 // bytes by which the tensor that is made is shorter than the binding
}

func chain(t *testing.T, steps []step) []Finding {
	t.Helper()
	d, err := Open(plan.Requires{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k := &plan.Kernel{Name: "next", Workgroup: [3]int{64, 1, 1}, Text: copyText, Bindings: []plan.Binding{{Name: "x", Access: plan.Read, Bytes: 4}, {Name: "y", Access: plan.ReadWrite, Bytes: 4}}}
	h, err := d.NewPipeline(k, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		buffer, err := d.NewBuffer(plan.Buffer{Name: name, Kind: plan.ArenaBuffer, Bytes: 512})
		if err == nil {
			err = d.Write(buffer, 0, make([]byte, 512))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p := &plan.Plan{Lists: []plan.List{{}}}
	uses := [][][]Use{nil}
	for _, s := range steps {
		g, err := d.NewGroup(k.Accesses(), []plan.Range{s.from, s.to})
		if err != nil {
			t.Fatal(err)
		}
		p.Lists[0].Records = append(p.Lists[0].Records, uint32(h), uint32(g), 1, 1, 1)
		use := []Use{{Tensor: s.makes, Range: s.to.Part(0, s.to.Bytes-s.short), Access: plan.ReadWrite}}
		if s.reads != "" {
			use = append(use, Use{Tensor: s.reads, Range: s.from, Access: plan.Read})
		}
		uses[0] = append(uses[0], use)
	}
	d.Describe(p, uses)
	for range 2 {
		ticket, err := d.Submit(plan.Work{Replays: [][]uint32{p.Lists[0].Records}})
		if err == nil {
			_, err = d.Wait(t.Context(), ticket)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return d.Findings()
}

// Reads of tensors whose memory another tensor took are found, and nothing else is. What the dispatch before left is another tensor's
// too, even if it has the name.
func TestReusedMemory(t *testing.T) {
	at := func(arena int, offset uint64) plan.Range {
		return plan.Range{Buffer: arena, Offset: offset, Bytes: 256}
	}
	in := step{from: at(1, 256), to: at(0, 0), makes: "p"} // an operand without a use is no tensor of the plan's
	for _, c := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"right", []step{{from: at(0, 0), to: at(1, 0), reads: "p", makes: "q"}, {from: at(1, 0), to: at(0, 256), reads: "q", makes: "r"}, {from: at(0, 256), to: at(1, 256), reads: "r", makes: "s"}}, ""},
		{"reused", []step{{from: at(0, 0), to: at(1, 0), reads: "p", makes: "q"}, {from: at(1, 0), to: at(0, 0), reads: "q", makes: "r"}, {from: at(0, 0), to: at(1, 256), reads: "p", makes: "s"}}, "the memory of p holds r by now"},
		{"never written", []step{{from: at(0, 256), to: at(1, 0), reads: "z", makes: "q"}}, "nothing wrote z here in this replay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tensors []Finding
			for _, f := range chain(t, append([]step{in}, c.steps...)) {
				if f.Kind == Uninitialized {
					tensors = append(tensors, f)
				} else if c.name == "right" {
					t.Error(f)
				}
			}
			switch {
			case c.want == "" && len(tensors) > 0:
				t.Error(tensors)
			case c.want != "" && (len(tensors) != 1 || !strings.Contains(tensors[0].Detail, c.want) || tensors[0].Line != 4 || tensors[0].Variable != "x"):
				t.Errorf("got %v, want %s", tensors, c.want)
			}
		})
	}
}

// An access within the binding that leaves the tensor is out of bounds.
func TestBeyondTheTensor(t *testing.T) {
	to := plan.Range{Buffer: 0, Bytes: 256}
	findings := chain(t, []step{{from: plan.Range{Buffer: 1, Bytes: 256}, to: to, makes: "p", short: 128}})
	if len(findings) != 1 || findings[0].Kind != OutOfBounds || findings[0].Variable != "y" || findings[0].Index != 32 || findings[0].Count != 2*32 {
		t.Errorf("got %v", findings)
	}
}

func TestAliases(t *testing.T) {
	p := compile(t, copyText)
	b := NewBuffer("b", 1024, true)
	for _, c := range []struct {
		x, y  uint64
		found bool
	}{{0, 0, true}, {0, 256, true}} {
		r, err := p.Run(t.Context(), [3]int{1, 1, 1}, []Binding{{Binding: 0, Buffer: b, Offset: c.x, Bytes: 256}, {Binding: 1, Buffer: b, Offset: c.y, Bytes: 256}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range r.Findings {
			found = found || f.Kind == Alias && f.Line == 2 && f.Variable == "y"
		}
		if found != c.found {
			t.Errorf("offsets %d and %d: %v", c.x, c.y, r.Findings)
		}
	}
}

func TestRefusedRuns(t *testing.T) {
	p := compile(t, copyText)
	b := NewBuffer("b", 256, true)
	whole := func(n int) Binding { return Binding{Binding: n, Buffer: b, Bytes: 256} }
	for _, c := range []struct {
		bindings []Binding
		options  Options
		grid     [3]int
		want     string
	}{
		{[]Binding{whole(0)}, Options{}, [3]int{1, 1, 1}, "binding y: nothing is bound to binding 1 of group 0"},
		{[]Binding{whole(0), whole(1), whole(0)}, Options{}, [3]int{1, 1, 1}, "binding 0: it is given twice"},
		{[]Binding{whole(0), {Binding: 1}}, Options{}, [3]int{1, 1, 1}, "binding 1: it has no buffer"},
		{[]Binding{whole(0), {Binding: 1, Buffer: b, Offset: 2, Bytes: 4}}, Options{}, [3]int{1, 1, 1}, "multiples of 4"},
		{[]Binding{whole(0), {Binding: 1, Buffer: b, Offset: 4, Bytes: 256}}, Options{}, [3]int{1, 1, 1}, "ends beyond the buffer's 256 bytes"},
		{[]Binding{whole(0), {Binding: 1, Buffer: b, Bytes: 0}}, Options{}, [3]int{1, 1, 1}, "0 bytes are bound, the text asks for 4"},
		{[]Binding{whole(0), whole(1)}, Options{SubgroupSize: 12}, [3]int{1, 1, 1}, "subgroup size: 12 is not"},
		{[]Binding{whole(0), whole(1)}, Options{}, [3]int{1, -1, 1}, "grid"},
		{[]Binding{whole(0), whole(1)}, Options{}, [3]int{1 << 20, 1 << 20, 1}, "too many"},
	} {
		_, err := p.Run(t.Context(), c.grid, c.bindings, c.options)
		var wrong *plan.PlanError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestCancelledRun(t *testing.T) {
	p := compile(t, copyText)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b, c := NewBuffer("b", 256, true), NewBuffer("c", 256, true)
	_, err := p.Run(ctx, [3]int{1, 1, 1}, []Binding{{Buffer: b, Bytes: 256}, {Binding: 1, Buffer: c, Bytes: 256}}, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Workgroups run in an order that the seed decides, each once.
func TestShuffled(t *testing.T) {
	for _, n := range []uint64{1, 2, 7, 64, 1000, 65535} {
		for seed := range uint64(3) {
			seen := make([]bool, n)
			for i := range n {
				at := shuffled(i, n, seed)
				if seen[at] {
					t.Fatalf("%d of %d comes twice", at, n)
				}
				seen[at] = true
			}
		}
	}
}

// An index that is clamped is one fault, whatever the clamped place would be.
func TestClampedIndexIsOneFault(t *testing.T) {
	const head = "@group(0) @binding(0) var<storage, read_write> y: array<array<u32, 2>>;\nvar<workgroup> w: array<u32, 64>;\n@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) i: u32) {\n"
	for _, body := range []string{"y[i + 1u][0] = i;", "y[i][i + 1u] = i;", "let p = &y[i + 1u]; (*p)[1] = i;", "w[i + 1u] = i;", "y[0][0] = w[i + 64u];"} {
		_, findings := run(t, compile(t, head+body+"\n}"), [3]int{1, 1, 1}, Options{}, make([]uint32, 128))
		for _, f := range findings {
			if f.Kind != OutOfBounds && !(f.Kind == Race && strings.HasPrefix(body, "y[0][0]")) {
				t.Errorf("%s: %v", body, f)
			}
		}
		if len(findings) == 0 {
			t.Errorf("%s: nothing found", body)
		}
	}
}

func TestOverrides(t *testing.T) {
	const text = "override n: u32 = 5;\n@id(7) override k: i32;\noverride half = n / 2u;\noverride unused: f32;\n" +
		"@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n@compute @workgroup_size(n)\nfn main(@builtin(local_invocation_index) i: u32) { y[i] = half * 100u + u32(k); }\n"
	file, err := wgsl.Parse("test.wgsl", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := CompileWith(file, "", map[string]float64{"n": 4, "7": 3})
	if err != nil {
		t.Fatal(err)
	}
	after, _ := run(t, p, [3]int{1, 1, 1}, Options{}, make([]uint32, 6))
	if want := []uint32{203, 203, 203, 203, 0, 0}; !slices.Equal(after[0], want) {
		t.Errorf("got %v, want %v", after[0], want)
	}
	for _, c := range []struct {
		constants map[string]float64
		want      string
	}{
		{nil, "override k has no value"},
		{map[string]float64{"7": 1, "m": 1}, "the text has no override m; there are: 7, half, n, unused"},
		{map[string]float64{"7": 1.5}, "override 7 is i32, which 1.5 is no value of"},
		{map[string]float64{"7": 1, "n": 0}, "a workgroup of 0 by 1 by 1"},
		{map[string]float64{"7": 1, "n": 4294967295}, "a workgroup of 4294967295 by 1 by 1"},
	} {
		if _, err := CompileWith(file, "", c.constants); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// A trap ends the run, and clamping goes on.
func TestTrap(t *testing.T) {
	p := compile(t, "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n@compute @workgroup_size(1)\nfn main() { y[100] = 7u; y[0] = 5u; }\n")
	for _, trap := range []bool{false, true} {
		after, findings := run(t, p, [3]int{1, 1, 1}, Options{Trap: trap}, make([]uint32, 4))
		if len(findings) != 1 || findings[0].Kind != OutOfBounds || findings[0].Index != 100 {
			t.Errorf("got %v", findings)
		}
		if want := map[bool][2]uint32{false: {5, 7}, true: {0, 0}}[trap]; after[0][0] != want[0] || after[0][3] != want[1] {
			t.Errorf("trap %v: got %v", trap, after[0])
		}
	}
}
