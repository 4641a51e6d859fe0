package kernels_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
	"github.com/x448/float16"
)

// weight is a matrix as a file holds it, and its values.
type weight struct {
	raw    []byte
	values []float32
}

// newWeight draws blocks of random codes with scales near the given size; every 16th scale is a subnormal of f16.
func newWeight(t *testing.T, r *rand.Rand, format quant.Type, rows, columns int, scale float64) weight {
	t.Helper()
	block, _ := format.Block()
	raw := make([]byte, rows*columns/block.Elems*block.Bytes)
	for at := 0; at < len(raw); at += block.Bytes {
		b := raw[at : at+block.Bytes]
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		half := func(offset int, v float64) {
			if r.IntN(16) == 0 {
				v = r.Float64() * 6e-5
			}
			binary.LittleEndian.PutUint16(b[offset:], uint16(float16.Fromfloat32(float32(v))))
		}
		switch format {
		case quant.F32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(r.NormFloat64()*scale)))
		case quant.F16:
			half(0, scale*r.NormFloat64())
		case quant.MXFP4:
			b[0] = byte(114 + r.IntN(16))
		default:
			at := testgraph.ScalesOf(format)
			half(at.Unit, scale*r.NormFloat64()*8/float64(at.Most))
			if at.Offset >= 0 {
				half(at.Offset, -8*scale*r.Float64()*8/float64(at.Most))
			}
		}
	}
	w := weight{raw, make([]float32, rows*columns)}
	if err := quant.Dequantize(format, w.values, raw); err != nil {
		t.Fatal(err)
	}
	return w
}

// whole rounds a number of columns up to whole blocks.
func whole(format quant.Type, columns int) int {
	block, _ := format.Block()
	return (columns + block.Elems - 1) / block.Elems * block.Elems
}

// planes repacks weights stacked in one kernel, each by its recipe, into the operands that hold the planes.
func planes(t *testing.T, b built, format quant.Type, columns int, rows []int, weights []weight, inputs map[string][]byte) {
	t.Helper()
	layout, err := kernels.Recipe(format, columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range b.operands {
		if slices.ContainsFunc(layout.Planes, func(p plan.Plane) bool { return p.Name == o.Name }) {
			inputs[o.Name] = make([]byte, o.Place.Bytes)
		}
	}
	first := 0
	for i, n := range rows {
		recipe := layout
		recipe.Rows, recipe.Planes = n, nil
		for j, p := range layout.Planes {
			p.To = plan.Range{Buffer: j, Offset: uint64(first * p.RowStride), Bytes: uint64((n*p.RowStride + 3) / 4 * 4)}
			recipe.Planes = append(recipe.Planes, p)
		}
		if err := recipe.Check(); err != nil {
			t.Fatalf("%v: %v", format, err)
		}
		for j, p := range recipe.Planes {
			recipe.Repack(j, inputs[p.Name][p.To.Offset:][:p.To.Bytes], 0, n, weights[i].raw)
		}
		first += n
	}
}

// turn picks cases by number: half for a profile without subgroups, a quarter for one with. Compiling texts takes most of the time, and
// every format meets every other one of the shapes.
func turn(p schedules.Profile, n int) bool {
	if p.Subgroups {
		return n%4 == 0
	}
	return n%2 == 0
}

func testGEMV(t *testing.T, d device) {
	profiles := []schedules.Profile{d.portable}
	if d.subgroups.Subgroups {
		profiles = append(profiles, d.subgroups)
	}
	shapes := []struct {
		columns  int
		rows     []int
		perRow   int
		epilogue kernels.Epilogue
	}{
		{32, []int{1}, 1, kernels.Store},
		{576, []int{576}, 1, kernels.AddResidual},
		{576, []int{576, 192, 192}, 2, kernels.Store},
		{96, []int{131}, 4, kernels.AddResidual},
		{160, []int{64, 8, 65}, 2, kernels.Store},
		{1536, []int{33}, 1, kernels.Store},
	}
	var worst float64
	seeds := seeds(t)
	for _, p := range profiles {
		for j, format := range kernels.Formats() {
			for i, c := range shapes {
				if !turn(p, i+j) {
					continue
				}
				g := kernels.GEMV{Format: format, Columns: whole(format, c.columns), Results: c.rows, Epilogue: c.epilogue}
				s := schedules.DefaultGEMV(g.Problem(), p)
				s.RowsPerThread = c.perRow
				if p.SubgroupSize > 0 && i%2 == 1 {
					s.Workgroup = 3 * p.SubgroupSize
				}
				for _, seed := range seeds {
					d.checkGEMV(t, g, s, p, seed, &worst)
				}
			}
		}
		for _, g := range []kernels.GEMV{
			{Format: quant.F16, Columns: 6, Results: []int{5}, Epilogue: kernels.Store},
			{Format: quant.F16, Columns: 2, Results: []int{66, 3}, Epilogue: kernels.Store},
			{Format: quant.F32, Columns: 33, Results: []int{3, 7}, Epilogue: kernels.AddResidual},
			{Format: quant.F32, Columns: 1, Results: []int{1}, Epilogue: kernels.Store},
		} {
			d.checkGEMV(t, g, schedules.DefaultGEMV(g.Problem(), p), p, 99, &worst)
		}
	}
	// A grid of two dimensions, with workgroups that have no rows.
	folded := d.portable
	folded.Limits.Workgroups = 7
	g := kernels.GEMV{Format: quant.Q4_0, Columns: 64, Results: []int{31}, Epilogue: kernels.Store}
	s := schedules.DefaultGEMV(g.Problem(), folded)
	s.Workgroup = 1
	d.checkGEMV(t, g, s, folded, 7, &worst)
	t.Logf("largest NMSE %.2g", worst)
}

func (d device) checkGEMV(t *testing.T, g kernels.GEMV, s schedules.GEMV, p schedules.Profile, seed uint64, worst *float64) {
	t.Helper()
	r := random(seed)
	x := normal(r, g.Columns, 1)
	var weights []weight
	var residuals [][]float32
	for _, rows := range g.Results {
		weights = append(weights, newWeight(t, r, g.Format, rows, g.Columns, 0.01))
		if g.Epilogue.Name == kernels.AddResidual.Name {
			residuals = append(residuals, normal(r, rows, 1))
		}
	}
	k, err := g.Kernel(s, p)
	b := build(t, k, err)
	product, got, e := newProduct(g, weights, x, residuals), d.multiply(t, b, g, weights, x, residuals), 0.0
	if seed&fresh != 0 && len(got) < 16 {
		err = product.checkRows(got)
	} else {
		e, err = product.check(got)
	}
	if err != nil {
		t.Errorf("%s, %s, %v, seed %d: %v", b.Name, p.Name, s, seed, err)
	}
	*worst = max(*worst, e)
}

// multiply runs a product and returns the rows of all its weights. There are residuals where the epilogue adds to them.
func (d device) multiply(t *testing.T, b built, g kernels.GEMV, weights []weight, x []float32, residuals [][]float32) []float32 {
	t.Helper()
	inputs := map[string][]byte{kernels.X: floats(x)}
	planes(t, b, g.Format, g.Columns, g.Results, weights, inputs)
	for i, y := range residuals {
		inputs[kernels.Result(i)] = floats(y)
	}
	out := d.run(t, b, inputs)
	var rows []float32
	for i := range g.Results {
		rows = append(rows, unfloats(out[kernels.Result(i)])...)
	}
	return rows
}

// testEmbed wants dequantised rows bit for bit: first, last, odd, and one that is not there.
func testEmbed(t *testing.T, d device) {
	for _, c := range []struct {
		format  quant.Type
		columns int
	}{
		{quant.F32, 32}, {quant.F32, 33}, {quant.F16, 80}, {quant.F16, 6}, {quant.Q8_0, 576}, {quant.Q8_0, 96},
		{quant.Q4_0, 96}, {quant.Q4_0, 576}, {quant.Q4_1, 160}, {quant.Q4_1, 576},
		{quant.Q5_0, 96}, {quant.Q5_1, 160}, {quant.IQ4_NL, 96}, {quant.MXFP4, 96}, {quant.MXFP4, 576},
		{quant.Q2_K, 768}, {quant.Q3_K, 768}, {quant.Q4_K, 768}, {quant.Q5_K, 768}, {quant.Q6_K, 256}, {quant.Q6_K, 768},
	} {
		const rows = 37
		e := kernels.Embed{Format: c.format, Rows: rows, Columns: c.columns, Params: params}
		k, err := e.Kernel(schedules.DefaultElementwise(d.compat), d.compat)
		b := build(t, k, err)
		w := newWeight(t, random(uint64(c.columns)), c.format, rows, c.columns, 0.01)
		inputs := map[string][]byte{}
		planes(t, b, c.format, c.columns, []int{rows}, []weight{w}, inputs)
		for token, row := range map[uint32]int{0: 0, 1: 1, 17: 17, 36: 36, 37: 36, math.MaxUint32: 36} {
			record := make([]uint32, params.Words())
			record[plan.ParamsToken] = token
			inputs[kernels.Params] = words(record)
			got := unfloats(d.run(t, b, inputs)[kernels.Y])
			for i, want := range w.values[row*c.columns:][:c.columns] {
				if math.Float32bits(got[i]) != math.Float32bits(want) && (got[i] != 0 || want != 0) {
					t.Errorf("%s: token %d, value %d is %v, want %v", b.Name, token, i, got[i], want)
					break
				}
			}
		}
	}
	e := kernels.Embed{Format: quant.Q8_0, Rows: 3, Columns: 64, Scale: 8, Params: params}
	k, err := e.Kernel(schedules.DefaultElementwise(d.portable), d.portable)
	b := build(t, k, err)
	w := newWeight(t, random(1), quant.Q8_0, 3, 64, 0.01)
	inputs := map[string][]byte{kernels.Params: words(make([]uint32, params.Words()))}
	planes(t, b, quant.Q8_0, 64, []int{3}, []weight{w}, inputs)
	for i, got := range unfloats(d.run(t, b, inputs)[kernels.Y]) {
		if got != 8*w.values[i] {
			t.Errorf("scaled value %d is %v, want %v", i, got, 8*w.values[i])
		}
	}
}

// testEmbedShards wants each token's row from the shard that has it, and y as it was from the others.
func testEmbedShards(t *testing.T, d device) {
	const rows, columns, sentinel = 37, 96, 0.75
	w := newWeight(t, random(5), quant.Q4_0, rows, columns, 0.01)
	rowBytes := len(w.raw) / rows
	for _, s := range []struct{ from, rows int }{{0, 16}, {16, 16}, {32, 5}} {
		e := kernels.Embed{Format: quant.Q4_0, Rows: s.rows, Columns: columns, From: s.from, Of: rows, Params: params}
		k, err := e.Kernel(schedules.DefaultElementwise(d.compat), d.compat)
		b := build(t, k, err)
		part := weight{raw: w.raw[s.from*rowBytes:][:s.rows*rowBytes]}
		inputs := map[string][]byte{}
		planes(t, b, quant.Q4_0, columns, []int{s.rows}, []weight{part}, inputs)
		for token, row := range map[uint32]int{0: 0, 15: 15, 16: 16, 31: 31, 32: 32, 36: 36, 37: 36, math.MaxUint32: 36} {
			record := make([]uint32, params.Words())
			record[plan.ParamsToken] = token
			inputs[kernels.Params] = words(record)
			before := make([]float32, columns)
			for i := range before {
				before[i] = sentinel
			}
			inputs[kernels.Y] = floats(before)
			want := before
			if row >= s.from && row < s.from+s.rows {
				want = w.values[row*columns:][:columns]
			}
			if got := unfloats(d.run(t, b, inputs)[kernels.Y]); !slices.Equal(got, want) {
				t.Errorf("%s: token %d gives %v, want %v", b.Name, token, got, want)
			}
		}
	}
}
