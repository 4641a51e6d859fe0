package kernels_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
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

// q8 is a vector as QuantQ8 writes it: the codes of all values, scale and scaled sum of each block.
type q8 struct{ codes, d, s []float32 }

// readQ8 takes the parts out of the bytes of a vector of n values.
func readQ8(t *testing.T, b []byte, n int) q8 {
	t.Helper()
	if len(b) != kernels.Q8Bytes(n) {
		t.Fatalf("%d values in %d bytes, want %d", n, len(b), kernels.Q8Bytes(n))
	}
	var v q8
	for _, code := range b[:n] {
		v.codes = append(v.codes, float32(int8(code)))
	}
	pairs := unfloats(b[n:])
	for i := range n / 32 {
		v.d, v.s = append(v.d, pairs[2*i]), append(v.s, pairs[2*i+1])
	}
	for _, pad := range pairs[n/32*2:] {
		if math.Float32bits(pad) != 0 {
			t.Errorf("%d values: the padding holds %v", n, pad)
		}
	}
	return v
}

// bytes is the opposite of readQ8.
func (v q8) bytes() []byte {
	var b []byte
	for _, code := range v.codes {
		b = append(b, byte(int8(code)))
	}
	for i := range v.d {
		b = append(b, floats([]float32{v.d[i], v.s[i]})...)
	}
	return append(b, make([]byte, kernels.Q8Bytes(len(v.codes))-len(b))...)
}

// hard draws a vector whose blocks are of the kinds that quantising may get wrong, in turn.
func hard(seed uint64, n int) []float32 {
	const least = 0x1p-118
	r := random(seed)
	x := normal(r, n, 1)
	for at := 0; at < n; at += 32 {
		block := x[at : at+32]
		scale := func(by float64) {
			for i := range block {
				block[i] = float32(float64(block[i]) * by)
			}
		}
		switch kind := (at/32 + int(seed)) % 9; kind {
		case 0:
			clear(block)
		case 1:
			scale(math.MaxFloat32 / 8)
			block[r.IntN(32)] = -math.MaxFloat32
		case 2: // below what is kept, subnormals among them
			scale(least / 8)
			block[3] = 0x1p-149
		case 3: // kept, with values that are subnormal
			scale(least / 16)
			block[r.IntN(32)] = least
		case 4: // ties: d is 2 where division is exact
			for i := range block {
				block[i] = float32(2*r.IntN(127)+1) * float32(1-2*(i%2))
			}
			block[r.IntN(32)] = 254
		case 5: // all at the ends
			for i := range block {
				block[i] = float32(1-2*r.IntN(2)) * 0.3
			}
		case 6: // one value far above the rest
			scale(1e-4)
			block[r.IntN(32)] = 50
		}
	}
	return x
}

// ulp is the distance between f32 numbers of the size of x.
func ulp(x float64) float64 {
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, exponent-24)
}

// checkQ8 holds a quantised vector to its definition as far as WGSL promises it, which lets a division be off by 2.5 units in
// the last place. So d is max|x|/127 within that, and codes are the integers closest to x/d but where x/d is as close as that to
// a tie. What follows from them is exact: s, zeros, and ties where dividing is exact because d is a power of two.
func checkQ8(t *testing.T, what string, x []float32, v q8) {
	t.Helper()
	for b := range v.d {
		at := b * 32
		largest, sum := 0.0, 0
		for i, value := range x[at : at+32] {
			largest = max(largest, math.Abs(float64(value)))
			sum += int(v.codes[at+i])
		}
		d := float64(v.d[b])
		if largest < 0x1p-118 {
			if d != 0 || v.s[b] != 0 || slices.ContainsFunc(v.codes[at:at+32], func(c float32) bool { return c != 0 }) {
				t.Errorf("%s: block %d of values below 2^-118 is %v, %v, %v", what, b, d, v.s[b], v.codes[at:at+32])
			}
			continue
		}
		if math.Abs(d-largest/127) > 2.5*ulp(largest/127) {
			t.Errorf("%s: block %d has the scale %v, want %v", what, b, d, largest/127)
		}
		if want := v.d[b] * float32(sum); v.s[b] != want {
			t.Errorf("%s: block %d has the sum %v, want %v", what, b, v.s[b], want)
		}
		fraction, _ := math.Frexp(d)
		for i, value := range x[at : at+32] {
			q, code := float64(value)/d, float64(v.codes[at+i])
			slack := 2.5 * ulp(q)
			if fraction == 0.5 {
				slack = 0
			}
			if math.Abs(code-q) > 0.5+slack || slack == 0 && code != math.RoundToEven(q) || math.Abs(code) > 127 {
				t.Errorf("%s: value %d is %v of the scale, its code %v", what, at+i, q, code)
			}
		}
	}
}

func testQuantQ8(t *testing.T, d device) {
	blocks, same := 0, 0
	for _, p := range []schedules.Profile{d.portable, d.compat} {
		for i, n := range []int{32, 64, 96, 576, 1536, 65 * 32} {
			s := schedules.DefaultQuantQ8(p)
			if i%2 == 1 {
				s.Workgroup = 5
			}
			k, err := kernels.QuantQ8{Columns: n}.Kernel(s, p)
			b := build(t, k, err)
			for seed := range uint64(9) {
				x := hard(seed, n)
				got := readQ8(t, d.run(t, b, map[string][]byte{kernels.X: floats(x)})[kernels.Y], n)
				checkQ8(t, b.Name, x, got)
				want := evaluateQuant(t, x)
				for j := range got.d {
					blocks++
					if got.d[j] == want.d[j] && got.s[j] == want.s[j] && slices.Equal(got.codes[32*j:32*j+32], want.codes[32*j:32*j+32]) {
						same++
					}
				}
			}
		}
	}
	t.Logf("%d of %d blocks are those of the evaluator, bit for bit", same, blocks)
}

// evaluateQuant is what the evaluator makes of a vector.
func evaluateQuant(t *testing.T, x []float32) q8 {
	t.Helper()
	b := ir.NewBuilder("quantise")
	n := len(x)
	in := b.Input("x", ir.F32, ir.T, ir.Dim(n))
	w := b.Weight("w", ir.Elem(quant.Q8_0), 1, ir.Dim(n))
	b.Output(b.Linear([]string{"y"}, false, in, w)...)
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	ir.QuantiseActivations(g)
	got, err := eval.Evaluate(g, map[string]eval.Value{"x": {F32: x}}, eval.Bytes{"w": make([]byte, n/32*34)}, ir.Sizes{T: 1, S: 1})
	if err != nil {
		t.Fatal(err)
	}
	return q8{got["x.q8"].F32, got["x.q8.d"].F32, got["x.q8.s"].F32}
}

func testGEMVQ8(t *testing.T, d device) {
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
		for j, format := range kernels.FormatsQ8() {
			for i, c := range shapes {
				if !turn(p, i+j) {
					continue
				}
				c.columns = whole(format, c.columns)
				seed := seeds[i%len(seeds)]
				g := kernels.GEMV{Format: format, Columns: c.columns, Results: c.rows, X: schedules.XQ8, Epilogue: c.epilogue}
				s := schedules.DefaultGEMV(g.Problem(), p)
				s.RowsPerThread = c.perRow
				if p.SubgroupSize > 0 && i%2 == 1 {
					s.Workgroup = 3 * p.SubgroupSize
				}
				// What QuantQ8 makes of this device, and codes at their ends.
				k, err := kernels.QuantQ8{Columns: c.columns}.Kernel(schedules.DefaultQuantQ8(p), p)
				x := normal(random(seed), c.columns, 1)
				if c.columns > 32 {
					clear(x[32:64])
				}
				made := readQ8(t, d.run(t, build(t, k, err), map[string][]byte{kernels.X: floats(x)})[kernels.Y], c.columns)
				d.checkGEMVQ8(t, g, s, p, made, seed, &worst)
				ends := q8{}
				for b := range c.columns / 32 {
					sum := float32(0)
					for j := range 32 {
						ends.codes = append(ends.codes, float32(127-254*((j*(b+1)/3)%2)))
						sum += ends.codes[b*32+j]
					}
					scale := float32(math.Ldexp(1.3, b%20-10))
					ends.d, ends.s = append(ends.d, scale), append(ends.s, scale*sum)
				}
				d.checkGEMVQ8(t, g, s, p, ends, seed, &worst)
			}
		}
	}
	t.Logf("largest NMSE %.2g", worst)
}

// checkGEMVQ8 compares a product with the evaluator's of the same codes; the two ways to add up integers give the same bits.
func (d device) checkGEMVQ8(t *testing.T, g kernels.GEMV, s schedules.GEMV, p schedules.Profile, x q8, seed uint64, worst *float64) {
	t.Helper()
	r := random(seed)
	inputs := map[string][]byte{kernels.X: x.bytes()}
	var weights []weight
	graph := ir.NewBuilder("linear")
	columns, blocks := ir.Dim(g.Columns), ir.Dim(g.Columns/32)
	in := []*ir.Tensor{graph.Input("codes", ir.I8, 1, columns), graph.Input("d", ir.F32, 1, blocks), graph.Input("s", ir.F32, 1, blocks)}
	source := eval.Bytes{}
	for i, rows := range g.Results {
		weights = append(weights, newWeight(t, r, g.Format, rows, g.Columns, 0.01))
		name := fmt.Sprint("w", i)
		w := graph.Weight(name, ir.Elem(g.Format), ir.Dim(rows), columns)
		source[name] = weights[i].raw
		graph.Output(graph.Node(kernels.Result(i), ir.LinearQ8, ir.Attrs{}, append(in[:3:3], w)...))
	}
	linear, err := graph.Graph()
	if err != nil {
		t.Fatal(err)
	}
	values, err := eval.Evaluate(linear, map[string]eval.Value{"codes": {F32: x.codes}, "d": {F32: x.d}, "s": {F32: x.s}}, source, ir.Sizes{T: 1, S: 1})
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	residuals := map[string][]byte{}
	for i := range g.Results {
		name := kernels.Result(i)
		y := normal(r, len(values[name].F32), 1)
		if g.Epilogue.Name == kernels.AddResidual.Name {
			residuals[name] = floats(y)
		} else {
			clear(y)
		}
		for row, v := range values[name].F32 {
			want = append(want, float64(v)+float64(y[row]))
		}
	}
	var first []float32
	for _, math := range []schedules.Math{schedules.Dot4I8, schedules.UnpackedI8} {
		s.Order.Math = math
		k, err := g.Kernel(s, p)
		b := build(t, k, err)
		planes(t, b, g.Format, g.Columns, g.Results, weights, inputs)
		for name, y := range residuals {
			inputs[name] = y
		}
		out := d.run(t, b, inputs)
		var got []float32
		for i := range g.Results {
			got = append(got, unfloats(out[kernels.Result(i)])...)
		}
		closeTo(t, fmt.Sprintf("%s, %s, %v, seed %d", b.Name, p.Name, s, seed), got, want, 1e-10, worst)
		if first == nil {
			first = got
		} else if !slices.Equal(first, got) {
			t.Errorf("%s, %s: packed and unpacked products differ", b.Name, p.Name)
		}
	}
}
