package suite

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/schedules"
	"github.com/x448/float16"
)

func (t *table) rope() {
	p := t.profile
	for i, c := range []struct {
		heads, kvHeads, size, dims int
		style                      ir.RoPEStyle
	}{
		{9, 3, 64, 64, ir.Norm}, {8, 2, 64, 64, ir.NeoX}, {4, 4, 80, 20, ir.NeoX}, {4, 2, 80, 80, ir.NeoX}, {2, 1, 96, 32, ir.Norm},
		{2, 1, 128, 128, ir.NeoX}, {1, 1, 6, 6, ir.NeoX}, {3, 1, 10, 6, ir.NeoX}, {1, 1, 256, 256, ir.Norm}, {2, 2, 64, 2, ir.Norm},
		{1, 1, 300, 300, ir.NeoX}, {2, 1, 512, 512, ir.NeoX}, {1, 1, 1000, 1000, ir.Norm}, // more pairs than any workgroup has threads
	} {
		for j, f16 := range []bool{false, true} {
			r := kernels.RoPEKV{Heads: c.heads, KVHeads: c.kvHeads, Size: c.size, Dims: c.dims, Style: c.style, Positions: 128, Params: params, KV: kv(f16)}
			s := schedules.DefaultElementwise(p)
			if i%3 == 1 {
				s.Workgroup = 7
			}
			name := fmt.Sprintf("%dx%dx%d-dims%d-style%d-%s-group%d", c.heads, c.kvHeads, c.size, c.dims, c.style, cacheName(f16), s.Workgroup)
			t.add("rope", name, c.heads*c.size, i+j, func() (kernels.Kernel, error) { return r.Kernel(s, p) }, kernels.K, kernels.V)
		}
	}
}

func cacheName(f16 bool) string {
	if f16 {
		return "f16"
	}
	return "f32"
}

func (t *table) attention() {
	p := t.profile
	for i, c := range []struct {
		heads, kvHeads, size, workgroup, window int
		f16                                     bool
	}{
		{9, 3, 64, 0, 0, false}, {9, 3, 64, 0, 0, true}, {8, 8, 80, 0, 0, true}, {4, 1, 96, 32, 0, false}, {2, 1, 128, 0, 0, true},
		{2, 2, 256, 0, 0, false}, {2, 1, 64, 128, 0, true}, {2, 1, 64, 4, 0, false}, {4, 2, 64, 0, 16, false}, {4, 2, 64, 32, 33, true},
		{2, 1, 300, 0, 0, false}, {1, 1, 512, 0, 0, true}, // several elements for each thread
		{3, 1, 80, 0, 0, false}, {2, 2, 96, 0, 0, true}, {1, 1, 128, 8, 0, false}, {2, 1, 256, 0, 65, true},
	} {
		a := attentionOf(c.heads, c.kvHeads, c.size, c.window, c.f16, 1/math.Sqrt(float64(c.size)))
		s := schedules.DefaultAttention(a.Problem(), p)
		if c.workgroup > 0 {
			s.Workgroup = c.workgroup
		}
		name := fmt.Sprintf("%dx%dx%d-%s-window%d-group%d", c.heads, c.kvHeads, c.size, cacheName(c.f16), c.window, s.Workgroup)
		t.add("attention", name, c.heads*c.size, i, func() (kernels.Kernel, error) { return a.Kernel(s, p) })
	}
}

func attentionOf(heads, kvHeads, size, window int, f16 bool, scale float64) kernels.AttentionDecode {
	return kernels.AttentionDecode{Heads: heads, KVHeads: kvHeads, Size: size, Scale: scale, Window: window, Params: params, KV: kv(f16)}
}

func (t *table) softmax() {
	p := t.profile
	for i, f16 := range []bool{false, true} {
		for j, window := range []int{0, 33} {
			a := attentionOf(4, 2, 64, window, f16, 1)
			s := schedules.DefaultAttention(a.Problem(), p)
			c := t.add("softmax", fmt.Sprintf("%s-window%d", cacheName(f16), window), 64, i+j, func() (kernels.Kernel, error) { return a.Kernel(s, p) })
			c.trials = func(_ *Kernel, seed uint64) ([]Trial, error) { return softmaxTrials(a, seed), nil }
		}
	}
}

func (t *table) sampling() {
	p := t.profile
	for i, n := range []int{1, 2, 65, 1000, 5001} {
		for j, partials := range []int{0, 3} {
			s := schedules.DefaultArgMax(n, p)
			if partials > 0 {
				s.Partials = partials
			}
			name := fmt.Sprintf("%d-in-%d", n, s.Partials)
			t.add("argmax_partials", name, n, i+j, func() (kernels.Kernel, error) { return kernels.ArgMaxPartials{N: n}.Kernel(s, p) })
			t.add("argmax_final", name, n, i+j, func() (kernels.Kernel, error) { return kernels.ArgMaxFinal{N: n, Params: params}.Kernel(s, p) })
		}
	}
	t.add("advance", "ring16", 1, 0, func() (kernels.Kernel, error) { return kernels.Advance{Params: params}.Kernel() })
}

// gemvExact adds up 512 products of 1 and 256. The sum, twice what f16 holds, is exact in f32 in any order. With codes of 127 the
// scale is 256/127, so that rounding it shows; what f16 does to the sum shows far more.
func (t *table) gemvExact() {
	const rows, columns, sum = 3, 512, 131072
	x := make([]float32, columns)
	for i := range x {
		x[i] = 256
	}
	trials := func(g kernels.GEMV, x []byte, slack float64) ([]Trial, error) {
		w, err := Ones(g.Format, rows*columns)
		if err != nil {
			return nil, err
		}
		inputs := map[string][]Part{kernels.X: Whole(x)}
		err = planes(g.Format, columns, wholeRuns(g.Results, []Weight{w}), inputs)
		return []Trial{{Inputs: inputs, Check: func(out map[string][]byte) error {
			for row, y := range Unfloats(out[kernels.Result(0)]) {
				if !(math.Abs(float64(y)-sum) <= sum*slack) {
					return fmt.Errorf("row %d is %v, want %v", row, y, sum)
				}
			}
			return nil
		}}}, err
	}
	for i, format := range kernels.Formats() {
		g := kernels.GEMV{Format: format, Columns: columns, Results: []int{rows}, Epilogue: kernels.Store}
		t.product("gemv_exact", i, g, nil).trials = func(*Kernel, uint64) ([]Trial, error) { return trials(g, Floats(x), 0) }
	}
	for i, format := range kernels.FormatsQ8() {
		g := kernels.GEMV{Format: format, Columns: columns, Results: []int{rows}, X: schedules.XQ8, Epilogue: kernels.Store}
		t.product("gemv_q8_exact", i, g, nil).trials = func(*Kernel, uint64) ([]Trial, error) {
			q, err := Quantise(x)
			if err != nil {
				return nil, err
			}
			return trials(g, q.Bytes(), 1e-6)
		}
	}
}

// Ones is a weight of n values that are all 1.
func Ones(format quant.Type, n int) (Weight, error) {
	block, _ := format.Block()
	raw := make([]byte, n/block.Elems*block.Bytes)
	for at := 0; at < len(raw); at += block.Bytes {
		oneBlock(format, raw[at:][:block.Bytes])
	}
	w, err := decoded(format, raw, n)
	for i, v := range w.Values {
		if v != 1 {
			return w, fmt.Errorf("%v: value %d is %v, not 1", format, i, v)
		}
	}
	return w, err
}

func oneBlock(format quant.Type, b []byte) {
	codes, code := b[len(b):], byte(0)
	one := 0 // where the f16 is that is 1
	switch format {
	case quant.F32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(1))
		return
	case quant.Q8_0:
		codes, code = b[2:], 1
	case quant.Q4_0:
		codes, code = b[2:], 0x99 // 9 − 8
	case quant.Q4_1:
		codes, code = b[4:], 0x11
	case quant.Q5_0:
		fill(b[2:6], 0xff)
		codes, code = b[6:], 0x11 // 17 − 16
	case quant.Q5_1:
		codes, code = b[8:], 0x11
	case quant.IQ4_NL:
		codes, code = b[2:], 0x88 // level 1
	case quant.MXFP4:
		b[0] = 128
		fill(b[1:], 0x11)
		return
	case quant.Q2_K:
		fill(b[:16], 1)
		codes, code, one = b[16:80], 0x55, 80
	case quant.Q3_K: // scales of 33 − 32, codes of 5 − 4
		fill(b[:32], 0xff)
		fill(b[96:104], 0x11)
		fill(b[104:108], 0xaa)
		codes, code, one = b[32:96], 0x55, 108
	case quant.Q4_K: // scales of 1, minima of 0
		copy(b[4:], []byte{1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1})
		codes, code = b[16:], 0x11
	case quant.Q5_K:
		copy(b[4:], []byte{1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1})
		codes, code = b[48:], 0x11
	case quant.Q6_K: // codes of 33 − 32
		fill(b[128:192], 0xaa)
		fill(b[192:208], 1)
		codes, code, one = b[:128], 0x11, 208
	}
	binary.LittleEndian.PutUint16(b[one:], uint16(float16.Fromfloat32(1)))
	fill(codes, code)
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}
