package schedules_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

func Example() {
	profile, err := schedules.Lookup("portable")
	if err != nil {
		panic(err)
	}
	problem := schedules.GEMVProblem{Rows: 576, Columns: 576, Format: quant.Q4_1, N: 1}
	s := schedules.DefaultGEMV(problem, profile)
	fmt.Println(s, s.Legal(problem, profile))
	s.RowsPerThread = 3
	fmt.Println(s.Legal(problem, profile))
	// Output:
	// workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=f32 math=deferred reduce=none splitk=1 <nil>
	// illegal schedule (workgroup=64 rows=3 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=f32 math=deferred reduce=none splitk=1): RowsPerThread: 3 is not 1, 2 or 4
}

func lookup(t *testing.T, name string) schedules.Profile {
	t.Helper()
	p, err := schedules.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProfiles(t *testing.T) {
	storage := map[string]int{"portable": 8, "compat": 4, "firefox-metal": 9, "chrome": 10, "subgroups": 8,
		"lavapipe": 16, "swiftshader": 10, "nvidia-h200": 10}
	all := schedules.Profiles()
	if len(all) != len(storage) {
		t.Errorf("%d profiles, want %d", len(all), len(storage))
	}
	for i, p := range all {
		if p.Limits.StorageBuffers != storage[p.Name] {
			t.Errorf("%s: %d storage buffers, want %d", p.Name, p.Limits.StorageBuffers, storage[p.Name])
		}
		if i > 0 && all[i-1].Name >= p.Name {
			t.Errorf("%s comes after %s", p.Name, all[i-1].Name)
		}
	}
	p := lookup(t, "portable")
	if p.Limits.BindingBytes != 128<<20 || p.Limits.BufferBytes != 256<<20 || p.Limits.Invocations != 256 ||
		p.Limits.WorkgroupBytes != 16<<10 || p.Subgroups {
		t.Errorf("portable: %+v", p)
	}
	if c := lookup(t, "compat"); c.Limits.Invocations != 128 {
		t.Errorf("compat: %d invocations", c.Limits.Invocations)
	}
	if c := lookup(t, "lavapipe"); c.LoopTrips != 65535 {
		t.Errorf("lavapipe: %d loop trips", c.LoopTrips)
	}
}

func TestLookupListsTheNearest(t *testing.T) {
	_, err := schedules.Lookup("portabel")
	var u *schedules.UnknownError
	if !errors.As(err, &u) || u.Nearest[0] != "portable" {
		t.Errorf("got %v", err)
	}
}

func TestParseProfileRefuses(t *testing.T) {
	good := `{"name":"p","about":"a","dialect":"any","subgroups":false,"subgroupSize":0,"f16":false,"packedDot":true,"loopTrips":0,"limits":{
		"storageBuffers":8,"uniformBuffers":12,"bindingBytes":1024,"uniformBytes":1024,"bufferBytes":1024,"workgroupBytes":1024,
		"invocations":64,"workgroupX":64,"workgroupY":64,"workgroupZ":64,"workgroups":64,"offsetAlignment":256,"dispatchesInPass":1}}`
	if _, err := schedules.ParseProfile("p.json", []byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"loopTrips"`, `"loopTrip"`, `p.json: unknown key "loopTrip"; nearest: loopTrips, `},
		{`"workgroupZ"`, `"workgroupsZ"`, `p.json: unknown key "limits.workgroupsZ"; nearest: limits.workgroup`},
		{`"f16":false,`, ``, `p.json: key "f16" is missing`},
		{`"f16":false`, `"f16":1`, `p.json: key "f16": `},
		{`"any"`, `"tin"`, `p.json: unknown dialect "tin"; nearest: tint, `},
		{`"storageBuffers":8`, `"storageBuffers":-8`, `p.json: limit maxStorageBuffersPerShaderStage of -8 is not positive`},
		{`"bindingBytes":1024`, `"bindingBytes":2048`, `p.json: key "limits.bindingBytes": 2048`},
		{`"offsetAlignment":256`, `"offsetAlignment":96`, `p.json: key "limits.offsetAlignment": 96`},
		{`"subgroupSize":0`, `"subgroupSize":32`, `p.json: key "subgroupSize": 32 without subgroups`},
		{`"name":"p"`, `"name":""`, `p.json: key "name" is empty`},
		{`}}`, `}`, `p.json: unexpected end`},
	} {
		_, err := schedules.ParseProfile("p.json", []byte(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s for %s: got %v, want %s", c.to, c.from, err, c.want)
		}
	}
}

func TestWithDevice(t *testing.T) {
	p := lookup(t, "subgroups")
	d := plan.Device{Name: "gpu", Limits: p.Limits, Subgroups: true, SubgroupSize: 32}
	got, err := p.WithDevice(d)
	if err != nil || got.SubgroupSize != 32 || got.Requires().SubgroupSize != 32 {
		t.Errorf("got size %d, %v", got.SubgroupSize, err)
	}
	d.SubgroupSize = 0
	d.Limits.StorageBuffers = 4
	d.Limits.OffsetAlignment = 32 // a finer alignment is no miss
	_, err = p.WithDevice(d)
	var fit *schedules.FitError
	if !errors.As(err, &fit) || len(fit.Misses) != 2 || fit.Misses[0].Requirement != "maxStorageBuffersPerShaderStage" ||
		fit.Misses[1].Requirement != "subgroup size" {
		t.Errorf("got %v", err)
	}
	d = plan.Device{Limits: p.Limits}
	d.Limits.OffsetAlignment = 512
	if err := p.Fit(d); !errors.As(err, &fit) || len(fit.Misses) != 2 || fit.Misses[0].Have != 512 {
		t.Errorf("got %v", err)
	}
	trapped := plan.Device{Name: "llvmpipe", Limits: p.Limits, Subgroups: true, SubgroupSize: 8, LoopTrips: 65535, BadPackedDot: true}
	if got, err := p.WithDevice(trapped); err != nil || got.LoopTrips != 65535 || got.PackedDot {
		t.Errorf("a device with traps: %+v, %v", got, err)
	}
	strict := p
	strict.LoopTrips = 1000
	if got, err := strict.WithDevice(trapped); err != nil || got.LoopTrips != 1000 {
		t.Errorf("a profile with a lower cap: %+v, %v", got, err)
	}
	trapped.LoopTrips, trapped.BadPackedDot = 0, false // the name says nothing
	if got, err := p.WithDevice(trapped); err != nil || got.LoopTrips != 0 || !got.PackedDot {
		t.Errorf("a device without traps: %+v, %v", got, err)
	}
	h := lookup(t, "nvidia-h200")
	if err := h.Fit(plan.Device{Limits: h.Limits, Subgroups: true, SubgroupSize: 16}); err == nil {
		t.Error("subgroups of 16 fit a profile that guarantees 32")
	}
}

// Every default is legal on every profile, whatever the measured size of subgroups.
func TestDefaultsAreLegal(t *testing.T) {
	for _, p := range schedules.Profiles() {
		sizes := []int{p.SubgroupSize}
		if p.Name == "subgroups" {
			sizes = []int{0, 4, 8, 16, 32, 64, 128}
		}
		for _, size := range sizes {
			p.SubgroupSize = size
			for _, format := range quant.Types() {
				xs := []schedules.XType{schedules.XF32}
				if block, _ := format.Block(); block.Elems > 1 {
					xs = append(xs, schedules.XQ8)
				}
				for _, shape := range [][2]int{{1, 256}, {960, 768}, {49152, 768}, {576, 1536}, {5, 30 * 256}, {7, 512}} {
					for _, x := range xs {
						b := schedules.GEMVProblem{Rows: shape[0], Columns: shape[1], Format: format, N: 1, X: x}
						if err := schedules.DefaultGEMV(b, p).Legal(b, p); err != nil {
							t.Errorf("%s, subgroups of %d: %+v: %v", p.Name, size, b, err)
						}
					}
				}
			}
		}
		for _, n := range []int{1, 64, 576, 8192, 262144} {
			if err := schedules.DefaultRowReduce(n, p).Legal(n, p); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if err := schedules.DefaultArgMax(n, p).Legal(n, p); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			if err := schedules.DefaultQuantQ8(p).Legal(32*n, p); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
		for _, size := range []int{64, 80, 96, 128, 256} {
			b := schedules.AttentionProblem{Heads: 9, KVHeads: 3, Size: size, Context: 8192}
			if err := schedules.DefaultAttention(b, p).Legal(b, p); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
		if err := schedules.DefaultElementwise(p).Legal(1, p); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestSubgroupDefault(t *testing.T) {
	p := lookup(t, "nvidia-h200")
	s := schedules.DefaultGEMV(schedules.GEMVProblem{Rows: 49152, Columns: 576, Format: quant.Q8_0, N: 1}, p)
	if s.Order.ThreadsPerRow != 32 || s.RowsPerThread != 2 || s.Order.Reduce != schedules.ReduceSubgroup || s.RowsPerWorkgroup() != 4 {
		t.Errorf("got %v", s)
	}
}

// With q8 x, the inner product is what the profile says, and either form of it is legal.
func TestQ8Default(t *testing.T) {
	p := lookup(t, "portable")
	b := schedules.GEMVProblem{Rows: 576, Columns: 576, Format: quant.Q4_1, N: 1, X: schedules.XQ8}
	for packed, want := range map[bool]schedules.Math{true: schedules.Dot4I8, false: schedules.UnpackedI8} {
		p.PackedDot = packed
		s := schedules.DefaultGEMV(b, p)
		if s.Order.Math != want || s.Order.XType != schedules.XQ8 {
			t.Errorf("packed dot %v: %v", packed, s)
		}
		p.PackedDot = !packed
		if err := s.Legal(b, p); err != nil {
			t.Error(err)
		}
	}
}

// Each change of a legal schedule or problem is refused, with the field at fault.
func TestIllegalNamesTheField(t *testing.T) {
	h200, portable := lookup(t, "nvidia-h200"), lookup(t, "portable")
	type G = schedules.GEMV
	type B = schedules.GEMVProblem
	type P = schedules.Profile
	for _, c := range []struct {
		profile schedules.Profile
		change  func(*G, *B, *P)
		want    string
	}{
		{portable, func(s *G, b *B, p *P) { s.Workgroup = 512 }, "Workgroup: 512 is not within 1..256"},
		{portable, func(s *G, b *B, p *P) { s.Workgroup = 0 }, "Workgroup: 0"},
		{portable, func(s *G, b *B, p *P) { s.RowsPerThread = 0 }, "RowsPerThread: 0"},
		{portable, func(s *G, b *B, p *P) { s.Order.ThreadsPerRow = 0 }, "Order.ThreadsPerRow: 0"},
		{portable, func(s *G, b *B, p *P) { s.Order.ThreadsPerRow = 32 }, "Order.Reduce: none is not built yet"},
		{portable, func(s *G, b *B, p *P) { s.Order.Reduce = schedules.ReduceSubgroup }, "Order.Reduce: subgroup with one thread"},
		{portable, func(s *G, b *B, p *P) { s.Order.ThreadsPerRow, s.Order.Reduce = 32, schedules.ReduceSubgroup }, "Order.Reduce: profile portable has no subgroups"},
		{h200, func(s *G, b *B, p *P) { s.Order.ThreadsPerRow = 16 }, "Order.ThreadsPerRow: 16 is not the size"},
		{h200, func(s *G, b *B, p *P) { s.Workgroup = 48 }, "Order.ThreadsPerRow: 32 does not divide Workgroup 48"},
		{h200, func(s *G, b *B, p *P) { s.Order.Reduce = schedules.ReduceTree }, "Order.Reduce: tree is not built yet"},
		{portable, func(s *G, b *B, p *P) { s.ScaleFetch = schedules.ScaleBroadcast }, "ScaleFetch: broadcast is not built yet, only thread"},
		{portable, func(s *G, b *B, p *P) { s.XSource = schedules.XStaged }, "XSource: staged is not built yet"},
		{portable, func(s *G, b *B, p *P) { s.Grid = schedules.GridPersistent }, "Grid: persistent is not built yet"},
		{portable, func(s *G, b *B, p *P) { s.Order.Unroll = 2 }, "Order.Unroll: 2 is not built yet"},
		{portable, func(s *G, b *B, p *P) { s.Order.XType = schedules.XQ8 }, "Order.XType: q8 where x is given as f32"},
		{portable, func(s *G, b *B, p *P) { s.Order.Math = schedules.Dot4I8 }, "Order.Math: dot4i8 is not built for x of f32, only [deferred]"},
		{portable, func(s *G, b *B, p *P) { b.X, s.Order.XType = schedules.XQ8, schedules.XQ8 }, "Order.Math: deferred is not built for x of q8, only [dot4i8 unpacked]"},
		{portable, func(s *G, b *B, p *P) { b.X = schedules.XQ8; s.Order.Math = schedules.Dot4I8 }, "Order.XType: f32 where x is given as q8"},
		{portable, func(s *G, b *B, p *P) { b.X, b.Format = schedules.XQ8, quant.F16 }, "X: q8 is not built yet for weights of F16"},
		{portable, func(s *G, b *B, p *P) { b.X = schedules.XF16Pairs }, "X: f16 is not built yet for weights of Q4_0"},
		{portable, func(s *G, b *B, p *P) { s.Order.SplitK = 2 }, "Order.SplitK: 2 is not built yet"},
		{portable, func(s *G, b *B, p *P) { s.Order.VecWidth = 2 }, "Order.VecWidth: 2"},
		{portable, func(s *G, b *B, p *P) { b.Columns = 600 }, "Columns: 600 is not a multiple of 32"},
		{portable, func(s *G, b *B, p *P) { b.Columns = -32 }, "Columns: -32"},
		{portable, func(s *G, b *B, p *P) { b.Columns, b.Format = 33, quant.F16 }, "Columns: 33 is not a multiple of 2"},
		{portable, func(s *G, b *B, p *P) { b.Rows = 0 }, "Rows: 0"},
		{portable, func(s *G, b *B, p *P) { b.N = 8 }, "N: 8 columns are not built yet"},
		{portable, func(s *G, b *B, p *P) { b.Format = 4 }, "Format: type 4 is no type"},
		{portable, func(s *G, b *B, p *P) { b.Rows, b.RowBytes = 1<<20, 288 }, "Rows: a plane of 301989888 bytes exceeds the largest binding"},
		{portable, func(s *G, b *B, p *P) { p.LoopTrips = 18 }, "Columns: 19 loop trips exceed those that profile portable survives, 18"},
		{portable, func(s *G, b *B, p *P) { s.Workgroup, p.Limits.Workgroups = 1, 20 }, "Rows: 576 workgroups exceed 20"},
	} {
		p, b := c.profile, B{Rows: 576, Columns: 576, Format: quant.Q4_0, N: 1}
		s := schedules.DefaultGEMV(b, p)
		c.change(&s, &b, &p)
		var e *schedules.IllegalError
		if err := s.Legal(b, p); !errors.As(err, &e) || !strings.HasPrefix(e.Reasons[0].String(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	s := schedules.DefaultGEMV(B{Rows: 1, Columns: 32, Format: quant.Q4_0, N: 1}, portable)
	s.Order.SplitK, s.Grid = 8, schedules.GridPersistent
	var e *schedules.IllegalError
	if err := s.Legal(B{Rows: 1, Columns: 31, Format: quant.Q4_0}, portable); !errors.As(err, &e) || len(e.Reasons) != 4 {
		t.Errorf("want four reasons, got %v", err)
	}
}

func TestFamiliesRefuse(t *testing.T) {
	p, lava := lookup(t, "portable"), lookup(t, "lavapipe")
	b := schedules.AttentionProblem{Heads: 9, KVHeads: 3, Size: 64, Context: 1 << 20}
	for _, c := range []struct {
		err  error
		want string
	}{
		{schedules.RowReduce{48, schedules.ReduceTree}.Legal(64, p), "Workgroup: 48 is not a power of two"},
		{schedules.RowReduce{64, schedules.ReduceSubgroup}.Legal(64, p), "Reduce: subgroup is not built yet"},
		{schedules.RowReduce{64, schedules.ReduceTree}.Legal(0, p), "Columns: 0"},
		{schedules.ArgMax{64, 0}.Legal(64, p), "Partials: 0"},
		{schedules.Elementwise{512}.Legal(64, p), "Workgroup: 512"},
		{schedules.QuantQ8{512}.Legal(64, p), "Workgroup: 512"},
		{schedules.QuantQ8{32}.Legal(80, p), "Columns: 80 is not a positive multiple of 32"},
		{schedules.QuantQ8{32}.Legal(0, p), "Columns: 0"},
		{schedules.Attention{64}.Legal(b, lava), "Context: "},
		{schedules.Attention{64}.Legal(schedules.AttentionProblem{9, 2, 64, 32, false}, p), "KVHeads: 2 key heads"},
		{schedules.Attention{64}.Legal(schedules.AttentionProblem{9, 3, 66, 32, false}, p), "Size: 66"},
		{schedules.Attention{64}.Legal(schedules.AttentionProblem{9, 3, 68, 32, true}, p), "Size: 68 is not a multiple of 8"},
		{schedules.Attention{64}.Legal(schedules.AttentionProblem{1, 1, 1000, 32, true}, p), "Size: 1000 is not a multiple of 8 up to 512"},
		{schedules.Attention{2}.Legal(schedules.AttentionProblem{9, 3, 64, 32, true}, p), "Workgroup: 2 is not a multiple of 4"},
	} {
		var e *schedules.IllegalError
		if !errors.As(c.err, &e) || !strings.HasPrefix(e.Reasons[0].String(), c.want) {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

func TestTextFormParsesBack(t *testing.T) {
	p := lookup(t, "nvidia-h200")
	want := schedules.DefaultGEMV(schedules.GEMVProblem{Rows: 49152, Columns: 576, Format: quant.F16, N: 1}, p)
	want.Order.Reduce = schedules.ReduceSubgroupWorkgroup
	var got schedules.GEMV
	if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	var row schedules.RowReduce
	if err := row.UnmarshalText([]byte("reduce=tree workgroup=64")); err != nil || row != (schedules.RowReduce{64, schedules.ReduceTree}) {
		t.Errorf("got %v, %v", row, err)
	}
	for _, c := range []struct{ line, want string }{
		{"workgroup=64", "reduce is missing"},
		{"workgroup=64 reduce=tree workgroup=64", "workgroup comes twice"},
		{"workgroup=64 reduc=tree", `unknown key "reduc"; nearest: reduce`},
		{"workgroup=64 reduce=trees", `unknown choice "trees"; nearest: tree`},
		{"workgroup=x reduce=tree", "workgroup: strconv.Atoi"},
		{"workgroup", "no key=value"},
	} {
		if err := row.UnmarshalText([]byte(c.line)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.line, err, c.want)
		}
	}
}
