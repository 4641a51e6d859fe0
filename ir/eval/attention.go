package eval

import (
	"math"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/x448/float16"
)

// rope rotates pairs of each head by angles computed in f64, with cosine and sine rounded to f32: the numbers of the
// table that kernels read.
func (r *run) rope(n *ir.Node) {
	x, y, a := r.floats(n.In[0]), r.make(n.Out[0]), &n.Attrs
	var factors []float32
	if len(n.In) == 2 {
		factors = r.floats(n.In[1])
	}
	steps := angles(a, factors)
	head := n.In[0].Columns()
	perToken := len(x) / r.sizes.Of(n.In[0].Shape[0])
	copy(y, x)
	for at := 0; at < len(y); at += perToken {
		position := float64(r.start + at/perToken)
		for i, step := range steps {
			sin, cos := math.Sincos(position * step)
			first, second := pair(a, i)
			rotate(y[at:at+perToken], head, first, second, float32(cos), float32(sin))
		}
	}
}

// angles returns what each pair turns by from one position to the next: Base^(-2i/Dims)·Factor/factors[i].
func angles(a *ir.Attrs, factors []float32) []float64 {
	steps := make([]float64, a.Dims/2)
	for i := range steps {
		steps[i] = math.Pow(a.Base, -2*float64(i)/float64(a.Dims))
		if a.Factor != 0 {
			steps[i] *= a.Factor
		}
		if factors != nil {
			steps[i] /= float64(factors[i])
		}
	}
	return steps
}

// pair returns which values of a head rotate as pair i.
func pair(a *ir.Attrs, i int) (first, second int) {
	if a.Style == ir.NeoX {
		return i, i + a.Dims/2
	}
	return 2 * i, 2*i + 1
}

// rotate turns one pair in every head of a token.
func rotate(x []float32, head, first, second int, cos, sin float32) {
	c, s := float64(cos), float64(sin)
	for at := 0; at < len(x); at += head {
		a, b := float64(x[at+first]), float64(x[at+second])
		x[at+first] = float32(a*c - b*s)
		x[at+second] = float32(a*s + b*c)
	}
}

// cache holds keys and values of one layer, a row of all KV heads per position.
type cache struct{ keys, values []float32 }

// kvAppend stores the new rows behind the first start positions; what was behind them before is dropped.
func (r *run) kvAppend(n *ir.Node) {
	out := n.Out[0]
	c := r.caches[n.Attrs.Layer]
	if c == nil {
		c = &cache{}
		r.caches[n.Attrs.Layer] = c
	}
	row := int(out.Shape[2]) * int(out.Shape[3])
	c.keys = append(c.keys[:r.start*row], stored(r.floats(n.In[0]), out.Elem)...)
	c.values = append(c.values[:r.start*row], stored(r.floats(n.In[1]), out.Elem)...)
	r.values[out] = value{cache: *c}
}

// stored returns the numbers as a buffer of the element type keeps them.
func stored(x []float32, elem ir.Elem) []float32 {
	if elem != ir.F16 {
		return x
	}
	rounded := make([]float32, len(x))
	for i, v := range x {
		rounded[i] = float16.Fromfloat32(v).Float32()
	}
	return rounded
}

// attention is causal softmax attention; scores, softmax and the weighted sum are f64.
func (r *run) attention(n *ir.Node) {
	q, kv, y := r.floats(n.In[0]), r.values[n.In[1]].cache, r.make(n.Out[0])
	heads, d := int(n.In[0].Shape[1]), n.In[0].Columns()
	kvHeads := int(n.In[1].Shape[2])
	tokens := r.sizes.T
	r.pool.run(tokens*heads, 1, func(s *scratch, from, _ int) {
		token, head := from/heads, from%heads
		end := r.start + token + 1
		h := headView{keys: kv.keys, values: kv.values, stride: kvHeads * d, at: head * kvHeads / heads * d, d: d, end: end}
		if w := n.Attrs.Window; w > 0 {
			h.begin = max(0, end-w)
		}
		h.attend(s, q[from*d:(from+1)*d], n.Attrs.Scale, y[from*d:(from+1)*d])
	})
}

// headView is one KV head's part of a cache: the positions begin to end that a query sees.
type headView struct {
	keys, values  []float32
	stride, at, d int // row p of the head starts at p·stride + at and has d values
	begin, end    int
}

func (h *headView) row(of []float32, position int) []float32 {
	return of[position*h.stride+h.at:][:h.d]
}

func (h *headView) attend(s *scratch, q []float32, scale float64, y []float32) {
	sums := widen(&s.sums, q)
	scores := h.scores(s, sums)
	largest := math.Inf(-1)
	for i := range scores {
		scores[i] *= scale
		largest = max(largest, scores[i])
	}
	var total float64
	clear(sums)
	for i, score := range scores {
		p := math.Exp(score - largest)
		total += p
		for j, v := range h.row(h.values, h.begin+i)[:len(sums)] {
			sums[j] += p * float64(v)
		}
	}
	for j := range y {
		y[j] = float32(sums[j] / total)
	}
}

// scores returns q·k for every visible position.
func (h *headView) scores(s *scratch, q []float64) []float64 {
	count := h.end - h.begin
	s.scores = sized(s.scores, count+3)
	for i := 0; i < count; i += 4 {
		at := func(k int) []float32 { return h.row(h.keys, min(h.begin+i+k, h.end-1)) }
		four := dot4(at(0), at(1), at(2), at(3), q)
		copy(s.scores[i:i+4], four[:])
	}
	return s.scores[:count]
}
