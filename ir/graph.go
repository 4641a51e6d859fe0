package ir

import "strconv"

// Graph is a model's computation for one call: T new tokens of one sequence that has S-T tokens in its KV cache. Nodes
// are in an order that defines every value before its use.
type Graph struct {
	Name    string
	Inputs  []*Tensor
	Weights []*Tensor
	Nodes   []*Node
	Outputs []*Tensor
}

// Node is one operation: In and Out are as the table of ops describes, Attrs holds the fields that the op reads.
type Node struct {
	Op    Op
	In    []*Tensor
	Out   []*Tensor
	Attrs Attrs
	Pos   Pos
}

// Op names an operation. The table in ops.go describes each: operands, results, attributes.
type Op uint8

// The operations. Shapes use T, S as package documentation defines them; n, m, h, d are integers.
const (
	// Embed looks rows up: (W [vocab, n], tokens u32 [T]) → [T, n], times Scale when it is not zero (gemma: sqrt(n)).
	Embed Op = iota + 1
	// RMSNorm is x / sqrt(mean(x²) + Eps) · w over the last dimension: (x [..., n], w [n]) → x's shape.
	RMSNorm
	// Linear is y = x·Wᵀ (+ bias) for one or more weights that share x: (x [T, n], W1 [m1, n], W2 [m2, n], ...) →
	// [T, m1], [T, m2], ... With Bias, the operands after the weights are as many biases [m1], [m2], ...
	Linear
	// Reshape gives the same elements in the same order another shape: (x) → Out's shape.
	Reshape
	// RoPE rotates pairs of the first Dims values of each head by angle position·Base^(-2i/Dims)·Factor / factors[i]:
	// (x [T, h, d], optional factors [Dims/2]) → x's shape. Style says which values form a pair.
	RoPE
	// KVAppend stores keys and values of the T new tokens in the cache of layer Layer and names all S of them:
	// (k [T, h, d], v [T, h, d]) → [2, S, h, d], keys first. Its element type, f32 or f16, is how the cache rounds.
	KVAppend
	// Attention is softmax(Scale·q·kᵀ + mask)·v with grouped heads, query head h reading KV head h·kvHeads/heads:
	// (q [T, h, d], kv [2, S, kvHeads, d]) → [T, h, d]. The mask is causal; Window w > 0 also hides keys w or more back.
	Attention
	// GLU is act(gate)·up: (gate [T, n], up [T, n]) → [T, n].
	GLU
	// Add is a + b, equal shapes.
	Add
	// Last keeps the last row: (x [T, n]) → [1, n].
	Last
	// Softcap is Cap·tanh(x/Cap).
	Softcap
	// ArgMax is the index of the largest element of each row, the lowest index among equals: (x [r, n]) → u32 [r].
	ArgMax
	// QuantQ8 gives each block of 32 values of x the form of 8-bit codes with a scale d and a scaled sum s:
	// (x [t, n]) → codes i8 [t, n], d [t, n/32], s [t, n/32]:
	//
	//	d = max|x|/127, code = round(x/d), ties to even, s = d·Σ codes
	//
	// d and s are rounded to f32, x/d is rounded to an integer alone. A block whose largest |x| is below 2^-118 is zero in all
	// three: where d or an x that counts would be subnormal, devices may take it for zero.
	QuantQ8
	// LinearQ8 is Linear of x = d·codes, not rounded between: (codes i8 [t, n], d [t, n/32], s [t, n/32], weights and biases
	// as Linear has them). s adds nothing to the result; kernels need it to take offsets of weights out of their sums.
	LinearQ8
)

// Attrs holds the attributes of all ops; each op reads those its table row lists, the rest are zero.
type Attrs struct {
	Eps    float64    // RMSNorm
	Scale  float64    // Embed, Attention
	Bias   bool       // Linear, LinearQ8
	Style  RoPEStyle  // RoPE
	Dims   int        // RoPE: how many values of a head rotate
	Base   float64    // RoPE
	Factor float64    // RoPE: multiplies the angle (linear scaling by 1/s); 0 means 1
	Layer  int        // KVAppend
	Window int        // Attention: 0 means all keys
	Cap    float64    // Softcap
	Act    Activation // GLU
}

// RoPEStyle says which values of a head rotate together.
type RoPEStyle uint8

// The styles by the names the field gives them.
const (
	Norm RoPEStyle = iota + 1 // values 2i and 2i+1: llama
	NeoX                      // values i and i+Dims/2: qwen, gemma
)

// Activation is the function of a GLU's gate.
type Activation uint8

// The activations.
const (
	SiLU Activation = iota + 1 // x / (1 + e^-x)
	GELU                       // 0.5·x·(1 + tanh(sqrt(2/π)·(x + 0.044715·x³)))
)

// LayerInputs returns the residual stream before each block of a decoder and, last, after all of them: the values that
// graph builders call layer.0.in, layer.1.in and so on.
func (g *Graph) LayerInputs() []*Tensor {
	var found []*Tensor
	for _, n := range g.Nodes {
		for _, t := range n.Out {
			if t.Name == "layer."+strconv.Itoa(len(found))+".in" {
				found = append(found, t)
			}
		}
	}
	return found
}
