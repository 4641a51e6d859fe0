package kgenrt

import (
	"context"
	"math"
	"slices"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// WeightSource gives the bytes of a model's tensors as its file stores them.
type WeightSource interface {
	// ReadTensor fills p with the bytes of the tensor from offset on.
	ReadTensor(name string, offset int64, p []byte) error
}

// Progress tells how far loading has come, or feeding a prompt.
type Progress struct {
	Stage       string // kernels, weights, prompt
	Done, Total int64  // kernels compiled, bytes of the file placed, tokens fed
}

// weightChunk bounds the host memory that loading a tensor takes: about this many bytes of its file at a time.
const weightChunk = 4 << 20

// loadWeights streams every weight into its planes by its recipe.
func (e *Engine) loadWeights(ctx context.Context, src WeightSource, progress func(Progress)) error {
	var total, done int64
	for _, w := range e.plan.Weights {
		total += recipeBytes(&w.Recipe)
	}
	for i := range e.plan.Weights {
		w := &e.plan.Weights[i]
		err := e.loadWeight(ctx, src, w, func(n int64) {
			done += n
			progress(Progress{"weights", done, total})
		})
		if err != nil {
			return Wrap("load "+w.Tensor, err)
		}
	}
	return nil
}

func recipeBytes(r *plan.Recipe) int64 { return int64(r.Rows) * int64(r.RowBytes()) }

func (e *Engine) loadWeight(ctx context.Context, src WeightSource, w *plan.Weight, count func(int64)) error {
	r := &w.Recipe
	group := r.RowGroup()
	step := max(1, weightChunk/r.RowBytes()/group) * group
	raw := make([]byte, min(step, r.Rows)*r.RowBytes())
	var data []byte
	for row := 0; row < r.Rows; row += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := min(step, r.Rows-row)
		chunk := raw[:rows*r.RowBytes()]
		if err := src.ReadTensor(w.Tensor, int64(w.From+row)*int64(r.RowBytes()), chunk); err != nil {
			return err
		}
		for i, p := range r.Planes {
			offset, bytes := r.Span(i, row, rows)
			data = slices.Grow(data[:0], int(bytes))[:bytes]
			r.Repack(i, data, row, rows, chunk)
			if err := e.backend.Write(e.buffers[p.To.Buffer], p.To.Offset+offset, data); err != nil {
				return err
			}
		}
		count(int64(len(chunk)))
	}
	return nil
}

// loadTables computes the cos and sin tables in f64 and writes them: an angle in f32 would be off by 1e-4 at position 8191.
func (e *Engine) loadTables(ctx context.Context, src WeightSource) error {
	for i := range e.plan.Tables {
		t := &e.plan.Tables[i]
		frequencies, err := tableFrequencies(t, src)
		if err != nil {
			return Wrap("load "+t.Factors, err)
		}
		rowBytes := len(frequencies) * 8
		step := max(1, weightChunk/rowBytes)
		for first := 0; first < t.Positions; first += step {
			if err := ctx.Err(); err != nil {
				return Wrap("compute the position table", err)
			}
			rows := min(step, t.Positions-first)
			data := make([]byte, rows*rowBytes)
			for p := range rows {
				for i, f := range frequencies {
					sin, cos := math.Sincos(float64(first+p) * f)
					at := p*rowBytes + i*8
					putF32(data[at:], float32(cos))
					putF32(data[at+4:], float32(sin))
				}
			}
			err := e.backend.Write(e.buffers[t.To.Buffer], t.To.Offset+uint64(first*rowBytes), data)
			if err != nil {
				return Wrap("write the position table", err)
			}
		}
	}
	return nil
}

// tableFrequencies returns the angle of one position for each pair.
func tableFrequencies(t *plan.Table, src WeightSource) ([]float64, error) {
	factor := t.Factor
	if factor == 0 {
		factor = 1
	}
	frequencies := make([]float64, t.Dims/2)
	for i := range frequencies {
		frequencies[i] = math.Pow(t.Base, -2*float64(i)/float64(t.Dims)) * factor
	}
	if t.Factors == "" {
		return frequencies, nil
	}
	raw := make([]byte, len(frequencies)*4)
	if err := src.ReadTensor(t.Factors, 0, raw); err != nil {
		return nil, err
	}
	for i := range frequencies {
		frequencies[i] /= float64(getF32(raw[i*4:]))
	}
	return frequencies, nil
}
