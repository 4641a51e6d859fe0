package eval

import (
	"math"

	"github.com/kgen-wgsl/kgen/ir"
)

// embed looks the tokens' rows up.
func (r *run) embed(n *ir.Node) {
	w, y, scale := r.weights[n.In[0]], r.make(n.Out[0]), n.Attrs.Scale
	for i, token := range r.indices(n.In[1]) {
		row := y[i*w.columns : (i+1)*w.columns]
		w.row(row, int(token))
		if scale != 0 {
			for j, v := range row {
				row[j] = float32(float64(v) * scale)
			}
		}
	}
}

// rmsNorm is x / sqrt(mean(x²) + eps) · w, rounded once.
func (r *run) rmsNorm(n *ir.Node) {
	x, w, y := r.floats(n.In[0]), r.floats(n.In[1]), r.make(n.Out[0])
	k := len(w)
	for at := 0; at < len(x); at += k {
		in, out := x[at:at+k], y[at:at+k]
		var sum float64
		for _, v := range in {
			sum += float64(v) * float64(v)
		}
		inverse := 1 / math.Sqrt(sum/float64(k)+n.Attrs.Eps)
		for i, v := range in {
			out[i] = float32(float64(v) * inverse * float64(w[i]))
		}
	}
}

func (r *run) glu(n *ir.Node) {
	gate, up, y := r.floats(n.In[0]), r.floats(n.In[1]), r.make(n.Out[0])
	act := silu
	if n.Attrs.Act == ir.GELU {
		act = gelu
	}
	r.pool.run(len(y), 4096, func(_ *scratch, from, to int) {
		for i := from; i < to; i++ {
			y[i] = float32(act(float64(gate[i])) * float64(up[i]))
		}
	})
}

func silu(x float64) float64 { return x / (1 + math.Exp(-x)) }

// gelu is the form with tanh, the one that model files mean by GELU.
func gelu(x float64) float64 {
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func (r *run) add(n *ir.Node) {
	a, b, y := r.floats(n.In[0]), r.floats(n.In[1]), r.make(n.Out[0])
	for i := range y {
		y[i] = a[i] + b[i]
	}
}

func (r *run) last(n *ir.Node) {
	x, y := r.floats(n.In[0]), r.make(n.Out[0])
	copy(y, x[len(x)-len(y):])
}

func (r *run) softcap(n *ir.Node) {
	x, y := r.floats(n.In[0]), r.make(n.Out[0])
	for i, v := range x {
		y[i] = float32(n.Attrs.Cap * math.Tanh(float64(v)/n.Attrs.Cap))
	}
}

func (r *run) argMax(n *ir.Node) {
	x, columns := r.floats(n.In[0]), n.In[0].Columns()
	indices := make([]uint32, len(x)/columns)
	for i := range indices {
		indices[i] = argMax(x[i*columns : (i+1)*columns])
	}
	r.values[n.Out[0]] = value{indices: indices}
}

// argMax returns the index of the largest value, the lowest among equals. NaN is never the largest; of nothing but NaN it is
// 0xffffffff.
func argMax(x []float32) uint32 {
	best := -1
	for i, v := range x {
		if v == v && (best < 0 || v > x[best]) {
			best = i
		}
	}
	return uint32(best)
}
