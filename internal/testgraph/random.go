package testgraph

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// headSize is the size of heads in random graphs.
const headSize = 16

// Random draws a graph of 6 to 19 sums, norms, products, gates, caps, sums of reshaped values and attentions, each of values
// that came before, the latest more often. Weights are of every type that kernels have. The vocabulary has 40 tokens.
func Random(seed uint64) string {
	r := &randomGraph{Rand: rand.New(rand.NewPCG(seed, 9))}
	r.width = []int{32, 64, 96, 256}[r.IntN(4)]
	r.values = []string{r.node("embed %s, tokens", r.matrix(40, r.width))}
	for range 6 + r.IntN(14) {
		r.values = append(r.values, r.step())
	}
	end := r.values[len(r.values)-1]
	for range r.IntN(4) {
		end = r.node("add %s, %s", end, r.pick()) // so that less is dead
	}
	fmt.Fprintf(&r.nodes, "%%last = last %s : f32[1, %d]\n%%fin = rms_norm %%last, %s {eps=1e-05} : f32[1, %d]\n", end, r.width, r.vector(), r.width)
	fmt.Fprintf(&r.nodes, "%%logits = linear %%fin, %s : f32[1, 40]\n", r.matrix(40, r.width))
	return "graph \"random\"\ninput tokens: u32[T]\n" + r.weights.String() + r.nodes.String() + "output %logits\n"
}

type randomGraph struct {
	*rand.Rand
	width               int
	values              []string // of the width, in order
	made, drawn, layers int      // values, weights and attentions so far
	weights, nodes      strings.Builder
}

// pick returns the latest value half the time, else any.
func (r *randomGraph) pick() string {
	if r.IntN(2) == 0 {
		return r.values[len(r.values)-1]
	}
	return r.values[r.IntN(len(r.values))]
}

// matrix adds a weight: of f32, or half the time of any type whose blocks divide a row.
func (r *randomGraph) matrix(rows, columns int) string {
	elem := quant.F32
	if r.IntN(2) == 0 {
		fit := []quant.Type{quant.F16}
		for _, t := range quant.Types() {
			if block, _ := t.Block(); ScalesOf(t).Most > 0 && columns%block.Elems == 0 {
				fit = append(fit, t)
			}
		}
		elem = fit[r.IntN(len(fit))]
	}
	return r.weight(fmt.Sprintf("%s[%d, %d]", strings.ToLower(elem.String()), rows, columns))
}

// linear is the text of a product with a matrix, half the time with a bias.
func (r *randomGraph) linear(x string, rows, columns int) string {
	text := fmt.Sprintf("linear %s, %s", x, r.matrix(rows, columns))
	if r.IntN(2) == 0 {
		text += fmt.Sprintf(", %s {bias=true}", r.weight(fmt.Sprintf("f32[%d]", rows)))
	}
	return text
}

func (r *randomGraph) vector() string { return r.weight(fmt.Sprintf("f32[%d]", r.width)) }

func (r *randomGraph) weight(shape string) string {
	r.drawn++
	fmt.Fprintf(&r.weights, "weight w%d: %s\n", r.drawn, shape)
	return fmt.Sprintf("w%d", r.drawn)
}

// node adds a node whose result has the graph's width, shaped one of another shape.
func (r *randomGraph) node(format string, args ...any) string {
	return r.shaped(fmt.Sprintf("f32[T, %d]", r.width), format, args...)
}

func (r *randomGraph) shaped(shape, format string, args ...any) string {
	r.made++
	name := fmt.Sprintf("%%v%d", r.made)
	fmt.Fprintf(&r.nodes, "%s = %s : %s\n", name, fmt.Sprintf(format, args...), shape)
	return name
}

// step adds some nodes and returns a value of the graph's width.
func (r *randomGraph) step() string {
	a, b := r.pick(), r.pick()
	switch r.IntN(9) {
	case 0:
		return r.node("rms_norm %s, %s {eps=1e-05}", a, r.vector())
	case 1:
		return r.node("%s", r.linear(a, r.width, r.width))
	case 2:
		return r.node("glu %s, %s {act=%s}", a, b, []string{"silu", "gelu"}[r.IntN(2)])
	case 3:
		// Of values about 1: tanh of small ones is as exact as 1 is, on devices.
		return r.node("softcap %s {cap=3}", r.node("rms_norm %s, %s {eps=1e-05}", a, r.vector()))
	case 4:
		heads := fmt.Sprintf("f32[T, %d, %d]", r.width/headSize, headSize)
		sum := r.shaped(heads, "add %s, %s", r.shaped(heads, "reshape %s", a), r.shaped(heads, "reshape %s", b))
		return r.node("reshape %s", sum)
	case 5:
		return r.attention(a)
	}
	return r.node("add %s, %s", a, b)
}

func (r *randomGraph) attention(x string) string {
	heads := []int{1, 2, 4}[r.IntN(3)]
	kvHeads := []int{1, heads}[r.IntN(2)]
	h := r.node("rms_norm %s, %s {eps=1e-05}", x, r.vector())
	project := func(heads int) string {
		flat := r.shaped(fmt.Sprintf("f32[T, %d]", heads*headSize), "%s", r.linear(h, heads*headSize, r.width))
		return r.shaped(fmt.Sprintf("f32[T, %d, %d]", heads, headSize), "reshape %s", flat)
	}
	rotate := func(x string, heads int) string {
		return r.shaped(fmt.Sprintf("f32[T, %d, %d]", heads, headSize), "rope %s {style=norm, dims=%d, base=10000}", x, headSize)
	}
	q, k, v := project(heads), project(kvHeads), project(kvHeads)
	q, k = rotate(q, heads), rotate(k, kvHeads)
	cache := r.shaped(fmt.Sprintf("f32[2, S, %d, %d]", kvHeads, headSize), "kv_append %s, %s {layer=%d}", k, v, r.layers)
	r.layers++
	a := r.shaped(fmt.Sprintf("f32[T, %d, %d]", heads, headSize), "attention %s, %s {scale=0.25}", q, cache)
	flat := r.shaped(fmt.Sprintf("f32[T, %d]", heads*headSize), "reshape %s", a)
	return r.node("%s", r.linear(flat, r.width, heads*headSize))
}
