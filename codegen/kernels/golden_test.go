package kernels_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// params is a block for one sequence with 4 pages and a ring of 16.
var params = plan.Params{Sequences: 1, PagesAt: plan.ParamsRecordWords, Pages: 4, RingAt: plan.ParamsRecordWords + 4, Ring: 16}

func profile(t testing.TB, name string) schedules.Profile {
	t.Helper()
	p, err := schedules.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// built is a kernel with the operands' places and its text.
type built struct {
	kernels.Kernel
	bindings *bind.Bindings
	plan     plan.Kernel
	operands []bind.Operand
}

// place gives operands ranges as a compiler would: what is written side by side in one buffer, everything else in a buffer
// of its own but for operands named in beside, which join the written ones.
func place(operands []bind.Operand, beside ...string) []bind.Operand {
	bytes := func(o bind.Operand) uint64 {
		switch {
		case strings.HasPrefix(o.Elem, "vec4"):
			return uint64(o.Count) * 16
		case strings.HasPrefix(o.Elem, "vec2"):
			return uint64(o.Count) * 8
		}
		return uint64(o.Count) * 4
	}
	out := make([]bind.Operand, len(operands))
	arena := uint64(0)
	for i, o := range operands {
		o.Place = plan.Range{Buffer: i + 1, Bytes: bytes(o)}
		joins := o.Access == plan.ReadWrite && o.Name != kernels.KV && o.Name != kernels.Params
		for _, name := range beside {
			joins = joins || o.Name == name
		}
		if joins {
			o.Place.Buffer, o.Place.Offset = 0, arena
			arena += (o.Place.Bytes + 255) / 256 * 256
		}
		out[i] = o
	}
	return out
}

// build binds the operands of a kernel within four storage bindings and emits it.
func build(t testing.TB, k kernels.Kernel, err error, beside ...string) built {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	operands := place(k.Operands, beside...)
	b, err := bind.Plan(k.Name, operands, profile(t, "compat").Limits)
	if err != nil {
		t.Fatal(err)
	}
	pk, err := kernels.Emit(k, b)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(pk.Name, k.Name+"_") || pk.Workgroup[0] != k.Workgroup || len(pk.Bindings) != len(b.List) {
		t.Errorf("%s: %+v", k.Name, pk)
	}
	return built{k, b, pk, operands}
}

// golden compares a kernel's text with its file, and has every WGSL compiler on PATH read it.
func golden(t *testing.T, b built) {
	t.Helper()
	path := filepath.Join("testdata", b.Name+".wgsl")
	if *update {
		if err := os.WriteFile(path, []byte(b.plan.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.plan.Text {
		t.Errorf("%s differs; got:\n%s", path, b.plan.Text)
	}
	compile(t, b.plan)
}

// compile has the compilers on PATH judge a kernel; naga gets the text as it does at run time.
func compile(t *testing.T, k plan.Kernel) {
	t.Helper()
	for _, c := range []struct {
		tool, text string
		args       []string
	}{
		{"tint", k.Text, []string{"--format", "wgsl"}},
		{"naga", plan.Naga(k.Text), nil},
	} {
		tool, err := exec.LookPath(c.tool)
		if errors.Is(err, exec.ErrNotFound) {
			continue
		}
		file := filepath.Join(t.TempDir(), "kernel.wgsl")
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(tool, append(c.args, file)...).CombinedOutput(); err != nil {
			t.Errorf("%s refuses %s: %v\n%s\n%s", c.tool, k.Name, err, out, c.text)
		}
	}
}

func TestGEMVGoldens(t *testing.T) {
	portable, h200 := profile(t, "portable"), profile(t, "nvidia-h200")
	for _, c := range []struct {
		gemv    kernels.GEMV
		profile schedules.Profile
		rows    int // of a thread; 0 is the default's
	}{
		{kernels.GEMV{Format: quant.Q4_0, Columns: 64, Results: []int{100}, Epilogue: kernels.Store}, portable, 0},
		{kernels.GEMV{Format: quant.Q4_1, Columns: 576, Results: []int{576}, Epilogue: kernels.AddResidual}, portable, 0},
		{kernels.GEMV{Format: quant.Q4_1, Columns: 576, Results: []int{576, 192, 192}, Epilogue: kernels.Store}, h200, 2},
		{kernels.GEMV{Format: quant.Q8_0, Columns: 96, Results: []int{8, 9}, Epilogue: kernels.Store}, portable, 2},
		{kernels.GEMV{Format: quant.F16, Columns: 80, Results: []int{64}, Epilogue: kernels.Store}, portable, 0},
		{kernels.GEMV{Format: quant.F16, Columns: 6, Results: []int{5}, Epilogue: kernels.Store}, portable, 0},
		{kernels.GEMV{Format: quant.F32, Columns: 36, Results: []int{128}, Epilogue: kernels.AddResidual}, portable, 0},
		{kernels.GEMV{Format: quant.F32, Columns: 33, Results: []int{3}, Epilogue: kernels.Store}, portable, 0},
	} {
		s := schedules.DefaultGEMV(c.gemv.Problem(), c.profile)
		if c.rows > 0 {
			s.RowsPerThread = c.rows
		}
		k, err := c.gemv.Kernel(s, c.profile)
		golden(t, build(t, k, err))
	}
}

func TestEmbedGoldens(t *testing.T) {
	p := profile(t, "portable")
	for format, columns := range map[quant.Type]int{quant.F32: 33, quant.F16: 80, quant.Q8_0: 576, quant.Q4_0: 96, quant.Q4_1: 256} {
		e := kernels.Embed{Format: format, Rows: 100, Columns: columns, Params: params}
		if format == quant.Q4_0 {
			e.Scale = 9.797958971132712 // the square root of 96
		}
		k, err := e.Kernel(schedules.DefaultElementwise(p), p)
		golden(t, build(t, k, err))
	}
}

func TestRowGoldens(t *testing.T) {
	p := profile(t, "portable")
	k, err := kernels.RMSNorm{Rows: 1, Columns: 576, Eps: 1e-5}.Kernel(schedules.DefaultRowReduce(576, p), p)
	golden(t, build(t, k, err))
	k, err = kernels.RMSNorm{Rows: 9, Columns: 65, Eps: 1e-6}.Kernel(schedules.DefaultRowReduce(65, p), p)
	golden(t, build(t, k, err))
	k, err = kernels.Add{N: 576, InPlace: true}.Kernel(schedules.DefaultElementwise(p), p)
	golden(t, build(t, k, err))
	k, err = kernels.Add{N: 577}.Kernel(schedules.DefaultElementwise(p), p)
	golden(t, build(t, k, err))
}

// Grids beyond one dimension are folded: every number has a workgroup, and few workgroups have no number.
func TestFoldedGrid(t *testing.T) {
	p := profile(t, "portable")
	p.Limits.Workgroups = 100
	for _, rows := range []int{1, 99, 100, 101, 250, 9999, 10000} {
		g := kernels.GEMV{Format: quant.F32, Columns: 4, Results: []int{rows}, Epilogue: kernels.Store}
		s := schedules.DefaultGEMV(g.Problem(), p)
		s.Workgroup = 1
		k, err := g.Kernel(s, p)
		b := build(t, k, err)
		x, y := k.Grid[0], k.Grid[1]
		if x > 100 || y > 100 || x*y < rows || x*y-rows >= y || k.Grid[2] != 1 {
			t.Errorf("%d rows: %v", rows, k.Grid)
		}
		if fold := fmt.Sprintf("(group.y * %du + group.x)", x); strings.Contains(b.plan.Text, "group.y") != (y > 1) ||
			y > 1 && !strings.Contains(b.plan.Text, fold) && !strings.Contains(b.plan.Text, fold[1:len(fold)-1]) {
			t.Errorf("%d rows: grid %v in\n%s", rows, k.Grid, b.plan.Text)
		}
		if rows == 101 {
			compile(t, b.plan)
		}
	}
}
