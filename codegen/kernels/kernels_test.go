package kernels_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

func Example() {
	profile, err := schedules.Lookup("compat")
	if err != nil {
		panic(err)
	}
	k, err := kernels.Softcap{N: 64, Cap: 30}.Kernel(schedules.DefaultElementwise(profile), profile)
	if err != nil {
		panic(err)
	}
	b, err := bind.Plan(k.Name, k.Operands, profile.Limits)
	if err != nil {
		panic(err)
	}
	compiled, err := kernels.Emit(k, b)
	if err != nil {
		panic(err)
	}
	fmt.Println(k.Name, k.Grid) // compiled.Name has a hash of the text added
	fmt.Println(compiled.Text)
	// Output:
	// softcap_64 [1 1 1]
	// // y = 30·tanh(x/30) of 64 values
	// // workgroup=64
	// @group(0) @binding(0) var<storage, read> x: array<vec4<f32>, 16>;
	// @group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>, 16>;
	//
	// @compute @workgroup_size(64)
	// fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
	//   let i = group.x * 64u + local;
	//   if (i < 16u) {
	//     let z = x[i] * 0.06666667f;
	//     let e = exp(select(z, vec4<f32>(80.0), z > vec4<f32>(80.0)));
	//     y[i] = 30.0f * (1.0 - 2.0 / (e + 1.0));
	//   }
	// }
}

// Bits of a block go to planes once each, for every format that schedules allow.
func TestPlanesCoverTheBlock(t *testing.T) {
	for _, format := range kernels.Formats() {
		const rows = 3
		columns := suite.WholeBlocks(format, 96)
		recipe, err := kernels.Recipe(format, columns)
		if err != nil {
			t.Fatal(err)
		}
		recipe.Rows = rows
		for i := range recipe.Planes {
			p := &recipe.Planes[i]
			if want := recipe.RowBlocks * p.BlockBits / 8; p.RowStride != want {
				t.Errorf("%v %s: stride %d, want %d", format, p.Name, p.RowStride, want)
			}
			p.To = plan.Range{Buffer: i, Bytes: uint64((rows*p.RowStride + 3) / 4 * 4)}
		}
		if err := recipe.Check(); err != nil {
			t.Errorf("%v: %v", format, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	p := profile(t, "portable")
	each := schedules.DefaultElementwise(p)
	recipeError := func(format quant.Type, columns int) error {
		_, err := kernels.Recipe(format, columns)
		return err
	}
	kernelError := func(_ kernels.Kernel, err error) error { return err }
	gemv := func(g kernels.GEMV, change func(*schedules.GEMV)) error {
		s := schedules.DefaultGEMV(g.Problem(), p)
		if change != nil {
			change(&s)
		}
		return kernelError(g.Kernel(s, p))
	}
	rope := func(change func(*kernels.RoPEKV)) error {
		r := kernels.RoPEKV{Heads: 2, KVHeads: 1, Size: 64, Dims: 64, Style: ir.Norm, Positions: 8, Params: params, KV: cache(false)}
		change(&r)
		return kernelError(r.Kernel(each, p))
	}
	attention := func(change func(*kernels.AttentionDecode)) error {
		a := kernels.AttentionDecode{Heads: 2, KVHeads: 1, Size: 64, Scale: 1, Params: params, KV: cache(false)}
		change(&a)
		return kernelError(a.Kernel(schedules.Attention{Workgroup: 64}, p))
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{recipeError(quant.Q8_K, 256), "weights of type Q8_K: no kernel reads them yet"},
		{recipeError(quant.Q4_0, 40), "rows of 40 values are no whole blocks of Q4_0, 32"},
		{gemv(kernels.GEMV{Format: quant.Q4_0, Columns: 33, Results: []int{8}}, nil), "Columns: 33 is not a multiple of 32"},
		{gemv(kernels.GEMV{Format: quant.Q4_0, Columns: 32, Results: []int{8}}, func(s *schedules.GEMV) { s.Order.SplitK = 2 }), "Order.SplitK: 2 is not built yet"},
		{gemv(kernels.GEMV{Format: quant.Q4_0, Columns: 32, Results: []int{7, 9}}, nil), "weight 0 of 7 rows of 32 Q4_0 values ends within a word of its scales"},
		{gemv(kernels.GEMV{Format: quant.Q4_0, Columns: 32, Results: []int{10, -1}}, nil), "result 1 of -1 rows"},
		{gemv(kernels.GEMV{Format: quant.F16, Columns: 32, Results: []int{8}, X: schedules.XQ8}, nil), "X: q8 is not built yet for weights of F16"},
		{gemv(kernels.GEMV{Format: quant.Q4_0, Columns: 32, Results: []int{8}, X: schedules.XQ8}, func(s *schedules.GEMV) { s.Order.XType = schedules.XF32 }), "Order.XType: f32 where x is given as q8"},
		{kernelError(kernels.QuantQ8{Columns: 48}.Kernel(schedules.DefaultQuantQ8(p), p)), "Columns: 48 is not a positive multiple of 32"},
		{kernelError(kernels.Embed{Format: quant.F16, Rows: 4, Columns: 3, Params: params}.Kernel(each, p)), "rows start at whole words"},
		{kernelError(kernels.Embed{Format: quant.F16, Rows: 0, Columns: 4, Params: params}.Kernel(each, p)), "embedding of 0 rows"},
		{kernelError(kernels.Embed{Format: quant.F32, Rows: 4, Columns: 4, From: 5, Of: 8, Params: params}.Kernel(each, p)), "4 rows from row 5 on, of 8"},
		{kernelError(kernels.RMSNorm{Rows: 0, Columns: 4}.Kernel(schedules.DefaultRowReduce(4, p), p)), "0 rows are not within"},
		{kernelError(kernels.RMSNorm{Rows: 1, Columns: 4}.Kernel(schedules.RowReduce{Workgroup: 48, Reduce: schedules.ReduceTree}, p)), "Workgroup: 48"},
		{kernelError(kernels.Add{N: 0}.Kernel(each, p)), "Elements: 0"},
		{kernelError(kernels.GLU{N: 4}.Kernel(each, p)), "no activation 0"},
		{kernelError(kernels.Softcap{N: 4}.Kernel(each, p)), "cap 0 is not positive"},
		{kernelError(kernels.ArgMaxPartials{N: 0}.Kernel(schedules.ArgMax{Workgroup: 64, Partials: 1}, p)), "Values: 0"},
		{kernelError(kernels.Advance{}.Kernel()), "a ring of 0 words"},
		{rope(func(r *kernels.RoPEKV) { r.Dims = 66 }), "66 rotated dimensions"},
		{rope(func(r *kernels.RoPEKV) { r.Size = 63 }), "head size 63"},
		{rope(func(r *kernels.RoPEKV) { r.Style = 0 }), "no style 0"},
		{rope(func(r *kernels.RoPEKV) { r.KVHeads = 0 }), "0 key heads"},
		{rope(func(r *kernels.RoPEKV) { r.Positions = 0 }), "a table of 0 positions"},
		{rope(func(r *kernels.RoPEKV) { r.KV.Pages = 0 }), "a cache of 0 pages"},
		{attention(func(a *kernels.AttentionDecode) { a.Size = 66 }), "Size: 66"},
		{attention(func(a *kernels.AttentionDecode) { a.Scale = 0 }), "scale 0"},
		{attention(func(a *kernels.AttentionDecode) { a.KV.PageTokens = 0 }), "pages of 0 tokens"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

// A mistake in a kernel's text is reported with the kernel and the Go line.
func TestEmitReportsMistakes(t *testing.T) {
	p := profile(t, "portable")
	k, err := kernels.Add{N: 64}.Kernel(schedules.DefaultElementwise(p), p)
	if err != nil {
		t.Fatal(err)
	}
	k.Operands[1].Name = "other"
	b, err := bind.Plan(k.Name, k.Operands, p.Limits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kernels.Emit(k, b); err == nil || !strings.Contains(err.Error(), "kernel add_64: ") || !strings.Contains(err.Error(), "kernels/add.go:") {
		t.Errorf("got %v", err)
	}
}
