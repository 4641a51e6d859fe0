package testgraph

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// Shape is the sizes of a decoder. The zero fields are: two layers, weights and cache of f32, rotation of whole heads in
// pairs of neighbours, attention to all keys, embeddings and logits as they are, a head that is the embedding.
type Shape struct {
	Width, Heads, KVHeads, Size, FFN, Vocab int
	Layers                                  int
	Weights, Cache                          string // q4_0; f32 or f16
	Style                                   string // norm or neox
	Dims, Window                            int
	Scale, Cap                              float64 // of embeddings, of logits
	Untied                                  bool
	Biases                                  bool   // of queries, keys and values
	Finer                                   string // the type of values, ffn down and the head, as files of mixed types have it; Weights if empty
}

// Text returns the decoder as text.
func (s Shape) Text() string {
	s.fill()
	w := &writer{shape: s}
	embedding := s.Weights
	if !s.Untied {
		embedding = s.Finer
	}
	w.weight(embedding, "embedding", s.Vocab, s.Width)
	scale := ""
	if s.Scale != 0 {
		scale = fmt.Sprintf(" {scale=%v}", s.Scale)
	}
	w.node("%%x.0 = embed embedding, tokens%s : f32[T, %d]", scale, s.Width)
	for layer := range s.Layers {
		w.layer = layer
		w.attention()
		w.feedForward()
	}
	w.head()
	return "graph \"shape\"\ninput tokens: u32[T]\n" + w.weights.String() + w.nodes.String() + "output %logits\n"
}

func (s *Shape) fill() {
	if s.Layers == 0 {
		s.Layers = 2
	}
	if s.Dims == 0 {
		s.Dims = s.Size
	}
	for _, d := range []struct {
		field *string
		value string
	}{{&s.Weights, "f32"}, {&s.Cache, "f32"}, {&s.Style, "norm"}} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	s.Finer = cmp.Or(s.Finer, s.Weights)
}

// writer writes weights and nodes of one layer after another; @ in a line is the layer.
type writer struct {
	shape          Shape
	layer          int
	weights, nodes strings.Builder
}

func (w *writer) name(s string) string { return strings.ReplaceAll(s, "@", fmt.Sprint(w.layer)) }

func (w *writer) weight(elem, name string, rows, columns int) {
	fmt.Fprintf(&w.weights, "weight %s: %s[%d, %d]\n", w.name(name), elem, rows, columns)
}

func (w *writer) vector(name string, columns int) {
	fmt.Fprintf(&w.weights, "weight %s: f32[%d]\n", w.name(name), columns)
}

func (w *writer) node(format string, args ...any) {
	fmt.Fprintln(&w.nodes, w.name(fmt.Sprintf(format, args...)))
}

func (w *writer) attention() {
	s := w.shape
	w.vector("norm.@", s.Width)
	w.weight(s.Weights, "q.@", s.Heads*s.Size, s.Width)
	w.weight(s.Weights, "k.@", s.KVHeads*s.Size, s.Width)
	w.weight(s.Finer, "v.@", s.KVHeads*s.Size, s.Width)
	w.weight(s.Weights, "o.@", s.Width, s.Heads*s.Size)
	w.node("%%h.@ = rms_norm %%x.@, norm.@ {eps=1e-05} : f32[T, %d]", s.Width)
	for _, p := range []struct {
		name  string
		heads int
	}{{"q", s.Heads}, {"k", s.KVHeads}, {"v", s.KVHeads}} {
		bias := ""
		if s.Biases {
			w.vector(p.name+"_bias.@", p.heads*s.Size)
			bias = ", " + p.name + "_bias.@ {bias=true}"
		}
		w.node("%%%s0.@ = linear %%h.@, %[1]s.@%s : f32[T, %d]", p.name, bias, p.heads*s.Size)
		w.node("%%%sh.@ = reshape %%%[1]s0.@ : f32[T, %d, %d]", p.name, p.heads, s.Size)
		if p.name != "v" {
			w.node("%%%sr.@ = rope %%%[1]sh.@ {style=%s, dims=%d, base=10000} : f32[T, %d, %d]", p.name, s.Style, s.Dims, p.heads, s.Size)
		}
	}
	window := ""
	if s.Window > 0 {
		window = fmt.Sprintf(", window=%d", s.Window)
	}
	w.node("%%c.@ = kv_append %%kr.@, %%vh.@ {layer=@} : %s[2, S, %d, %d]", s.Cache, s.KVHeads, s.Size)
	w.node("%%a.@ = attention %%qr.@, %%c.@ {scale=%v%s} : f32[T, %d, %d]", 1/math.Sqrt(float64(s.Size)), window, s.Heads, s.Size)
	w.node("%%ar.@ = reshape %%a.@ : f32[T, %d]", s.Heads*s.Size)
	w.node("%%ao.@ = linear %%ar.@, o.@ : f32[T, %d]", s.Width)
	w.node("%%m.@ = add %%x.@, %%ao.@ : f32[T, %d]", s.Width)
}

func (w *writer) feedForward() {
	s := w.shape
	w.vector("ffn_norm.@", s.Width)
	w.weight(s.Weights, "gate.@", s.FFN, s.Width)
	w.weight(s.Weights, "up.@", s.FFN, s.Width)
	w.weight(s.Finer, "down.@", s.Width, s.FFN)
	w.node("%%f.@ = rms_norm %%m.@, ffn_norm.@ {eps=1e-05} : f32[T, %d]", s.Width)
	w.node("%%g.@ = linear %%f.@, gate.@ : f32[T, %d]", s.FFN)
	w.node("%%u.@ = linear %%f.@, up.@ : f32[T, %d]", s.FFN)
	w.node("%%gu.@ = glu %%g.@, %%u.@ {act=silu} : f32[T, %d]", s.FFN)
	w.node("%%d.@ = linear %%gu.@, down.@ : f32[T, %d]", s.Width)
	w.node("%%x.%d = add %%m.@, %%d.@ : f32[T, %d]", w.layer+1, s.Width)
}

func (w *writer) head() {
	s := w.shape
	w.vector("final_norm", s.Width)
	head := "embedding"
	if s.Untied {
		head = "head"
		w.weight(s.Finer, head, s.Vocab, s.Width)
	}
	w.node("%%last = last %%x.%d : f32[1, %d]", s.Layers, s.Width)
	w.node("%%fin = rms_norm %%last, final_norm {eps=1e-05} : f32[1, %d]", s.Width)
	if s.Cap == 0 {
		w.node("%%logits = linear %%fin, %s : f32[1, %d]", head, s.Vocab)
		return
	}
	w.node("%%raw = linear %%fin, %s : f32[1, %d]", head, s.Vocab)
	w.node("%%logits = softcap %%raw {cap=%v} : f32[1, %d]", s.Cap, s.Vocab)
}
