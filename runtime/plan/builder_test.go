package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample is a plan in the making: a weight, params, activations, two kernels. Each case of TestMistakes breaks one thing.
type sample struct {
	*Builder
	weights, params, first, second int // buffers
	scale, sum                     int // kernels
}

func requires() Requires {
	return Requires{Limits: Limits{StorageBuffers: 3, UniformBuffers: 1, BindingBytes: 4096, UniformBytes: 512, BufferBytes: 8192, Invocations: 64, WorkgroupX: 64, WorkgroupY: 4, WorkgroupZ: 2, WorkgroupBytes: 1024, Workgroups: 1000}}
}

func newSample() *sample {
	s := &sample{Builder: NewBuilder("sample", "tiny", requires())}
	s.weights = s.Buffer(Buffer{"weights", WeightsBuffer, 8192})
	s.params = s.Buffer(Buffer{"params", ParamsBuffer, 512})
	s.first = s.Buffer(Buffer{"first", ArenaBuffer, 4096})
	s.second = s.Buffer(Buffer{"second", ArenaBuffer, 4096})
	s.scale = s.Kernel(scaleKernel())
	s.sum = s.Kernel(sumKernel())
	return s
}

func scaleKernel() Kernel {
	return Kernel{
		Name: "scale", Text: "scale text", Workgroup: [3]int{32, 2, 1}, WorkgroupBytes: 512,
		Bindings: []Binding{{"weights", Read, 1024}, {"factors", Uniform, 256}, {"y", ReadWrite, 512}},
	}
}

func sumKernel() Kernel {
	return Kernel{
		Name: "sum", Text: "sum text", Workgroup: [3]int{64, 1, 1},
		Bindings: []Binding{{"x", Read, 512}, {"a", ReadWrite, 256}, {"b", ReadWrite, 256}},
	}
}

func (s *sample) scaleRanges() []Range {
	return []Range{{s.weights, 256, 1024}, {s.params, 0, 256}, {s.first, 0, 512}}
}

func (s *sample) sumRanges() []Range {
	return []Range{{s.first, 0, 512}, {s.second, 0, 256}, {s.second, 256, 256}}
}

// finish adds what a whole plan has.
func (s *sample) finish() {
	s.Weight(Weight{Tensor: "w", Recipe: halves(s.weights, 0)})
	s.Table(Table{To: Range{s.weights, 6144, 1024}, Base: 10000, Dims: 16, Factor: 1, Positions: 16})
	s.Params(Params{Range: Range{s.params, 0, 512}, Sequences: 1, PagesAt: 8, Pages: 4, RingAt: 12, Ring: 16})
	s.KV(KV{PageTokens: 4, Pages: 2, Layers: []Range{{s.second, 1024, 1024}, {s.second, 2048, 1024}}})
	s.Output("logits", Range{s.second, 0, 512})
	s.Model(100, 16)
	l := s.List(Decode, 1)
	l.Dispatch(s.scale, 8, 1, 1, s.scaleRanges()...)
	l.Dispatch(s.sum, 1, 1, 1, s.sumRanges()...)
	l.Dispatch(s.scale, 8, 1, 1, s.scaleRanges()...)
}

// halves is a recipe that parts words of 4 bytes in two.
func halves(buffer int, offset uint64) Recipe {
	return Recipe{Type: "F32", Rows: 8, RowBlocks: 16, BlockBytes: 4, Planes: []Plane{
		{Name: "low", BlockBits: 16, RowStride: 32, Fields: []Field{{0, 0, 16}}, To: Range{buffer, offset, 256}},
		{Name: "high", BlockBits: 16, RowStride: 32, Fields: []Field{{16, 0, 16}}, To: Range{buffer, offset + 256, 256}},
	}}
}

func TestBuilder(t *testing.T) {
	s := newSample()
	s.finish()
	if again := s.Kernel(scaleKernel()); again != s.scale {
		t.Errorf("the same text is kernel %d and %d", s.scale, again)
	}
	p, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	want := []uint32{0, 0, 8, 1, 1, 1, 1, 1, 1, 1, 0, 0, 8, 1, 1}
	if l, ok := p.List(Decode, 1); !ok || cmp.Diff(l.Records, want) != "" {
		t.Errorf("records: %v", cmp.Diff(l.Records, want))
	}
	groups := []Group{{[]Access{Read, Uniform, ReadWrite}, s.scaleRanges()}, {[]Access{Read, ReadWrite, ReadWrite}, s.sumRanges()}}
	if d := cmp.Diff(p.Groups, groups); d != "" {
		t.Error(d)
	}
	if p.Format != Format1 || p.Vocab != 100 || p.Context != 16 || len(p.Kernels) != 2 || len(p.Buffers) != 4 {
		t.Errorf("%+v", p)
	}
	if o, ok := p.Output("logits"); !ok || o.Range.Bytes != 512 {
		t.Errorf("output %+v", o)
	}
}

func TestMistakes(t *testing.T) {
	kernel := func(change func(k *Kernel)) func(s *sample) {
		return func(s *sample) {
			k := scaleKernel()
			k.Name, k.Text = "broken", "broken text"
			change(&k)
			s.Kernel(k)
		}
	}
	dispatch := func(change func(s *sample, r []Range)) func(s *sample) {
		return func(s *sample) {
			r := s.sumRanges()
			change(s, r)
			s.List(Decode, 1).Dispatch(s.sum, 1, 1, 1, r...)
		}
	}
	grid := func(x, y, z int) func(s *sample) {
		return func(s *sample) { s.List(Decode, 1).Dispatch(s.scale, x, y, z, s.scaleRanges()...) }
	}
	const at = "list decode of 1 columns, dispatch 0, kernel sum"
	for _, c := range []struct {
		name string
		make func(s *sample)
		want error
	}{
		{"buffer without kind", func(s *sample) { s.Buffer(Buffer{"odd", 0, 4}) }, &PlanError{"buffer odd", "it needs a name and a kind"}},
		{"buffer of odd size", func(s *sample) { s.Buffer(Buffer{"odd", KVBuffer, 6}) }, &PlanError{"buffer odd", "its size 6 is not a positive multiple of 4"}},
		{"buffer too large", func(s *sample) { s.Buffer(Buffer{"big", KVBuffer, 8196}) }, &LimitError{"buffer big", LimitBufferBytes, 8196, 8192}},
		{"buffer twice", func(s *sample) { s.Buffer(Buffer{"first", ArenaBuffer, 64}) }, &PlanError{"buffer first", "there are two of this name"}},

		{"kernel without text", kernel(func(k *Kernel) { k.Text = "" }), &PlanError{"kernel broken", "it has no text"}},
		{"too many storage buffers", kernel(func(k *Kernel) {
			k.Bindings = append(k.Bindings, Binding{"c", Read, 4}, Binding{"d", Read, 4})
		}), &LimitError{"kernel broken", LimitStorageBuffers, 4, 3}},
		{"too many uniform buffers", kernel(func(k *Kernel) { k.Bindings = append(k.Bindings, Binding{"c", Uniform, 4}) }), &LimitError{"kernel broken", LimitUniformBuffers, 2, 1}},
		{"storage binding too large", kernel(func(k *Kernel) { k.Bindings[0].Bytes = 4100 }), &LimitError{"kernel broken, binding weights", LimitBindingBytes, 4100, 4096}},
		{"uniform binding too large", kernel(func(k *Kernel) { k.Bindings[1].Bytes = 516 }), &LimitError{"kernel broken, binding factors", LimitUniformBytes, 516, 512}},
		{"binding without size", kernel(func(k *Kernel) { k.Bindings[2].Bytes = 0 }), &PlanError{"kernel broken, binding y", "a binding needs a name and a size"}},
		{"binding without access", kernel(func(k *Kernel) { k.Bindings[2].Access = 0 }), &PlanError{"kernel broken, binding y", "its access is unknown"}},
		{"workgroup x", kernel(func(k *Kernel) { k.Workgroup = [3]int{65, 1, 1} }), &LimitError{"kernel broken", LimitWorkgroupX, 65, 64}},
		{"workgroup y", kernel(func(k *Kernel) { k.Workgroup = [3]int{1, 5, 1} }), &LimitError{"kernel broken", LimitWorkgroupY, 5, 4}},
		{"workgroup z", kernel(func(k *Kernel) { k.Workgroup = [3]int{1, 1, 3} }), &LimitError{"kernel broken", LimitWorkgroupZ, 3, 2}},
		{"workgroup of nothing", kernel(func(k *Kernel) { k.Workgroup = [3]int{1, 1, 0} }), &PlanError{"kernel broken", "its workgroup is 1x1x0"}},
		{"invocations", kernel(func(k *Kernel) { k.Workgroup = [3]int{64, 2, 1} }), &LimitError{"kernel broken", LimitInvocations, 128, 64}},
		{"workgroup memory", kernel(func(k *Kernel) { k.WorkgroupBytes = 1028 }), &LimitError{"kernel broken", LimitWorkgroupBytes, 1028, 1024}},
		{"two texts of a name", kernel(func(k *Kernel) { k.Name = "sum" }), &PlanError{"kernel sum", "two texts have this name"}},
		{"one text, two descriptions", kernel(func(k *Kernel) { k.Text = "sum text" }), &PlanError{"kernel broken", "its text was added before, as sum, with another description"}},

		{"grid of nothing", grid(0, 1, 1), &PlanError{"list decode of 1 columns, dispatch 0, kernel scale", "its grid is 0x1x1"}},
		{"grid too large", grid(1, 1, 1001), &LimitError{"list decode of 1 columns, dispatch 0, kernel scale", LimitWorkgroups, 1001, 1000}},
		{"no such kernel", func(s *sample) { s.List(Decode, 1).Dispatch(7, 1, 1, 1) }, &PlanError{"list decode of 1 columns, dispatch 0", "there is no kernel 7"}},
		{"a range too few", func(s *sample) { s.List(Decode, 1).Dispatch(s.sum, 1, 1, 1, s.sumRanges()[:2]...) }, &PlanError{at, "3 bindings and 2 ranges"}},
		{"no such buffer", dispatch(func(s *sample, r []Range) { r[0].Buffer = 4 }), &PlanError{at + ", binding x", "there is no buffer 4"}},
		{"offset of 64", dispatch(func(s *sample, r []Range) { r[0].Offset = 64 }), &PlanError{at + ", binding x", "its offset 64 is not a multiple of 256"}},
		{"odd bytes", dispatch(func(s *sample, r []Range) { r[0].Bytes = 514 }), &PlanError{at + ", binding x", "its range of 514 bytes is not a positive multiple of 4"}},
		{"range leaves the buffer", dispatch(func(s *sample, r []Range) { r[0].Offset = 3840 }), &PlanError{at + ", binding x", "its range of 512 bytes at 3840 leaves the buffer of 4096"}},
		{"range far outside", dispatch(func(s *sample, r []Range) { r[0].Offset = 1<<64 - 256 }), &PlanError{at + ", binding x", "its range of 512 bytes at 18446744073709551360 leaves the buffer of 4096"}},
		{"range less than the binding", dispatch(func(s *sample, r []Range) { r[0].Bytes = 508 }), &PlanError{at + ", binding x", "it needs 512 bytes, its range has 508"}},
		{"range more than a binding may be", dispatch(func(s *sample, r []Range) { r[0] = Range{s.weights, 0, 4352} }), &LimitError{at + ", binding x", LimitBindingBytes, 4352, 4096}},
		{"read and written", dispatch(func(s *sample, r []Range) { r[0] = Range{s.second, 1024, 512} }), &PlanError{at + ", bindings x and a", "they bind one buffer to be read and to be written"}},
		{"written twice, overlapping", dispatch(func(s *sample, r []Range) { r[2].Offset, r[1].Bytes = 0, 512 }), &PlanError{at + ", bindings a and b", "they are written and overlap"}},
		{"uniform and written", func(s *sample) {
			r := s.scaleRanges()
			r[1].Buffer = s.first
			s.List(Decode, 1).Dispatch(s.scale, 1, 1, 1, r...)
		}, &PlanError{"list decode of 1 columns, dispatch 0, kernel scale, bindings factors and y", "they bind one buffer to be read and to be written"}},

		{"list without phase", func(s *sample) { s.List(0, 1) }, &PlanError{"list phase? of 1 columns", "it needs a phase and at least one column"}},
		{"list without dispatches", func(s *sample) { s.List(Prefill, 4) }, &PlanError{"list prefill of 4 columns", "it is empty"}},
		{"list twice", func(s *sample) {
			for range 2 {
				s.List(Forward, 1).Dispatch(s.sum, 1, 1, 1, s.sumRanges()...)
			}
		}, &PlanError{"list forward of 1 columns", "there are two of this phase and column count"}},

		{"weight outside its buffer", func(s *sample) { s.Weight(Weight{Tensor: "w", Recipe: halves(s.weights, 8192-256)}) }, &PlanError{"weight w, plane high", "its range of 256 bytes at 8192 leaves the buffer of 8192"}},
		{"weight at an odd place", func(s *sample) { s.Weight(Weight{Tensor: "w", Recipe: halves(s.weights, 2)}) }, &PlanError{"weight w", "plane low: its range is not a multiple of 4"}},
		{"weight from a negative row", func(s *sample) { s.Weight(Weight{Tensor: "w", From: -1, Recipe: halves(s.weights, 0)}) }, &PlanError{"weight w", "its first row, -1, is negative"}},
		{"weight beyond any file", func(s *sample) { s.Weight(Weight{Tensor: "w", From: 1 << 48, Recipe: halves(s.weights, 0)}) }, &PlanError{"weight w", "its first row, 281474976710656, lies beyond any file"}},
		{"weight in no buffer", func(s *sample) { s.Weight(Weight{Tensor: "w", Recipe: halves(9, 0)}) }, &PlanError{"weight w, plane low", "there is no buffer 9"}},
		{"weights overlap", func(s *sample) {
			s.Weight(Weight{Tensor: "w", Recipe: halves(s.weights, 0)})
			s.Weight(Weight{Tensor: "v", Recipe: halves(s.weights, 508)})
		}, &PlanError{"weight v, plane low", "it overlaps weight w, plane high"}},
		{"weight overlaps the table", func(s *sample) {
			s.finish()
			s.Weight(Weight{Tensor: "v", Recipe: halves(s.weights, 6144+1020)})
		}, &PlanError{"weight v, plane low", "it overlaps table 0"}},
		{"table too short", func(s *sample) {
			s.Table(Table{To: Range{s.weights, 0, 1020}, Base: 10000, Dims: 16, Factor: 1, Positions: 16})
		}, &PlanError{"table", "16 positions of 16 words do not fit its range of 1020 bytes"}},
		{"table of odd dims", func(s *sample) {
			s.Table(Table{To: Range{s.weights, 0, 1024}, Base: 10000, Dims: 15, Factor: 1, Positions: 16})
		}, &PlanError{"table", "it needs a base, a factor, positions, and an even number of dims"}},
		{"output outside", func(s *sample) { s.Output("logits", Range{s.second, 4000, 100}) }, &PlanError{"output logits", "its range of 100 bytes at 4000 leaves the buffer of 4096"}},
		{"output twice", func(s *sample) {
			s.Output("logits", Range{s.second, 0, 4})
			s.Output("logits", Range{s.second, 4, 4})
		}, &PlanError{"output logits", "outputs need a name each"}},
		{"params too short", func(s *sample) {
			s.Params(Params{Range: Range{s.params, 0, 64}, Sequences: 1, PagesAt: 8, Pages: 4, RingAt: 12, Ring: 16})
		}, &PlanError{"params", "28 words do not fit its range of 64 bytes"}},
		{"params overlap", func(s *sample) {
			s.Params(Params{Range: Range{s.params, 0, 512}, Sequences: 2, PagesAt: 8, Pages: 4, RingAt: 32, Ring: 4})
		}, &PlanError{"params", "records, pages and ring overlap"}},
		{"kv outside", func(s *sample) {
			s.KV(KV{PageTokens: 4, Pages: 2, Layers: []Range{{s.second, 0, 8192}, {s.second, 0, 1024}}})
		}, &PlanError{"keys of layer 0", "its range of 8192 bytes at 0 leaves the buffer of 4096"}},
		{"kv without pages", func(s *sample) { s.KV(KV{PageTokens: 4}) }, &PlanError{"kv", "it needs pages and positions in them"}},
		{"kv layers overlap", func(s *sample) {
			s.KV(KV{PageTokens: 4, Pages: 2, Layers: []Range{{s.second, 0, 1024}, {s.second, 1020, 1024}}})
		}, &PlanError{"values of layer 0", "it overlaps keys of layer 0"}},
		{"keys without values", func(s *sample) { s.KV(KV{PageTokens: 4, Pages: 2, Layers: []Range{{s.second, 1024, 1024}}}) }, &PlanError{"kv", "it has keys without values"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSample()
			c.make(s)
			p, err := s.Plan()
			if p != nil {
				t.Error("there is a plan")
			}
			if d := cmp.Diff(c.want, err); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFirstMistakeSticks makes three mistakes.
func TestFirstMistakeSticks(t *testing.T) {
	s := newSample()
	s.Output("far", Range{9, 0, 4})
	s.Buffer(Buffer{"big", KVBuffer, 1 << 40})
	s.List(Decode, 1).Dispatch(s.sum, 0, 0, 0)
	_, err := s.Plan()
	if d := cmp.Diff(error(&PlanError{"output far", "there is no buffer 9"}), err); d != "" {
		t.Error(d)
	}
}

func TestRequiresCheck(t *testing.T) {
	full := Device{Name: "card", Limits: DefaultLimits(), Subgroups: true, SubgroupSize: 32, F16: true}
	for _, c := range []struct {
		name     string
		requires Requires
		device   func(d *Device)
		want     string
	}{
		{"nothing", Requires{}, nil, ""},
		{"what every device has", Requires{Limits: DefaultLimits(), Subgroups: true, SubgroupSize: 32, F16: true}, nil, ""},
		{"storage buffers", Requires{Limits: Limits{StorageBuffers: 9}}, nil, "card: needs maxStorageBuffersPerShaderStage 9, the limit is 8"},
		{"uniform buffers", Requires{Limits: Limits{UniformBuffers: 13}}, nil, "maxUniformBuffersPerShaderStage"},
		{"binding", Requires{Limits: Limits{BindingBytes: 1 << 30}}, nil, "maxStorageBufferBindingSize"},
		{"uniform binding", Requires{Limits: Limits{UniformBytes: 1 << 30}}, nil, "maxUniformBufferBindingSize"},
		{"buffer", Requires{Limits: Limits{BufferBytes: 1 << 30}}, nil, "maxBufferSize"},
		{"workgroup memory", Requires{Limits: Limits{WorkgroupBytes: 1 << 20}}, nil, "maxComputeWorkgroupStorageSize"},
		{"invocations", Requires{Limits: Limits{Invocations: 512}}, nil, "maxComputeInvocationsPerWorkgroup"},
		{"x", Requires{Limits: Limits{WorkgroupX: 512}}, nil, "maxComputeWorkgroupSizeX"},
		{"y", Requires{Limits: Limits{WorkgroupY: 512}}, nil, "maxComputeWorkgroupSizeY"},
		{"z", Requires{Limits: Limits{WorkgroupZ: 512}}, nil, "maxComputeWorkgroupSizeZ"},
		{"grid", Requires{Limits: Limits{Workgroups: 1 << 20}}, nil, "maxComputeWorkgroupsPerDimension"},
		{"alignment", Requires{Limits: Limits{OffsetAlignment: 32}}, nil, "card: needs minStorageBufferOffsetAlignment 32, the limit is 256"},
		{"loops where nothing caps them", Requires{LoopTrips: 1 << 40}, nil, ""},
		{"loops up to the cap", Requires{LoopTrips: 65535}, func(d *Device) { d.LoopTrips = 65535 }, ""},
		{"loops beyond the cap", Requires{LoopTrips: 65536}, func(d *Device) { d.LoopTrips = 65535 },
			"card: needs loop trips of one invocation 65536, the limit is 65535"},
		{"packed dot", Requires{PackedDot: true}, nil, ""},
		{"packed dot that is wrong", Requires{PackedDot: true}, func(d *Device) { d.BadPackedDot = true },
			"check adapter card: it lacks a packed dot product that is right"},
		{"no packed dot where it is wrong", Requires{}, func(d *Device) { d.BadPackedDot = true }, ""},
		{"f16", Requires{F16: true}, func(d *Device) { d.F16 = false }, "check adapter card: it lacks shader-f16"},
		{"subgroups", Requires{Subgroups: true}, func(d *Device) { d.Subgroups = false }, "check adapter card: it lacks subgroups"},
		{"subgroup size", Requires{SubgroupSize: 32}, func(d *Device) { d.SubgroupSize = 8 }, "it lacks subgroups of 32 consecutive invocations (measured: 8)"},
	} {
		d := full
		if c.device != nil {
			c.device(&d)
		}
		err := c.requires.Check(d)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestNaga(t *testing.T) {
	if got := Naga(EnableSubgroups + "fn main() {}\n"); got != "\nfn main() {}\n" {
		t.Errorf("got %q", got)
	}
}
