package golang_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// module is a user's module with generated packages in it. It lies outside this repository and gets kgen from there.
type module struct{ dir string }

func newModule(t *testing.T, packages map[string]golang.Files) module {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	m := module{t.TempDir()}
	m.write(t, "go.mod", "module example.org/user\n\ngo 1.26.0\n\nrequire github.com/kgen-wgsl/kgen v0.0.0\n\n"+
		"replace github.com/kgen-wgsl/kgen => "+root+"\n")
	for name, files := range packages {
		if _, err := files.Commit(filepath.Join(m.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m module) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs the go command in the module and returns what it prints.
func (m module) run(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = m.dir
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func parse(path string) (*ir.Graph, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ir.Parse(path, string(text))
}

// sample is a graph and how to compile it.
type sample struct {
	name    string
	graph   *ir.Graph
	profile string
	opts    codegen.Options
	binding uint64 // the largest binding, where the profile's is too large to cut anything
}

// samples are graphs whose programs differ in what loops, what has which name, and what is placed.
func samples(t *testing.T) []sample {
	t.Helper()
	read := func(path string) *ir.Graph {
		g, err := parse(path)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	golden := func(name string) *ir.Graph { return read("../../golden/cases/" + name + "/graph.ir") }
	return []sample{
		{"plain", golden("q4_0_portable"), "portable", codegen.Options{}, 0},
		{"factors", golden("f32_rope_factors_portable"), "portable", codegen.Options{}, 0},
		{"fast", golden("q4_1_q8_0_fast_subgroups_32"), "portable", codegen.Options{Fast: true}, 0},
		{"kept", golden("q8_0_compat_kept"), "compat", codegen.Options{Keep: []string{"layer.0.in", "layer.1.in", "layer.1.attn_norm"}, Ring: 8}, 0},
		{"qwen3", read("../../models/testdata/qwen3-q4_0.ir"), "portable", codegen.Options{}, 0},
		{"gemma3", read("../../models/testdata/gemma3-q8_0.ir"), "portable", codegen.Options{}, 0},
		{"uneven", uneven(t), "portable", codegen.Options{}, 0},
		{"one", layers(t, 1, nil), "portable", codegen.Options{}, 0},
		{"cut", large(t), "portable", codegen.Options{}, 16 << 10},
	}
}

// layers is a small llama whose tensors have other types where types says so.
func layers(t *testing.T, n int, types map[string]quant.Type) *ir.Graph {
	t.Helper()
	h := models.Hyperparameters{
		Name: "layers", Architecture: "llama", Layers: n, Width: 64, FFN: 96, Heads: 4, KVHeads: 2, HeadDim: 16, Vocab: 128, Context: 64,
		Eps: 1e-5, AttentionScale: 0.25, Activation: ir.SiLU, RoPEStyle: ir.Norm, RoPEDims: 16, RoPEBase: 1e4,
	}
	h.FillTensors(ir.Elem(quant.Q4_0))
	for name, elem := range types {
		h.Tensors[name] = ir.Type{Elem: ir.Elem(elem), Shape: h.Tensors[name].Shape}
	}
	g, err := models.Build(h, models.Options{KV: ir.F16})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// uneven has layers that differ: 2 from all others, and 5 and 6 together.
func uneven(t *testing.T) *ir.Graph {
	return layers(t, 12, map[string]quant.Type{
		"blk.2.attn_k.weight": quant.Q8_0, "blk.5.ffn_down.weight": quant.Q8_0, "blk.6.ffn_down.weight": quant.Q8_0, "output.weight": quant.Q8_0,
	})
}

// large has weights of 24 and 32 KiB: the embedding, the head, and one in each layer but the first.
func large(t *testing.T) *ir.Graph {
	return layers(t, 4, map[string]quant.Type{
		"token_embd.weight": quant.F32, "output.weight": quant.F32,
		"blk.1.ffn_up.weight": quant.F32, "blk.2.ffn_up.weight": quant.F32, "blk.3.ffn_up.weight": quant.F32,
	})
}

// Generated Go makes the plans that the compiler makes in memory, whatever repeats: it is vetted, built and run in a module of
// its own, and prints its plans.
func TestPlansInAModule(t *testing.T) {
	packages := map[string]golang.Files{}
	var imports, calls, want []string
	for _, s := range samples(t) {
		s.opts.Profile, s.opts.Context = profiles(t, s.profile)[0], 64
		if s.binding > 0 {
			s.opts.Profile.Limits.BindingBytes = s.binding
		}
		r, err := codegen.Compile(s.graph, s.opts)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		files, err := golang.Generate(golang.Package{
			Name: s.name, Model: s.name, Command: "go test",
			Variants: []golang.Variant{{Activations: r.Path, KV: "f16", Program: r.Program}},
		})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		packages[s.name] = files
		imports = append(imports, fmt.Sprintf("\t%q\n", "example.org/user/"+s.name))
		calls = append(calls, fmt.Sprintf("\tshow(%s.Variants())\n", s.name))
		want = append(want, fmt.Sprintf("%#v", *r.Plan))
	}
	m := newModule(t, packages)
	slices.Sort(imports)
	m.write(t, "main.go", "package main\n\nimport (\n\t\"fmt\"\n\n"+strings.Join(imports, "")+
		"\n\tkgenrt \"github.com/kgen-wgsl/kgen/runtime\"\n)\n\nfunc main() {\n"+strings.Join(calls, "")+`}

func show(variants []kgenrt.Variant) {
	p, err := variants[0].Plan()
	if err != nil {
		panic(err)
	}
	fmt.Printf("%#v\n", *p)
}
`)
	m.run(t, "vet", "./...")
	got := strings.Split(strings.TrimSuffix(m.run(t, "run", "."), "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d plans, want %d", len(got), len(want))
	}
	for i, s := range samples(t) {
		if got[i] != want[i] {
			t.Errorf("%s: plans differ from byte %d on:\nin memory %s\ngenerated %s", s.name, common(got[i], want[i]), near(want[i], got[i]), near(got[i], want[i]))
		}
	}
}

// common is the length of what two texts start with alike.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// near is the part of a around the first difference from b.
func near(a, b string) string {
	n := common(a, b)
	return a[max(0, n-100):min(len(a), n+100)]
}

// No bytes of records are in generated Go: it has none of the numbers that a list of records starts with, in a row.
func TestNoRecordsInGo(t *testing.T) {
	r, err := codegen.Compile(layers(t, 2, nil), codegen.Options{Profile: profiles(t, "portable")[0], Context: 64})
	if err != nil {
		t.Fatal(err)
	}
	files, err := golang.Generate(golang.Package{
		Name: "x", Model: "x", Command: "go test", Variants: []golang.Variant{{Activations: "exact", KV: "f16", Program: r.Program}},
	})
	if err != nil {
		t.Fatal(err)
	}
	records, _ := r.Plan.List(plan.Decode, 1)
	for name, text := range files {
		if strings.Contains(string(text), "uint32") || strings.Contains(string(text), strings.Trim(fmt.Sprint(records.Records[:8]), "[]")) {
			t.Errorf("%s has records", name)
		}
	}
}
