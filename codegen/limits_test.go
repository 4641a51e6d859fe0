package codegen_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// gemma3 has the sizes of Gemma 3 1B in Q8_0: a vocabulary of 262144, and heads of 256.
func gemma3() models.Hyperparameters {
	h := models.Hyperparameters{
		Name: "gemma3-1b", Architecture: "gemma3", Layers: 26, Width: 1152, FFN: 6912, Heads: 4, KVHeads: 1, HeadDim: 256, Vocab: 262144, Context: 32768,
		Eps: 1e-6, EmbedScale: 33.94112549695428, AttentionScale: 1. / 16, Activation: ir.GELU, RoPEStyle: ir.NeoX, RoPEDims: 256, RoPEBase: 1e6,
		Window: 512, WindowPeriod: 6, WindowRoPEBase: 1e4, QKNorm: true, PostNorms: true, Tied: true,
	}
	h.FillTensors(ir.Elem(quant.Q8_0))
	return h
}

// everyModel returns the graphs of all presets, and of a Gemma, with as many layers as differ: more are the same again.
func everyModel(t *testing.T) map[string]*ir.Graph {
	t.Helper()
	all := map[string]models.Hyperparameters{"gemma3-1b": gemma3()}
	for _, p := range models.Presets() {
		all[p.Name] = p.Hyperparameters
	}
	graphs := map[string]*ir.Graph{}
	for name, h := range all {
		h.Layers = max(2, h.WindowPeriod)
		maps.DeleteFunc(h.Tensors, func(tensor string, _ ir.Type) bool {
			var layer int
			n, _ := fmt.Sscanf(tensor, "blk.%d.", &layer)
			return n == 1 && layer >= h.Layers
		})
		g, err := models.Build(h, models.Options{KV: ir.F16})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		graphs[name] = g
	}
	return graphs
}

func compile(t *testing.T, g *ir.Graph, p schedules.Profile, fast bool) *plan.Plan {
	t.Helper()
	r, err := codegen.Compile(g, codegen.Options{Profile: p, Context: 2048, Fast: fast})
	if err != nil {
		t.Fatalf("%s for %s: %v", g.Name, p.Name, err)
	}
	return r.Plan
}

var storageVariable = regexp.MustCompile(`(?m)^@group\(\d+\) @binding\(\d+\) var<storage`)

// From eight storage buffers on, every model compiles to one and the same plan, in which no kernel has more than seven: what an
// implementation takes for itself is never missed. With four it compiles too, and no kernel has more.
func TestStorageBuffers(t *testing.T) {
	const most = 7
	storage := func(name string, k plan.Kernel, most int) {
		bound := 0
		for _, b := range k.Bindings {
			if b.Access != plan.Uniform {
				bound++
			}
		}
		if n := len(storageVariable.FindAllString(k.Text, -1)); n == 0 || n > most || n != bound {
			t.Errorf("%s: kernel %s has %d storage buffers in its text, %d are bound, want at most %d", name, k.Name, n, bound, most)
		}
	}
	for name, g := range everyModel(t) {
		for _, fast := range []bool{false, true} {
			p := profile(t, "portable")
			p.Limits.StorageBuffers = 31
			unlimited := compile(t, g, p, fast)
			for _, k := range unlimited.Kernels {
				storage(name, k, most)
			}
			p.Limits.StorageBuffers = 4
			for _, k := range compile(t, g, p, fast).Kernels {
				storage(name, k, 4)
			}
			want := codegen.PlanText(unlimited)
			for _, limit := range []int{8, 9, 10, 16} {
				p.Limits.StorageBuffers = limit
				got := codegen.PlanText(compile(t, g, p, fast))
				if headless(got) != headless(want) {
					t.Errorf("%s: another plan for %d storage buffers than for 31", name, limit)
				}
			}
		}
	}
}

// headless is a plan's text without what it asks of a device.
func headless(text string) string { return text[strings.Index(text, "\nbuffers"):] }

// A limit too small for a kernel is refused when the graph is compiled, by one error with the kernel, what it needs and what there is.
func TestTooFewStorageBuffers(t *testing.T) {
	g := shape(t, 2, quant.Q4_1, ir.F16)
	for _, limit := range []int{1, 2, 3} {
		p := profile(t, "portable")
		p.Limits.StorageBuffers = limit
		_, err := codegen.Compile(g, codegen.Options{Profile: p, Context: 64})
		var e *plan.LimitError
		if !errors.As(err, &e) || e.Limit != plan.LimitStorageBuffers || e.Have != uint64(limit) || e.Need <= e.Have || e.Subject == "" {
			t.Errorf("%d storage buffers: %v", limit, err)
			continue
		}
		for _, part := range []string{e.Subject, fmt.Sprint(e.Need), fmt.Sprint("the limit is ", limit)} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%d storage buffers: %q lacks %q", limit, err, part)
			}
		}
	}
}

// Segments of an embedding of 285 MB: they follow each other, no kernel binds more than the cap, all at offsets that every device takes,
// and each row lies whole in one segment.
func TestGemmaEmbedding(t *testing.T) {
	g := everyModel(t)["gemma3-1b"]
	const rows, columns = 262144, 1152
	for _, c := range []struct {
		binding  uint64
		segments int
	}{{1 << 27, 3}, {1<<27 - 1, 3}, {200_000_001, 2}, {1 << 30, 1}} {
		for _, alignment := range []int{32, 64, 256} {
			p := profile(t, "portable")
			p.Limits.BindingBytes, p.Limits.BufferBytes, p.Limits.OffsetAlignment = c.binding, 1<<30, alignment
			r := compile(t, g, p, false)
			var parts []plan.Weight
			for _, w := range r.Weights {
				if w.Tensor == "token_embd.weight" {
					parts = append(parts, w)
				}
			}
			if len(parts) != c.segments {
				t.Fatalf("bindings of %d: %d segments, want %d", c.binding, len(parts), c.segments)
			}
			for _, row := range []int{0, 109_631, 109_632, 219_264, rows - 1} {
				if n := holders(parts, row); n != 1 {
					t.Errorf("bindings of %d: row %d is in %d segments", c.binding, row, n)
				}
			}
			next := 0
			for _, w := range parts {
				if w.From != next || len(w.Recipe.Planes) != 2 {
					t.Errorf("bindings of %d: a segment from row %d on follows row %d", c.binding, w.From, next)
				}
				next += w.Recipe.Rows
				for i, plane := range w.Recipe.Planes {
					if want := uint64(w.Recipe.Rows * columns * []int{32, 2}[i] / 32); plane.To.Bytes != want || want > c.binding {
						t.Errorf("bindings of %d: %s of %d rows have %d bytes, want %d", c.binding, plane.Name, w.Recipe.Rows, plane.To.Bytes, want)
					}
				}
			}
			if next != rows {
				t.Errorf("bindings of %d: %d rows", c.binding, next)
			}
			for _, group := range r.Groups {
				for _, at := range group.Ranges {
					if at.Bytes > c.binding || at.Offset%256 != 0 {
						t.Errorf("bindings of %d: %d bytes at %d are bound", c.binding, at.Bytes, at.Offset)
					}
				}
			}
			if need := r.Requires.Limits.BindingBytes; need != c.binding {
				t.Errorf("a device is asked for bindings of %d, the profile has %d", need, c.binding)
			}
		}
	}
}

// holders counts the segments that have a row.
func holders(parts []plan.Weight, row int) (n int) {
	for _, w := range parts {
		if row >= w.From && row < w.From+w.Recipe.Rows {
			n++
		}
	}
	return n
}

var (
	workgroupSize   = regexp.MustCompile(`@workgroup_size\((\d+)(?:, (\d+))?(?:, (\d+))?\)`)
	workgroupMemory = regexp.MustCompile(`(?m)^var<workgroup> \w+: array<(\w+(?:<\w+>)?), (\d+)>;$`)
)

// measure reads a kernel's workgroup and the bytes of its memory from the text, each array rounded up to 16 bytes.
func measure(t *testing.T, text string) (size [3]int, bytes int) {
	t.Helper()
	found := workgroupSize.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no workgroup size in\n%s", text)
	}
	for i := range size {
		size[i] = 1
		if found[1+i] != "" {
			size[i], _ = strconv.Atoi(found[1+i])
		}
	}
	arrays := workgroupMemory.FindAllStringSubmatch(text, -1)
	if len(arrays) != strings.Count(text, "var<workgroup>") {
		t.Fatalf("workgroup memory that is no array in\n%s", text)
	}
	for _, a := range arrays {
		stride := map[string]int{"f32": 4, "u32": 4, "i32": 4, "vec2<f32>": 8, "vec4<f32>": 16, "vec2<u32>": 8, "vec4<u32>": 16}[a[1]]
		n, _ := strconv.Atoi(a[2])
		if stride == 0 {
			t.Fatalf("no size of %s", a[1])
		}
		bytes += (stride*n + 15) / 16 * 16
	}
	return size, bytes
}

// Heads of any size get a schedule that fits devices with few threads and little memory in a workgroup; none is refused.
func TestSmallWorkgroups(t *testing.T) {
	for _, limit := range []struct{ invocations, bytes int }{{128, 16352}, {256, 16384}, {256, 32768}, {1024, 49152}} {
		for _, head := range []int{64, 128, 256, 512} {
			h := models.Hyperparameters{
				Name: "heads", Architecture: "llama", Layers: 2, Width: 512, FFN: 1024, Heads: 4, KVHeads: 2, HeadDim: head, Vocab: 512, Context: 512,
				Eps: 1e-5, AttentionScale: 0.1, Activation: ir.SiLU, RoPEStyle: ir.NeoX, RoPEDims: head, RoPEBase: 1e4, QKNorm: true,
			}
			h.FillTensors(ir.Elem(quant.Q4_0))
			for _, kv := range []ir.Elem{ir.F16, ir.F32} {
				g, err := models.Build(h, models.Options{KV: kv})
				if err != nil {
					t.Fatal(err)
				}
				p := profile(t, "portable")
				p.Limits.Invocations, p.Limits.WorkgroupX, p.Limits.WorkgroupBytes = limit.invocations, limit.invocations, limit.bytes
				for _, fast := range []bool{false, true} {
					for _, k := range compile(t, g, p, fast).Kernels {
						size, bytes := measure(t, k.Text)
						if size[0]*size[1]*size[2] > limit.invocations || size[2] > 64 || bytes > limit.bytes {
							t.Errorf("%+v, heads of %d: %s has %v threads and %d bytes", limit, head, k.Name, size, bytes)
						}
						if size != k.Workgroup || bytes != k.WorkgroupBytes {
							t.Errorf("%s: its text has %v threads and %d bytes, the plan %v and %d", k.Name, size, bytes, k.Workgroup, k.WorkgroupBytes)
						}
					}
				}
			}
		}
	}
}

// Rows wider than a workgroup has threads are walked in a loop: no thread takes one element of a row for granted.
func TestWideRows(t *testing.T) {
	p := profile(t, "portable")
	for _, width := range []int{255, 256, 257, 300, 512, 1000} {
		s := schedules.DefaultRowReduce(width, p)
		k, err := kernels.RMSNorm{Rows: 1, Columns: width, Eps: 1e-5}.Kernel(s, p)
		if err != nil || k.Workgroup > p.Limits.Invocations {
			t.Errorf("rows of %d: %d threads, %v", width, k.Workgroup, err)
		}
		a := schedules.AttentionProblem{Heads: 1, KVHeads: 1, Size: width, Context: 1000}
		legal := schedules.DefaultAttention(a, p).Legal(a, p)
		if (legal == nil) != slices.Contains([]int{256, 300, 512}, width) {
			t.Errorf("heads of %d: %v", width, legal)
		}
	}
}
