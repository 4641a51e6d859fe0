package kernels_test

import (
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/schedules"
)

func TestQ8Goldens(t *testing.T) {
	portable, compat, h200 := profile(t, "portable"), profile(t, "compat"), profile(t, "nvidia-h200")
	for _, columns := range []int{576, 96} {
		k, err := kernels.QuantQ8{Columns: columns}.Kernel(schedules.DefaultQuantQ8(portable), portable)
		golden(t, build(t, k, err))
	}
	for _, c := range []struct {
		gemv    kernels.GEMV
		profile schedules.Profile
		rows    int // of a thread; 0 is the default's
	}{
		{kernels.GEMV{Format: quant.Q4_0, Columns: 64, Results: []int{100}, Epilogue: kernels.Store}, portable, 0},
		{kernels.GEMV{Format: quant.Q4_0, Columns: 96, Results: []int{64}, Epilogue: kernels.Store}, compat, 2},
		{kernels.GEMV{Format: quant.Q4_1, Columns: 576, Results: []int{576}, Epilogue: kernels.AddResidual}, portable, 0},
		{kernels.GEMV{Format: quant.Q4_1, Columns: 576, Results: []int{576, 192, 192}, Epilogue: kernels.Store}, h200, 2},
		{kernels.GEMV{Format: quant.Q8_0, Columns: 96, Results: []int{8, 9}, Epilogue: kernels.Store}, portable, 2},
		{kernels.GEMV{Format: quant.Q8_0, Columns: 64, Results: []int{64}, Epilogue: kernels.Store}, compat, 0},
	} {
		c.gemv.X = schedules.XQ8
		s := schedules.DefaultGEMV(c.gemv.Problem(), c.profile)
		if c.rows > 0 {
			s.RowsPerThread = c.rows
		}
		k, err := c.gemv.Kernel(s, c.profile)
		golden(t, build(t, k, err))
	}
}

// testOwnCodes multiplies with what QuantQ8 makes on this device, and compares with the evaluator's product of the same codes.
func testOwnCodes(t *testing.T, d device) {
	const columns, rows = 768, 65
	profiles := d.profiles()
	if !wholeSuite() {
		profiles = profiles[:1]
	}
	for _, p := range profiles {
		for i, format := range kernels.FormatsQ8() {
			r := suite.Random(uint64(i))
			k, err := kernels.QuantQ8{Columns: columns}.Kernel(schedules.DefaultQuantQ8(p), p)
			x, err := suite.ReadQ8(d.run(t, build(t, k, err), map[string][]byte{kernels.X: suite.Floats(suite.Normal(r, columns, 1))})[kernels.Y], columns)
			if err != nil {
				t.Fatal(err)
			}
			g := kernels.GEMV{Format: format, Columns: columns, Results: []int{rows}, X: schedules.XQ8, Epilogue: kernels.Store}
			k, err = g.Kernel(schedules.DefaultGEMV(g.Problem(), p), p)
			b, w := build(t, k, err), newWeight(t, r, format, rows, columns)
			inputs := map[string][]byte{kernels.X: x.Bytes()}
			planes(t, b, format, columns, g.Results, []suite.Weight{w}, inputs)
			var all []suite.Row
			for row := range rows {
				all = append(all, suite.Row{Weight: w, Row: row})
			}
			want, err := suite.ProductQ8(format, columns, x, all)
			if err != nil {
				t.Fatal(err)
			}
			if e := suite.NMSE(suite.Unfloats(d.run(t, b, inputs)[kernels.Result(0)]), want); !(e <= 1e-10) {
				t.Errorf("%s, %s: NMSE %.3g exceeds 1e-10", b.Name, p.Name, e)
			}
		}
	}
}

// testGEMVFolded is a head of 262144 rows with a workgroup for each: more than one dimension of a grid holds.
func testGEMVFolded(t *testing.T, d device) {
	const rows, columns = 262144, 32
	g := kernels.GEMV{Format: quant.Q8_0, Columns: columns, Results: []int{rows}, Epilogue: kernels.Store}
	s := schedules.DefaultGEMV(g.Problem(), d.portable)
	s.Workgroup, s.RowsPerThread = 1, 1
	k, err := g.Kernel(s, d.portable)
	if err != nil {
		t.Fatal(err)
	}
	if k.Grid[1] < 2 || k.Grid[0]*k.Grid[1] <= rows {
		t.Fatalf("a grid of %v has no second dimension, or no workgroups to spare", k.Grid)
	}
	r := suite.Random(1)
	x, w := suite.Normal(r, columns, 1), newWeight(t, r, g.Format, rows, columns)
	b := build(t, k, nil)
	inputs := map[string][]byte{kernels.X: suite.Floats(x)}
	planes(t, b, g.Format, columns, g.Results, []suite.Weight{w}, inputs)
	var all []suite.Row
	for row := range rows {
		all = append(all, suite.Row{Weight: w, Row: row})
	}
	if err := suite.NewProduct(g.Format, columns, x, all).Check(suite.Unfloats(d.run(t, b, inputs)[kernels.Result(0)])); err != nil {
		t.Errorf("%s: %v", b.Name, err)
	}
}
