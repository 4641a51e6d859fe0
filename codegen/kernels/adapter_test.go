package kernels_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
	"github.com/kgen-wgsl/kgen/schedules"
	"github.com/x448/float16"
)

// device is an adapter opened for the tests, with profiles it can run.
type device struct {
	*webgpu.Device
	portable  schedules.Profile
	compat    schedules.Profile
	subgroups schedules.Profile // Subgroups is false when the device has none of a fixed size
	pipelines map[string]plan.Handle
	ran       map[string]bool // texts
}

// open opens the adapter that the environment chooses, with subgroups if it has them.
func open(t *testing.T) device {
	t.Helper()
	library, err := webgpu.Find(webgpu.Options{})
	var adapters []*webgpu.Adapter
	if err == nil {
		t.Cleanup(library.Close)
		adapters, err = library.Adapters()
	}
	var e *plan.DeviceError
	if errors.As(err, &e) && (e.Fault == plan.NoLibrary || e.Fault == plan.NoAdapter) && os.Getenv("KGEN_REQUIRE") != "1" {
		t.Skipf("run `make setup`: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	info, err := adapters[0].Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := device{portable: profile(t, "portable"), compat: profile(t, "compat"), pipelines: map[string]plan.Handle{}, ran: map[string]bool{}}
	requires := d.portable.Requires()
	if s, err := profile(t, "subgroups").WithDevice(info); err == nil {
		d.subgroups, requires = s, s.Requires()
	}
	if d.Device, err = adapters[0].Open(t.Context(), requires); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%s, subgroups of %d", info.Name, info.SubgroupSize)
	return d
}

// sentinel fills what no operand holds, and operands without input: as f32 it is 3.39e38, so that a read too far shows.
const sentinel = 0x7f7f7f7f

// run runs a kernel. Inputs are the bytes of operands; the result is the bytes of all operands that are written. Every byte
// outside of those must keep the sentinel. A kernel's first run is done twice: as a plan has it, and without the compiler's
// bounds checks and with wider bindings, so that nothing but the kernel's own tests keeps it in bounds.
func (d device) run(t *testing.T, b built, inputs map[string][]byte) map[string][]byte {
	t.Helper()
	ends := map[int]uint64{}
	for _, o := range b.operands {
		ends[o.Place.Buffer] = max(ends[o.Place.Buffer], o.Place.Offset+o.Place.Bytes)
	}
	before := map[int][]byte{}
	for number, end := range ends {
		content := bytes.Repeat([]byte{sentinel & 0xff}, int(end+border))
		for _, o := range b.operands {
			if in, ok := inputs[o.Name]; o.Place.Buffer == number && ok {
				if uint64(len(in)) != o.Place.Bytes {
					t.Fatalf("%s: %s has %d bytes, not %d", b.Name, o.Name, len(in), o.Place.Bytes)
				}
				copy(content[o.Place.Offset:], in)
			}
		}
		before[number] = content
	}
	first := !d.ran[b.plan.Text]
	d.ran[b.plan.Text] = true
	after := d.dispatch(t, b, before, true)
	if first {
		for number, content := range d.dispatch(t, b, before, false) {
			if !bytes.Equal(content, after[number]) {
				t.Errorf("%s: buffer %d differs without bounds checks", b.Name, number)
			}
		}
	}
	out := map[string][]byte{}
	for _, o := range b.operands {
		if o.Access == plan.ReadWrite {
			place := after[o.Place.Buffer][o.Place.Offset:][:o.Place.Bytes]
			out[o.Name] = slices.Clone(place)
			copy(before[o.Place.Buffer][o.Place.Offset:], place)
		}
	}
	for number := range before {
		if !bytes.Equal(before[number], after[number]) {
			t.Errorf("%s writes outside of its operands in buffer %d", b.Name, number)
		}
	}
	return out
}

// dispatch runs a kernel on buffers of the given contents, and returns their contents after.
func (d device) dispatch(t *testing.T, b built, contents map[int][]byte, unchecked bool) map[int][]byte {
	t.Helper()
	var work plan.Work
	handles := map[int]int{}
	var order []int
	for number, content := range contents {
		h, err := d.NewBuffer(plan.Buffer{Name: fmt.Sprint("b", number), Kind: plan.ArenaBuffer, Bytes: uint64(len(content))})
		if err == nil {
			err = d.Write(h, 0, content)
		}
		if err != nil {
			t.Fatal(err)
		}
		handles[number], order = int(h), append(order, number)
		work.Reads = append(work.Reads, plan.Range{Buffer: int(h), Bytes: uint64(len(content))})
	}
	ranges := b.bindings.Ranges()
	for i := range ranges {
		r := &ranges[i]
		if unchecked {
			r.Bytes = uint64(len(contents[r.Buffer])) - r.Offset
		}
		r.Buffer = handles[r.Buffer]
	}
	group, err := d.NewGroup(b.plan.Accesses(), ranges)
	if err != nil {
		t.Fatal(err)
	}
	g := b.Grid
	work.Replays = [][]uint32{{d.pipeline(t, b, unchecked), uint32(group), uint32(g[0]), uint32(g[1]), uint32(g[2])}}
	ticket, err := d.Submit(work)
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.Wait(t.Context(), ticket)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int][]byte{}
	for _, number := range order {
		n := len(contents[number])
		out[number], data = data[:n], data[n:]
	}
	return out
}

// pipeline compiles a kernel once.
func (d device) pipeline(t *testing.T, b built, unchecked bool) uint32 {
	t.Helper()
	key := fmt.Sprint(unchecked, b.plan.Text)
	if _, made := d.pipelines[key]; !made {
		k := b.plan
		k.Proved = unchecked
		h, err := d.NewPipeline(&k, unchecked)
		if err != nil {
			t.Fatal(err)
		}
		d.pipelines[key] = h
	}
	return uint32(d.pipelines[key])
}

func words(w []uint32) []byte {
	b := make([]byte, 4*len(w))
	for i, v := range w {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	return b
}

func unwords(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

func floats(f []float32) []byte {
	w := make([]uint32, len(f))
	for i, v := range f {
		w[i] = math.Float32bits(v)
	}
	return words(w)
}

func unfloats(b []byte) []float32 {
	f := make([]float32, len(b)/4)
	for i, v := range unwords(b) {
		f[i] = math.Float32frombits(v)
	}
	return f
}

// normal draws n values of a normal distribution with the given deviation.
func normal(r *rand.Rand, n int, deviation float64) []float32 {
	f := make([]float32, n)
	for i := range f {
		f[i] = float32(r.NormFloat64() * deviation)
	}
	return f
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// nmse is the squared error relative to the squared values wanted; it is NaN when a value is.
func nmse(got []float32, want []float64) float64 {
	wrong, all := 0.0, 0.0
	for i, w := range want {
		wrong += (float64(got[i]) - w) * (float64(got[i]) - w)
		all += w * w
	}
	return wrong / all
}

// close checks the error of a result, and keeps the largest.
func closeTo(t *testing.T, what string, got []float32, want []float64, bound float64, worst *float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	e := nmse(got, want)
	if !(e <= bound) {
		t.Errorf("%s: NMSE %.3g exceeds %.3g; got %v, want %v", what, e, bound, got[:min(4, len(got))], want[:min(4, len(want))])
	}
	*worst = max(*worst, e)
}

// TestOnAdapter runs every family on the adapter and compares it with sums in float64.
func TestOnAdapter(t *testing.T) {
	d := open(t)
	t.Run("gemv", func(t *testing.T) { testGEMV(t, d) })
	t.Run("embed", func(t *testing.T) { testEmbed(t, d) })
	t.Run("rmsnorm", func(t *testing.T) { testRMSNorm(t, d) })
	t.Run("rope", func(t *testing.T) { testRoPE(t, d) })
	t.Run("attention", func(t *testing.T) { testAttention(t, d) })
	t.Run("elementwise", func(t *testing.T) { testElementwise(t, d) })
	t.Run("argmax", func(t *testing.T) { testArgMax(t, d) })
	t.Run("advance", func(t *testing.T) { testAdvance(t, d) })
}

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
		case quant.Q4_1:
			half(2, -8*scale*r.Float64())
			fallthrough
		default:
			half(0, scale*r.NormFloat64())
		}
	}
	w := weight{raw, make([]float32, rows*columns)}
	if err := quant.Dequantize(format, w.values, raw); err != nil {
		t.Fatal(err)
	}
	return w
}

// planes repacks weights stacked in one kernel, each by its recipe, into the operands that hold the planes.
func planes(t *testing.T, b built, format quant.Type, columns int, rows []int, weights []weight, inputs map[string][]byte) {
	t.Helper()
	all := 0
	for _, n := range rows {
		all += n
	}
	found, err := kernels.Planes(format, all, columns)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := format.Block()
	for _, o := range b.operands {
		if slices.ContainsFunc(found, func(p plan.Plane) bool { return p.Name == o.Name }) {
			inputs[o.Name] = make([]byte, o.Place.Bytes)
		}
	}
	first := 0
	for i, n := range rows {
		recipe := plan.Recipe{Type: format.String(), Rows: n, RowBlocks: columns / block.Elems, BlockBytes: block.Bytes}
		for j, p := range found {
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
	for _, p := range profiles {
		for _, format := range schedules.Formats() {
			for i, c := range shapes {
				g := kernels.GEMV{Format: format, Columns: c.columns, Results: c.rows, Epilogue: c.epilogue}
				s := schedules.DefaultGEMV(g.Problem(), p)
				s.RowsPerThread = c.perRow
				if p.SubgroupSize > 0 && i%2 == 1 {
					s.Workgroup = 3 * p.SubgroupSize
				}
				d.checkGEMV(t, g, s, p, uint64(i), &worst)
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
	k, err := g.Kernel(s, p)
	b := build(t, k, err)
	r := random(seed)
	inputs := map[string][]byte{}
	x := normal(r, g.Columns, 1)
	inputs[kernels.X] = floats(x)
	var weights []weight
	for _, rows := range g.Results {
		weights = append(weights, newWeight(t, r, g.Format, rows, g.Columns, 0.01))
	}
	planes(t, b, g.Format, g.Columns, g.Results, weights, inputs)
	var want []float64
	for i, rows := range g.Results {
		y := normal(r, rows, 1)
		if g.Epilogue.Name == kernels.AddResidual.Name {
			inputs[kernels.Result(i)] = floats(y)
		} else {
			clear(y)
		}
		for row := range rows {
			sum := float64(y[row])
			for c, w := range weights[i].values[row*g.Columns:][:g.Columns] {
				sum += float64(w) * float64(x[c])
			}
			want = append(want, sum)
		}
	}
	out := d.run(t, b, inputs)
	var got []float32
	for i := range g.Results {
		got = append(got, unfloats(out[kernels.Result(i)])...)
	}
	what := fmt.Sprintf("%s, %s, %v", b.Name, p.Name, s)
	closeTo(t, what, got, want, 1e-10, worst)
	rms := 0.0
	for _, w := range want {
		rms += w * w / float64(len(want))
	}
	for i, w := range want {
		if e := math.Abs(float64(got[i]) - w); e > 1e-5*math.Sqrt(float64(g.Columns)*rms) {
			t.Errorf("%s: row %d is off by %g", what, i, e)
		}
	}
}

// testEmbed wants dequantised rows bit for bit: first, last, odd, and one that is not there.
func testEmbed(t *testing.T, d device) {
	for _, c := range []struct {
		format  quant.Type
		columns int
	}{
		{quant.F32, 32}, {quant.F32, 33}, {quant.F16, 80}, {quant.F16, 6}, {quant.Q8_0, 576}, {quant.Q8_0, 96},
		{quant.Q4_0, 96}, {quant.Q4_0, 576}, {quant.Q4_1, 160}, {quant.Q4_1, 576},
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

func testRMSNorm(t *testing.T, d device) {
	var worst float64
	for _, p := range []schedules.Profile{d.portable, d.compat} {
		for _, shape := range [][2]int{{1, 576}, {9, 64}, {3, 80}, {1, 1}, {2, 255}, {1, 257}, {1, 1000}, {5, 4}} {
			rows, columns := shape[0], shape[1]
			n := kernels.RMSNorm{Rows: rows, Columns: columns, Eps: 1e-5}
			k, err := n.Kernel(schedules.DefaultRowReduce(columns, p), p)
			b := build(t, k, err)
			r := random(uint64(columns))
			x, w := normal(r, rows*columns, 2), normal(r, columns, 1)
			want := make([]float64, rows*columns)
			for row := range rows {
				sum := 0.0
				for _, v := range x[row*columns:][:columns] {
					sum += float64(v) * float64(v)
				}
				for c := range columns {
					want[row*columns+c] = float64(x[row*columns+c]) / math.Sqrt(sum/float64(columns)+1e-5) * float64(w[c])
				}
			}
			out := d.run(t, b, map[string][]byte{kernels.X: floats(x), kernels.NormWeights: floats(w)})
			closeTo(t, b.Name, unfloats(out[kernels.Y]), want, 1e-10, &worst)
		}
	}
	t.Logf("largest NMSE %.2g", worst)
}

// cachePages is a page table out of order, for a cache of 5 pages of which 4 are used.
var cachePages = []uint32{3, 0, 4, 2}

// record is a params block for a position, with cachePages as the sequence's pages.
func record(position int) []byte {
	w := make([]uint32, params.Words())
	w[plan.ParamsPos], w[plan.ParamsLen] = uint32(position), uint32(position+1)
	w[plan.ParamsPages], w[plan.ParamsOut] = uint32(params.PagesAt), uint32(params.RingAt)
	copy(w[params.PagesAt:], cachePages)
	return words(w)
}

// element is where the cache has element e of head h of the key at a position; the value is half the cache further.
func element(kv plan.KV, heads, size, position, h, e int) int {
	page := int(cachePages[position/kv.PageTokens])
	return page*kv.PageTokens*heads*size + ((position%kv.PageTokens)*heads+h)*size + e
}

// cached reads the elements of a cache.
func cached(kv plan.KV, b []byte) []float32 {
	if !kv.F16 {
		return unfloats(b)
	}
	out := make([]float32, len(b)/2)
	for i := range out {
		out[i] = float16.Frombits(binary.LittleEndian.Uint16(b[2*i:])).Float32()
	}
	return out
}

var positions = []int{0, 1, 31, 32, 33, 63, 64, 95, 127}

func testRoPE(t *testing.T, d device) {
	var worst float64
	for _, c := range []struct {
		heads, kvHeads, size, dims int
		style                      ir.RoPEStyle
	}{
		{9, 3, 64, 64, ir.Norm}, {8, 2, 64, 64, ir.NeoX}, {4, 4, 80, 20, ir.NeoX}, {4, 2, 80, 80, ir.NeoX}, {2, 1, 96, 32, ir.Norm},
		{2, 1, 128, 128, ir.NeoX}, {1, 1, 6, 6, ir.NeoX}, {3, 1, 10, 6, ir.NeoX}, {1, 1, 256, 256, ir.Norm}, {2, 2, 64, 2, ir.Norm},
	} {
		for _, f16 := range []bool{false, true} {
			r := kernels.RoPEKV{Heads: c.heads, KVHeads: c.kvHeads, Size: c.size, Dims: c.dims, Style: c.style, Positions: 128, Params: params, KV: cache(f16)}
			k, err := r.Kernel(schedules.DefaultElementwise(d.compat), d.compat)
			b := build(t, k, err, kernels.K, kernels.V)
			for _, position := range positions {
				d.checkRoPE(t, b, r, position, &worst)
			}
		}
	}
	t.Logf("largest error relative to the largest value %.2g", worst)
}

// rotate turns the pairs of a head's first dims values, in float64.
func rotate(x []float32, r kernels.RoPEKV, position int) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	for head := 0; head < len(x); head += r.Size {
		for i := range r.Dims / 2 {
			a, b := head+2*i, head+2*i+1
			if r.Style == ir.NeoX {
				a, b = head+i, head+i+r.Dims/2
			}
			sin, cos := math.Sincos(angle(r, position, i))
			out[a], out[b] = out[a]*cos-out[b]*sin, out[a]*sin+out[b]*cos
		}
	}
	return out
}

func angle(r kernels.RoPEKV, position, i int) float64 {
	return float64(position) * math.Pow(10000, -2*float64(i)/float64(r.Dims))
}

func (d device) checkRoPE(t *testing.T, b built, r kernels.RoPEKV, position int, worst *float64) {
	t.Helper()
	rnd := random(uint64(position))
	q, key, value := normal(rnd, r.Heads*r.Size, 1), normal(rnd, r.KVHeads*r.Size, 1), normal(rnd, r.KVHeads*r.Size, 1)
	var table []float32
	for p := range r.Positions {
		for i := range r.Dims / 2 {
			sin, cos := math.Sincos(angle(r, p, i))
			table = append(table, float32(cos), float32(sin))
		}
	}
	out := d.run(t, b, map[string][]byte{
		kernels.Params: record(position), kernels.RoPETable: floats(table),
		kernels.Q: floats(q), kernels.K: floats(key), kernels.V: floats(value),
	})
	within := func(what string, got float32, want, bound float64) {
		e := math.Abs(float64(got) - want)
		if !(e <= bound) {
			t.Fatalf("%s, position %d: %s is %v, want %v", b.Name, position, what, got, want)
		}
		if bound == 4e-6 {
			*worst = max(*worst, e/4)
		}
	}
	for i, want := range rotate(q, r, position) {
		within(fmt.Sprint("q ", i), unfloats(out[kernels.Q])[i], want, 4e-6) // 1e-6 of the largest value, which is near 4
	}
	kv := cached(r.KV, out[kernels.KV])
	bound := func(want float64) float64 {
		if r.KV.F16 {
			return math.Abs(want)/1024 + 1e-6
		}
		return 4e-6
	}
	used := map[int]bool{}
	for i, want := range rotate(key, r, position) {
		at := element(r.KV, r.KVHeads, r.Size, position, i/r.Size, i%r.Size)
		within(fmt.Sprint("k ", i), kv[at], want, bound(want))
		within(fmt.Sprint("v ", i), kv[len(kv)/2+at], float64(value[i]), bound(float64(value[i])))
		used[at], used[len(kv)/2+at] = true, true
	}
	untouched := cached(r.KV, words([]uint32{sentinel}))[0]
	for i, v := range kv {
		if !used[i] && v != untouched && !(v != v && untouched != untouched) {
			t.Fatalf("%s, position %d: element %d of the cache became %v", b.Name, position, i, v)
		}
	}
}

func testAttention(t *testing.T, d device) {
	var worst float64
	for _, c := range []struct {
		heads, kvHeads, size, workgroup, window int
		f16                                     bool
	}{
		{9, 3, 64, 0, 0, false}, {9, 3, 64, 0, 0, true}, {8, 8, 80, 0, 0, true}, {4, 1, 96, 32, 0, false}, {2, 1, 128, 0, 0, true},
		{2, 2, 256, 0, 0, false}, {2, 1, 64, 128, 0, true}, {2, 1, 64, 4, 0, false}, {4, 2, 64, 0, 16, false}, {4, 2, 64, 32, 33, true},
	} {
		a := kernels.AttentionDecode{
			Heads: c.heads, KVHeads: c.kvHeads, Size: c.size, Scale: 1 / math.Sqrt(float64(c.size)), Window: c.window,
			Params: params, KV: cache(c.f16),
		}
		s := schedules.DefaultAttention(a.Problem(), d.compat)
		if c.workgroup > 0 {
			s.Workgroup = c.workgroup
		}
		k, err := a.Kernel(s, d.compat)
		b := build(t, k, err)
		for _, position := range positions {
			d.checkAttention(t, b, a, position, 1, &worst)
		}
		d.checkAttention(t, b, a, 64, 30, &worst) // scores up to hundreds: one key takes all
	}
	t.Logf("largest NMSE %.2g", worst)
}

func (d device) checkAttention(t *testing.T, b built, a kernels.AttentionDecode, position int, sharp float64, worst *float64) {
	t.Helper()
	r := random(uint64(position))
	q := normal(r, a.Heads*a.Size, sharp)
	n := 2 * a.KV.Pages * a.KV.PageTokens * a.KVHeads * a.Size
	kv := make([]byte, n*4)
	if a.KV.F16 {
		kv = make([]byte, n*2)
	}
	for i := range kv {
		kv[i] = sentinel & 0xff // what is not a key of the sequence is huge, or NaN in f16
	}
	for p := range position + 1 {
		for h := range a.KVHeads {
			for e := range a.Size {
				at := element(a.KV, a.KVHeads, a.Size, p, h, e)
				for _, i := range []int{at, at + n/2} {
					if v := float32(r.NormFloat64()); a.KV.F16 {
						binary.LittleEndian.PutUint16(kv[2*i:], uint16(float16.Fromfloat32(v)))
					} else {
						binary.LittleEndian.PutUint32(kv[4*i:], math.Float32bits(v))
					}
				}
			}
		}
	}
	out := d.run(t, b, map[string][]byte{kernels.Params: record(position), kernels.Q: floats(q), kernels.KV: kv})
	want := attention(a, q, cached(a.KV, kv), position)
	closeTo(t, fmt.Sprintf("%s, position %d", b.Name, position), unfloats(out[kernels.Y]), want, 1e-9, worst)
}

// attention is the sum in float64 over the keys that a token at the position sees.
func attention(a kernels.AttentionDecode, q, kv []float32, position int) []float64 {
	first := 0
	if a.Window > 0 {
		first = max(0, position+1-a.Window)
	}
	out := make([]float64, len(q))
	for h := range a.Heads {
		kvHead := h * a.KVHeads / a.Heads
		var scores []float64
		top := math.Inf(-1)
		for p := first; p <= position; p++ {
			score := 0.0
			for e := range a.Size {
				score += float64(q[h*a.Size+e]) * float64(kv[element(a.KV, a.KVHeads, a.Size, p, kvHead, e)])
			}
			scores = append(scores, score*a.Scale)
			top = max(top, score*a.Scale)
		}
		sum := 0.0
		for _, s := range scores {
			sum += math.Exp(s - top)
		}
		for i, s := range scores {
			for e := range a.Size {
				v := kv[len(kv)/2+element(a.KV, a.KVHeads, a.Size, first+i, kvHead, e)]
				out[h*a.Size+e] += math.Exp(s-top) / sum * float64(v)
			}
		}
	}
	return out
}

func testElementwise(t *testing.T, d device) {
	p := d.compat
	s := schedules.DefaultElementwise(p)
	var worst float64
	for _, n := range []int{1, 63, 64, 65, 257, 1536} {
		r := random(uint64(n))
		x, y := normal(r, n, 4), normal(r, n, 1)
		x[0] = -1000 // exp of its negative is no f32
		each := func(f func(x, y float64) float64) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = f(float64(x[i]), float64(y[i]))
			}
			return out
		}
		run := func(k kernels.Kernel, err error, left, right, result string, want []float64) {
			b := build(t, k, err)
			out := d.run(t, b, map[string][]byte{left: floats(x), right: floats(y)})
			got := unfloats(out[result])
			for i := range want {
				if math.Abs(want[i]) < 1e-30 && math.Abs(float64(got[i])) < 1e-30 {
					want[i], got[i] = 0, 0 // f32 may flush what is left
				}
			}
			if n == 1 && want[0] == 0 && got[0] == 0 {
				return
			}
			closeTo(t, b.Name, got, want, 1e-12, &worst)
		}
		add := func(x, y float64) float64 { return x + y }
		k, err := kernels.Add{N: n}.Kernel(s, p)
		run(k, err, "a", "b", "y", each(add))
		k, err = kernels.Add{N: n, InPlace: true}.Kernel(s, p)
		run(k, err, "a", "b", "a", each(add))
		k, err = kernels.GLU{N: n, Act: ir.SiLU}.Kernel(s, p)
		run(k, err, kernels.Gate, kernels.Up, "y", each(func(x, y float64) float64 { return x / (1 + math.Exp(-x)) * y }))
		k, err = kernels.GLU{N: n, Act: ir.GELU}.Kernel(s, p)
		run(k, err, kernels.Gate, kernels.Up, "y", each(func(x, y float64) float64 {
			return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) * y
		}))
		k, err = kernels.Softcap{N: n, Cap: 30}.Kernel(s, p)
		run(k, err, "x", "", "y", each(func(x, _ float64) float64 { return 30 * math.Tanh(x/30) }))
	}
	t.Logf("largest NMSE %.2g", worst)
}

// testArgMax runs both kernels; the largest value comes twice in most cases, and the lower index must win.
func testArgMax(t *testing.T, d device) {
	for _, n := range []int{1, 2, 65, 1000, 5001} {
		for _, partials := range []int{0, 3} {
			for _, where := range [][]int{{0}, {n - 1}, {n / 2, n - 1}, {n / 3, n / 2}, {n/2 + 1, n / 2}} {
				x := normal(random(uint64(n)), n, 1)
				want := n
				for _, i := range where {
					if i < n {
						x[i] = 10
						want = min(want, i)
					}
				}
				if want == n {
					continue
				}
				s := schedules.DefaultArgMax(n, d.compat)
				if partials > 0 {
					s.Partials = partials
				}
				d.checkArgMax(t, s, x, want)
			}
		}
	}
	all := slices.Repeat([]float32{-5}, 300)
	d.checkArgMax(t, schedules.DefaultArgMax(300, d.compat), all, 0)
}

func (d device) checkArgMax(t *testing.T, s schedules.ArgMax, x []float32, want int) {
	t.Helper()
	k, err := kernels.ArgMaxPartials{N: len(x)}.Kernel(s, d.compat)
	partials := d.run(t, build(t, k, err), map[string][]byte{kernels.X: floats(x)})[kernels.Partials]
	k, err = kernels.ArgMaxFinal{N: len(x), Params: params}.Kernel(s, d.compat)
	before := unwords(record(41))
	before[plan.ParamsOutLen], before[plan.ParamsFlags], before[plan.ParamsRNG] = 15, 7, 9
	got := unwords(d.run(t, build(t, k, err), map[string][]byte{kernels.Partials: partials, kernels.Params: words(before)})[kernels.Params])
	after := slices.Clone(before)
	after[plan.ParamsToken], after[plan.ParamsPos], after[plan.ParamsLen], after[plan.ParamsOutLen] = uint32(want), 42, 43, 16
	after[params.RingAt+15] = uint32(want)
	if !slices.Equal(got, after) {
		t.Errorf("%d values, %v: params became %v, want %v", len(x), s, got, after)
	}
	after[plan.ParamsPos], after[plan.ParamsLen], after[plan.ParamsOutLen] = 43, 44, 17 // the ring is full: nothing else changes
	again := unwords(d.run(t, build(t, k, err), map[string][]byte{kernels.Partials: partials, kernels.Params: words(got)})[kernels.Params])
	if !slices.Equal(again, after) {
		t.Errorf("%d values, full ring: params became %v, want %v", len(x), again, after)
	}
}

func testAdvance(t *testing.T, d device) {
	k, err := kernels.Advance{Params: params}.Kernel()
	b := build(t, k, err)
	before := unwords(record(41))
	for i := range params.Ring {
		before[params.RingAt+i] = uint32(100 + i)
	}
	for read, token := range map[uint32]uint32{0: 100, 7: 107, 15: 115, 16: 115} {
		before[plan.ParamsOutLen] = read
		got := unwords(d.run(t, b, map[string][]byte{kernels.Params: words(before)})[kernels.Params])
		want := slices.Clone(before)
		want[plan.ParamsToken], want[plan.ParamsPos], want[plan.ParamsLen], want[plan.ParamsOutLen] = token, 42, 43, read+1
		if !slices.Equal(got, want) {
			t.Errorf("params became %v, want %v", got, want)
		}
	}
}
