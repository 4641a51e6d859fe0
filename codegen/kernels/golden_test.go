package kernels_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/internal/testtext"
	"github.com/kgen-wgsl/kgen/ir"
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

// build binds the operands of a kernel within four storage bindings and emits it.
func build(t testing.TB, k kernels.Kernel, err error, beside ...string) *suite.Kernel {
	t.Helper()
	b, err := suite.Build(k, err, profile(t, "compat").Limits, beside...)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.Plan.Name, k.Name+"_") || b.Plan.Workgroup[0] != k.Workgroup || len(b.Plan.Bindings) != len(b.Ranges) {
		t.Errorf("%s: %+v", k.Name, b.Plan)
	}
	return b
}

// golden compares a kernel's text with its file, and has every WGSL compiler on PATH read it.
func golden(t *testing.T, b *suite.Kernel) {
	t.Helper()
	path := filepath.Join("testdata", b.Name+".wgsl")
	if *update {
		if err := os.WriteFile(path, []byte(b.Plan.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.Plan.Text {
		t.Errorf("%s differs at %s; got:\n%s", path, testtext.Difference(string(want), b.Plan.Text), b.Plan.Text)
	}
	compile(t, b.Plan)
}

// compile has the compilers on PATH judge a kernel.
func compile(t *testing.T, k plan.Kernel) {
	t.Helper()
	compilers, _ := judge.Commands(t.Context(), time.Minute)
	for _, c := range compilers {
		err := c.Judge(t.Context(), []judge.Text{{Name: k.Name, WGSL: k.Text}}, func(_ int, v judge.Verdict) {
			if v.Outcome != judge.Passed {
				t.Errorf("%s, %s: %s: %s\n%s\n%s", k.Name, c.Name(), v.Outcome, v.Message, v.Detail, k.Text)
			}
		})
		if err != nil {
			t.Fatal(err)
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
	e := kernels.Embed{Format: quant.Q8_0, Rows: 64, Columns: 96, From: 128, Of: 200, Params: params}
	k, err := e.Kernel(schedules.DefaultElementwise(p), p)
	golden(t, build(t, k, err))
}

func TestRowGoldens(t *testing.T) {
	p := profile(t, "portable")
	k, err := kernels.RMSNorm{Rows: 1, Columns: 576, Eps: 1e-5}.Kernel(schedules.DefaultRowReduce(576, p), p)
	golden(t, build(t, k, err))
	k, err = kernels.RMSNorm{Rows: 16, Columns: 128, Eps: 1e-6, InPlace: true}.Kernel(schedules.DefaultRowReduce(128, p), p)
	golden(t, build(t, k, err))
	k, err = kernels.RMSNorm{Rows: 9, Columns: 65, Eps: 1e-6}.Kernel(schedules.DefaultRowReduce(65, p), p)
	golden(t, build(t, k, err))
	k, err = kernels.Add{N: 576, InPlace: true}.Kernel(schedules.DefaultElementwise(p), p)
	golden(t, build(t, k, err))
	k, err = kernels.Add{N: 577}.Kernel(schedules.DefaultElementwise(p), p)
	golden(t, build(t, k, err))
}

func cache(f16 bool) plan.KV { return plan.KV{PageTokens: 32, Pages: 5, F16: f16} }

func TestRoPEGoldens(t *testing.T) {
	p := profile(t, "portable")
	for _, r := range []kernels.RoPEKV{
		{Heads: 9, KVHeads: 3, Size: 64, Dims: 64, Style: ir.Norm, Positions: 128, Params: params, KV: cache(false)},
		{Heads: 8, KVHeads: 2, Size: 64, Dims: 64, Style: ir.NeoX, Positions: 128, Params: params, KV: cache(true)},
		{Heads: 4, KVHeads: 4, Size: 80, Dims: 20, Style: ir.NeoX, Positions: 128, Params: params, KV: cache(false)},
		{Heads: 2, KVHeads: 1, Size: 96, Dims: 32, Style: ir.Norm, Positions: 128, Params: params, KV: cache(true)},
	} {
		k, err := r.Kernel(schedules.DefaultElementwise(p), p)
		golden(t, build(t, k, err, kernels.K, kernels.V))
	}
}

func TestAttentionGoldens(t *testing.T) {
	p := profile(t, "portable")
	for _, a := range []kernels.AttentionDecode{
		{Heads: 9, KVHeads: 3, Size: 64, Scale: 0.125, Params: params, KV: cache(false)},
		{Heads: 8, KVHeads: 2, Size: 80, Scale: 0.11180339887, Params: params, KV: cache(true)},
		{Heads: 2, KVHeads: 1, Size: 96, Scale: 0.0625, Window: 16, Params: params, KV: cache(false)},
	} {
		k, err := a.Kernel(schedules.DefaultAttention(a.Problem(), p), p)
		golden(t, build(t, k, err))
	}
}

func TestElementwiseGoldens(t *testing.T) {
	p := profile(t, "portable")
	s := schedules.DefaultElementwise(p)
	k, err := kernels.GLU{N: 1536, Act: ir.SiLU}.Kernel(s, p)
	golden(t, build(t, k, err))
	k, err = kernels.GLU{N: 257, Act: ir.GELU}.Kernel(s, p)
	golden(t, build(t, k, err))
	k, err = kernels.Softcap{N: 1000, Cap: 30}.Kernel(s, p)
	golden(t, build(t, k, err))
}

func TestSamplingGoldens(t *testing.T) {
	p := profile(t, "portable")
	s := schedules.DefaultArgMax(49152, p)
	k, err := kernels.ArgMaxPartials{N: 49152}.Kernel(s, p)
	golden(t, build(t, k, err))
	k, err = kernels.ArgMaxFinal{N: 49152, Params: params}.Kernel(s, p)
	golden(t, build(t, k, err))
	k, err = kernels.Advance{Params: params}.Kernel()
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
		if fold := fmt.Sprintf("(group.y * %du + group.x)", x); strings.Contains(b.Plan.Text, "group.y") != (y > 1) ||
			y > 1 && !strings.Contains(b.Plan.Text, fold) && !strings.Contains(b.Plan.Text, fold[1:len(fold)-1]) {
			t.Errorf("%d rows: grid %v in\n%s", rows, k.Grid, b.Plan.Text)
		}
		if rows == 101 {
			compile(t, b.Plan)
		}
	}
}
