package eval

import "github.com/kgen-wgsl/kgen/ir"

// rowChunk is how many rows of a weight a goroutine takes at once: enough work to pay for taking it, few enough to
// share the smallest matrices.
const rowChunk = 32

// linear computes y[t] = x[t]·Wᵀ + bias for each weight. Every dot product is summed in f64 in the order of the
// columns, whatever the number of tokens, so a token gets the same bits alone and in a batch.
func (r *run) linear(n *ir.Node) { r.products(n, 1, widen(&r.wide, r.floats(n.In[0]))) }

// products multiplies x with the weights of a node, the operands from first on, which biases follow.
func (r *run) products(n *ir.Node, first int, x []float64) {
	weights := n.In[first : first+len(n.Out)]
	for i, out := range n.Out {
		var bias []float32
		if n.Attrs.Bias {
			bias = r.floats(n.In[first+len(weights)+i])
		}
		r.multiply(r.make(out), r.weights[weights[i]], x, bias)
	}
}

func (r *run) multiply(y []float32, w *matrix, x []float64, bias []float32) {
	tokens := len(x) / w.columns
	r.pool.run(w.rows, rowChunk, func(s *scratch, from, to int) {
		for row := from; row < to; row += 4 {
			p := product{y: y, rows: w.rows, row: row, count: min(4, to-row), bias: bias}
			if tokens == 1 {
				p.narrow(s, w, x)
			} else {
				p.wide(s, w, x, tokens)
			}
		}
	})
}

// product is the part of a matrix product that one group of up to four weight rows makes.
type product struct {
	y          []float32 // [tokens, rows]
	rows       int
	row, count int // the group
	bias       []float32
}

// narrow serves one token: rows stay f32 and are converted as they are used.
func (p *product) narrow(s *scratch, w *matrix, x []float64) {
	k := w.columns
	s.row = sized(s.row, 4*k)
	for i := range 4 {
		w.row(s.row[i*k:(i+1)*k], p.row+min(i, p.count-1)) // a short group repeats its last row
	}
	p.store(0, dot4(s.row[:k], s.row[k:2*k], s.row[2*k:3*k], s.row[3*k:4*k], x))
}

// wide serves many tokens: rows are converted once.
func (p *product) wide(s *scratch, w *matrix, x []float64, tokens int) {
	k := w.columns
	s.row = sized(s.row, k)
	for i := range 4 {
		w.row(s.row, p.row+min(i, p.count-1))
		widen(&s.rows[i], s.row)
	}
	a, b, c, d := s.rows[0], s.rows[1], s.rows[2], s.rows[3]
	t := 0
	for ; t+3 <= tokens; t += 3 {
		x0, x1, x2 := x[t*k:(t+1)*k], x[(t+1)*k:(t+2)*k], x[(t+2)*k:(t+3)*k]
		ab := dot2x3(a, b, x0, x1, x2)
		cd := dot2x3(c, d, x0, x1, x2)
		for i := range 3 {
			p.store(t+i, [4]float64{ab[i][0], ab[i][1], cd[i][0], cd[i][1]})
		}
	}
	for ; t < tokens; t++ {
		p.store(t, dot4(a, b, c, d, x[t*k:(t+1)*k]))
	}
}

func (p *product) store(token int, sums [4]float64) {
	y := p.y[token*p.rows+p.row:][:p.count]
	for i := range y {
		if p.bias != nil {
			sums[i] += float64(p.bias[p.row+i])
		}
		y[i] = float32(sums[i])
	}
}

// dot4 returns the dot products of four rows with x. Four sums run side by side; each adds in order.
func dot4[E float32 | float64](a, b, c, d []E, x []float64) [4]float64 {
	a, b, c, d = a[:len(x)], b[:len(x)], c[:len(x)], d[:len(x)]
	var s0, s1, s2, s3 float64
	for i, v := range x {
		s0 += float64(a[i]) * v
		s1 += float64(b[i]) * v
		s2 += float64(c[i]) * v
		s3 += float64(d[i]) * v
	}
	return [4]float64{s0, s1, s2, s3}
}

// dot2x3 returns the dot products of two rows with three tokens, by token. Six sums are what fits the sixteen vector
// registers of amd64 with their operands; eight are half as fast, since some spill.
func dot2x3(a, b, x, y, z []float64) [3][2]float64 {
	a, b, y, z = a[:len(x)], b[:len(x)], y[:len(x)], z[:len(x)]
	var ax, bx, ay, by, az, bz float64
	for i, v := range x {
		s, t := a[i], b[i]
		ax += s * v
		bx += t * v
		v = y[i]
		ay += s * v
		by += t * v
		v = z[i]
		az += s * v
		bz += t * v
	}
	return [3][2]float64{{ax, bx}, {ay, by}, {az, bz}}
}

// widen converts to f64 into *buffer, which grows as needed.
func widen(buffer *[]float64, from []float32) []float64 {
	to := sized(*buffer, len(from))
	*buffer = to
	for i, v := range from {
		to[i] = float64(v)
	}
	return to
}
