package kernels_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
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

// built is a kernel with the operands' places and its text.
type built struct {
	kernels.Kernel
	bindings *bind.Bindings
	plan     plan.Kernel
	operands []bind.Operand
}

// border is the bytes that lie before and after the operands of a buffer: enough for a tile of a thousand rows too many.
const border = 4096

// place gives operands ranges as a compiler would: what is written side by side in buffer 0, together with the operands
// named in beside, the planes of a weight side by side, and everything else in a buffer of its own.
func place(operands []bind.Operand, beside ...string) []bind.Operand {
	out := slices.Clone(operands)
	arena, weights := uint64(border), uint64(border)
	for i := range out {
		o := &out[i]
		o.Place = plan.Range{Buffer: i + 1, Offset: border, Bytes: uint64(o.Count) * elemBytes(o.Elem)}
		if slices.Contains(beside, o.Name) || o.Access == plan.ReadWrite && o.Name != kernels.KeyCache && o.Name != kernels.ValueCache && o.Name != kernels.Params {
			o.Place.Buffer, o.Place.Offset = 0, arena
			arena += (o.Place.Bytes + 255) / 256 * 256
		} else if o.Name == kernels.ValueCache { // after the keys
			keys := out[i-1].Place
			o.Place.Buffer, o.Place.Offset = keys.Buffer, keys.Offset+(keys.Bytes+255)/256*256
		} else if slices.Contains([]string{kernels.Codes, kernels.High, kernels.Scales, kernels.Unit}, o.Name) {
			o.Place.Buffer, o.Place.Offset = len(out)+1, weights
			weights += (o.Place.Bytes + 255) / 256 * 256
		}
	}
	return out
}

func elemBytes(elem string) uint64 {
	switch {
	case strings.HasPrefix(elem, "vec4"):
		return 16
	case strings.HasPrefix(elem, "vec2"):
		return 8
	}
	return 4
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
		t.Errorf("%s differs at %s; got:\n%s", path, testtext.Difference(string(want), b.plan.Text), b.plan.Text)
	}
	compile(t, b.plan)
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
		if fold := fmt.Sprintf("(group.y * %du + group.x)", x); strings.Contains(b.plan.Text, "group.y") != (y > 1) ||
			y > 1 && !strings.Contains(b.plan.Text, fold) && !strings.Contains(b.plan.Text, fold[1:len(fold)-1]) {
			t.Errorf("%d rows: grid %v in\n%s", rows, k.Grid, b.plan.Text)
		}
		if rows == 101 {
			compile(t, b.plan)
		}
	}
}
