package models

import (
	"math"
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/gguf"
)

// FromGGUF reads the hyperparameters from a file's header and checks that the file holds such a model. Errors are
// *ArchitectureError and *UnsupportedError for models of another kind, *KeyError, *TensorError, or a *gguf.Error for a key
// that is missing or of a wrong type.
func FromGGUF(f *gguf.File) (Hyperparameters, error) {
	name, err := f.String("general.architecture")
	if err != nil {
		return Hyperparameters{}, err
	}
	for _, a := range architectures {
		if a.name == name {
			return a.read(f)
		}
	}
	return Hyperparameters{}, &ArchitectureError{Got: name, Supported: Architectures()}
}

func (a architecture) read(f *gguf.File) (Hyperparameters, error) {
	k := keys{file: f, prefix: a.name + "."}
	h := Hyperparameters{Name: graphName(f, a.name), Architecture: a.name, Tensors: tensorTypes(f)}
	k.sizes(&h)
	k.numbers(&h)
	if k.err != nil {
		return h, k.err
	}
	if a.set(&h, &k); k.err != nil {
		return h, k.err
	}
	if scale := k.optionalFloat("attention.scale", 0); scale != 0 {
		h.AttentionScale = scale
	}
	k.refuse()
	if k.err != nil {
		return h, k.err
	}
	return h, h.check()
}

// graphName returns general.name in the characters of a file name, the architecture when the file gives none.
func graphName(f *gguf.File, architecture string) string {
	const longest = 200
	if e, err := f.Entry("general.name"); err != nil || e.Size() > longest {
		return architecture
	}
	name, err := f.String("general.name")
	name = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-."); err != nil || name == "" {
		return architecture
	}
	return name
}

// tensorTypes lists the file's tensors, with dimensions slowest first.
func tensorTypes(f *gguf.File) map[string]ir.Type {
	types := make(map[string]ir.Type, len(f.Tensors()))
	for _, t := range f.Tensors() {
		shape := make([]ir.Dim, len(t.Dims))
		for i, d := range t.Dims {
			shape[len(shape)-1-i] = ir.Dim(d)
		}
		types[t.Name] = ir.Type{Elem: ir.Elem(t.Type), Shape: shape}
	}
	return types
}

// keys reads the keys of one architecture; the first error sticks.
type keys struct {
	file   *gguf.File
	prefix string
	err    error
}

func (k *keys) fail(err error) {
	if k.err == nil && err != nil {
		k.err = err
	}
}

func (k *keys) wrong(key, want, got string) {
	k.fail(&KeyError{Key: k.prefix + key, Want: want, Got: got})
}

func (k *keys) unsupported(key, got, supported string) {
	k.fail(&UnsupportedError{Field: "key " + k.prefix + key, Got: got, Supported: supported})
}

func (k *keys) int(key string) int {
	v, err := k.file.Int(k.prefix + key)
	k.fail(err)
	if err == nil && (v < 1 || v > math.MaxInt32) {
		k.wrong(key, "a positive 32-bit number", number(v))
	}
	return v
}

func (k *keys) optionalInt(key string, fallback int) int {
	v, err := gguf.Default(k.file.Int, k.prefix+key, fallback)
	k.fail(err)
	return v
}

func (k *keys) optionalFloat(key string, fallback float64) float64 {
	v, err := gguf.Default(k.file.Float, k.prefix+key, fallback)
	k.fail(err)
	return v
}

// perLayer reads a key that may hold a number for each layer; here they must all be the same.
func (k *keys) perLayer(key string, layers int) int {
	list, err := k.file.IntPerLayer(k.prefix+key, layers)
	if k.fail(err); err != nil {
		return 0
	}
	for _, v := range list {
		switch {
		case v < 0 || v == 0 && list[0] == 0 || v > math.MaxInt32:
			k.wrong(key, "a positive number", number(v))
		case v != list[0]:
			k.unsupported(key, number(list[0])+" for one layer and "+number(v)+" for another", "one number for all layers")
		}
	}
	return list[0]
}

func number(v int) string { return strconv.Itoa(v) }

func (k *keys) sizes(h *Hyperparameters) {
	h.Layers = k.int("block_count")
	if tensors := len(h.Tensors); k.err == nil && h.Layers > tensors {
		k.wrong("block_count", "no more layers than tensors, "+number(tensors), number(h.Layers))
	}
	h.Context = k.int("context_length")
	h.Width = k.int("embedding_length")
	if k.err != nil {
		return
	}
	h.FFN = k.perLayer("feed_forward_length", h.Layers)
	h.Heads = k.perLayer("attention.head_count", h.Layers)
	h.KVHeads = h.Heads
	if k.file.Has(k.prefix + "attention.head_count_kv") {
		h.KVHeads = k.perLayer("attention.head_count_kv", h.Layers)
	}
	if k.err == nil {
		k.heads(h)
	}
	if embedding := h.Tensors["token_embd.weight"]; len(embedding.Shape) == 2 {
		h.Vocab = int(embedding.Shape[0])
	}
	_, separate := h.Tensors["output.weight"]
	h.Tied = !separate
}

// heads sets the head's dimension: the key, or the width's share.
func (k *keys) heads(h *Hyperparameters) {
	h.HeadDim = k.optionalInt("attention.key_length", 0)
	if h.HeadDim == 0 {
		if h.Width%h.Heads != 0 {
			k.wrong("attention.head_count", "a divisor of embedding_length "+number(h.Width), number(h.Heads))
		}
		h.HeadDim = h.Width / h.Heads
	}
	if v := k.optionalInt("attention.value_length", h.HeadDim); v != h.HeadDim {
		k.unsupported("attention.value_length", number(v), "attention.key_length, "+number(h.HeadDim))
	}
	h.RoPEDims = k.optionalInt("rope.dimension_count", h.HeadDim)
}

func (k *keys) numbers(h *Hyperparameters) {
	eps, err := k.file.Float(k.prefix + "attention.layer_norm_rms_epsilon")
	k.fail(err)
	h.Eps = eps
	h.RoPEBase = k.optionalFloat("rope.freq_base", 10000)
	if h.HeadDim > 0 {
		h.AttentionScale = 1 / math.Sqrt(float64(h.HeadDim))
	}
	h.RoPEFactor = k.linearScaling()
}

// linearScaling returns what angles are multiplied by: the inverse of the factor by which positions are stretched.
func (k *keys) linearScaling() float64 {
	kind, err := gguf.Default(k.file.String, k.prefix+"rope.scaling.type", "linear")
	k.fail(err)
	if kind != "linear" && kind != "none" {
		k.unsupported("rope.scaling.type", quote(kind), "none, linear")
	}
	stretch := k.optionalFloat("rope.scaling.factor", k.optionalFloat("rope.scale_linear", 0))
	switch {
	case kind == "none" || stretch == 0 || stretch == 1:
		return 0
	case !(stretch > 0) || math.IsInf(stretch, 0):
		k.wrong("rope.scaling.factor", "a positive number", strconv.FormatFloat(stretch, 'g', -1, 64))
		return 0
	}
	return 1 / stretch
}

// refuse reports keys whose effect the graph would leave out.
func (k *keys) refuse() {
	for _, c := range []struct {
		key     string
		neutral float64
	}{{"attn_logit_softcapping", 0}, {"rope.scaling.attn_factor", 1}} {
		if v := k.optionalFloat(c.key, c.neutral); v != c.neutral {
			k.unsupported(c.key, strconv.FormatFloat(v, 'g', -1, 64), strconv.FormatFloat(c.neutral, 'g', -1, 64))
		}
	}
	tokens, err := k.file.Entry("tokenizer.ggml.tokens")
	if rows := k.embeddingRows(); err == nil && rows > 0 && tokens.Count > rows {
		k.fail(&KeyError{Key: "tokenizer.ggml.tokens", Want: "at most " + number(rows) + " tokens, the rows of token_embd.weight", Got: number(tokens.Count)})
	}
}

func (k *keys) embeddingRows() int {
	t, err := k.file.Tensor("token_embd.weight")
	if err != nil {
		return 0
	}
	return t.Rows()
}
