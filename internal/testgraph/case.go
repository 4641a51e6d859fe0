package testgraph

import (
	"fmt"
	"regexp"
	"strings"
)

// Case is a decoder of one layer with some lines changed, by a compiler's hand or a user's.
type Case struct {
	Name    string
	Between string   // lines between the rotation of q and k and the store of k and v
	After   string   // lines in place of "%y = add %x, %ao", which ends the layer
	Edits   []string // pairs of an old and a new part of the text, before all
	Keep    []string // values that are to stay readable
	Refused string   // part of the refusal; empty for a graph that must give what the evaluator gives
}

// weights are the tensors that a case may use, as it uses them: those that its text does not name are left out.
var weights = []string{
	"embedding: f32[50, 64]", "norm: f32[64]", "q: f32[64, 64]", "k: f32[32, 64]", "v: f32[32, 64]", "o: f32[64, 64]",
	"final_norm: f32[64]", "head_norm: f32[16]", "kv_norm: f32[32]", "factors: f32[8]", "factors2: f32[8]", "f16_factors: f16[8]", "f16_norm: f16[64]",
	"p: f32[64, 64]", "r: f32[64, 64]", "s: f32[64, 64]", "up: f32[64, 32]", "square: f32[50, 50]", "eight: f32[8, 64]",
}

const (
	embed     = "%x = embed embedding, tokens : f32[T, 64]\n"
	project   = "%h = rms_norm %x, norm {eps=1e-05} : f32[T, 64]\n" + query + key + value
	query     = "%q0 = linear %h, q : f32[T, 64]\n%qh = reshape %q0 : f32[T, 4, 16]\n"
	key       = "%k0 = linear %h, k : f32[T, 32]\n%kh = reshape %k0 : f32[T, 2, 16]\n"
	value     = "%v0 = linear %h, v : f32[T, 32]\n%vh = reshape %v0 : f32[T, 2, 16]\n"
	rotate    = "%qr = rope %qh {style=norm, dims=16, base=10000} : f32[T, 4, 16]\n%kr = rope %kh {style=norm, dims=16, base=10000} : f32[T, 2, 16]\n"
	store     = "%c = kv_append %kr, %vh {layer=0} : f32[2, S, 2, 16]\n"
	attention = "%a = attention %qr, %c {scale=0.25} : f32[T, 4, 16]\n%ar = reshape %a : f32[T, 64]\n%ao = linear %ar, o : f32[T, 64]\n"
	layerEnd  = "%y = add %x, %ao : f32[T, 64]\n"
	head      = "%last = last %y : f32[1, 64]\n%fin = rms_norm %last, final_norm {eps=1e-05} : f32[1, 64]\n%logits = linear %fin, embedding : f32[1, 50]\n"
	output    = "output %logits\n"
)

// Text returns the graph as text.
func (c Case) Text() string {
	after := c.After
	if after == "" {
		after = layerEnd
	}
	body := c.edited(embed + project + rotate + lines(c.Between) + store + attention + lines(after) + head + output)
	var declared strings.Builder
	for _, w := range weights {
		name, _, _ := strings.Cut(w, ":")
		if regexp.MustCompile(`[ ,]` + name + `\b[^:]*? :`).MatchString(body) {
			declared.WriteString("weight " + w + "\n")
		}
	}
	return "graph \"case\"\ninput tokens: u32[T]\n" + c.retyped(declared.String()) + body
}

func lines(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	return s + "\n"
}

// edited applies the edits of nodes, retyped those of weights.
func (c Case) edited(text string) string  { return c.apply(text, false) }
func (c Case) retyped(text string) string { return c.apply(text, true) }

func (c Case) apply(text string, ofWeights bool) string {
	for i := 0; i+1 < len(c.Edits); i += 2 {
		old, edited := c.Edits[i], c.Edits[i+1]
		if strings.HasPrefix(old, "weight ") != ofWeights {
			continue
		}
		if !strings.Contains(text, old) {
			panic(fmt.Sprintf("case %s: the text does not hold %q", c.Name, old))
		}
		text = strings.ReplaceAll(text, old, edited)
	}
	return text
}

// Cases returns all cases.
func Cases() []Case {
	all := []Case{{Name: "as it is"}}
	for _, group := range [][]Case{rotations(), sums(), products(), kept(), outputs(), unusual()} {
		all = append(all, group...)
	}
	return all
}

// rotations read queries, keys and values before, between and after the step that rotates and stores them.
func rotations() []Case {
	const rotated = "node c (kv_append): qh is read after it was rotated in place"
	return []Case{
		{Name: "the raw query is added after its rotation", After: "%s = add %ao, %q0 : f32[T, 64]\n%y = add %x, %s : f32[T, 64]", Refused: rotated},
		{Name: "the raw query is multiplied after its rotation", After: "%z = linear %q0, p : f32[T, 64]\n%s = add %ao, %z : f32[T, 64]\n%y = add %x, %s : f32[T, 64]", Refused: rotated},
		{Name: "the raw query is rotated again", After: "%q2 = rope %qh {style=norm, dims=8, base=10000} : f32[T, 4, 16]\n%s = add %q2, %a : f32[T, 4, 16]\n%s2 = reshape %s : f32[T, 64]\n%y = add %x, %s2 : f32[T, 64]", Refused: rotated},
		{Name: "the raw query is added while it waits for its rotation", Between: "%s = add %q0, %x : f32[T, 64]", After: "%t = add %ao, %s : f32[T, 64]\n%y = add %x, %t : f32[T, 64]"},
		{Name: "a sum in place of the keys while they wait for their rotation", Between: "%s = add %k0, %v0 : f32[T, 32]", After: "%z = linear %s, up : f32[T, 64]\n%t = add %ao, %z : f32[T, 64]\n%y = add %x, %t : f32[T, 64]"},
		{Name: "a norm in place of the keys while they wait for their rotation", Between: "%s = rms_norm %k0, kv_norm {eps=1e-05} : f32[T, 32]", After: "%z = linear %s, up : f32[T, 64]\n%t = add %ao, %z : f32[T, 64]\n%y = add %x, %t : f32[T, 64]"},
		{Name: "a sum in place of the values before they are stored", Between: "%s = add %v0, %k0 : f32[T, 32]", After: "%z = linear %s, up : f32[T, 64]\n%t = add %ao, %z : f32[T, 64]\n%y = add %x, %t : f32[T, 64]"},
		{Name: "a norm in place of the values after they are stored", After: "%s = rms_norm %v0, kv_norm {eps=1e-05} : f32[T, 32]\n%z = linear %s, up : f32[T, 64]\n%t = add %ao, %z : f32[T, 64]\n%y = add %x, %t : f32[T, 64]"},
		{Name: "the rotated query is read after attention", After: "%q2 = reshape %qr : f32[T, 64]\n%s = add %q2, %ao : f32[T, 64]\n%y = add %x, %s : f32[T, 64]"},
		{Name: "the rotated keys are read after they are stored", After: "%k2 = reshape %kr : f32[T, 32]\n%z = linear %k2, up : f32[T, 64]\n%s = add %z, %ao : f32[T, 64]\n%y = add %x, %s : f32[T, 64]", Refused: "node k2 (reshape): its operand kr has no value in memory"},
		{Name: "the values are read after they are stored", After: "%z = linear %v0, up : f32[T, 64]\n%s = add %z, %ao : f32[T, 64]\n%y = add %x, %s : f32[T, 64]"},
		{Name: "a rotation that nothing stores", After: "%q2 = linear %ao, p : f32[T, 64]\n%q3 = reshape %q2 : f32[T, 4, 16]\n%q4 = rope %q3 {style=norm, dims=16, base=10000} : f32[T, 4, 16]\n%s = add %q4, %a : f32[T, 4, 16]\n%s2 = reshape %s : f32[T, 64]\n%y = add %x, %s2 : f32[T, 64]", Refused: "node s (add): its operand q4 has no value in memory"},
		{Name: "normed heads", Edits: []string{"%qh = reshape %q0 : f32[T, 4, 16]", "%q1 = reshape %q0 : f32[T, 4, 16]\n%qh = rms_norm %q1, head_norm {eps=1e-05} : f32[T, 4, 16]"}},
		{Name: "a product beside queries, keys and values", After: "%z = linear %h, p : f32[T, 64]\n%s = add %z, %ao : f32[T, 64]\n%y = add %x, %s : f32[T, 64]"},
		{Name: "keys before queries", Edits: []string{query + key, key + query}},
		{Name: "keys before queries, and a product beside them", Edits: []string{query + key, key + query}, After: "%z = linear %h, p : f32[T, 64]\n%s = add %z, %ao : f32[T, 64]\n%y = add %x, %s : f32[T, 64]", Refused: "node c (kv_append): value q0 cannot lie beside the others of q0: it has another place already"},
		{Name: "queries and keys rotate by other dims", Edits: []string{"rope %qh {style=norm, dims=16", "rope %qh {style=norm, dims=8"}, Refused: "node c (kv_append): queries and keys rotate differently"},
		{Name: "queries and keys rotate by other factors", Edits: []string{"rope %qh {", "rope %qh, factors {", "rope %kh {", "rope %kh, factors2 {"}, Refused: "node c (kv_append): queries and keys rotate differently"},
		{Name: "a rotation by factors of the file", Edits: []string{"h {style", "h, factors {style"}},
		{Name: "a rotation by f16 factors", Edits: []string{"h {style", "h, f16_factors {style"}, Refused: "node c (kv_append): RoPE factors f16_factors are no f32 tensor of the file"},
		{Name: "a rotation by factors that are computed", Edits: []string{"%qr = rope", "%f0 = last %x : f32[1, 64]\n%f1 = linear %f0, eight : f32[1, 8]\n%f2 = reshape %f1 : f32[8]\n%qr = rope", "h {style", "h, %f2 {style"}, Refused: "node c (kv_append): RoPE factors f2 are no f32 tensor of the file"},
		{Name: "a scaled rotation", Edits: []string{"base=10000", "base=500000, factor=0.25"}},
		{Name: "no rotation", Edits: []string{rotate, "", "%kr", "%kh", "%qr", "%qh"}, Refused: "node c (kv_append): keys without RoPE are not built yet"},
		{Name: "the keys are the values", Edits: []string{value, "", "%vh", "%kh"}, Refused: "node c (kv_append): queries, keys and values are not three values"},
		{Name: "the queries are the keys", Edits: []string{key, "", "%kh", "%qh", "%kr = rope %qh {style=norm, dims=16, base=10000} : f32[T, 2, 16]", "%kr = rope %qh {style=norm, dims=16, base=10000} : f32[T, 4, 16]", "%v0 = linear %h, v : f32[T, 32]\n%vh = reshape %v0 : f32[T, 2, 16]", "%v0 = linear %h, p : f32[T, 64]\n%vh = reshape %v0 : f32[T, 4, 16]", "f32[2, S, 2, 16]", "f32[2, S, 4, 16]"}, Refused: "node c (kv_append): queries, keys and values are not three values"},
		{Name: "two attentions on one cache", After: "%q2 = linear %h, p : f32[T, 64]\n%q3 = reshape %q2 : f32[T, 4, 16]\n%q4 = rope %q3 {style=norm, dims=16, base=10000} : f32[T, 4, 16]\n%a2 = attention %q4, %c {scale=0.25} : f32[T, 4, 16]\n%a3 = reshape %a2 : f32[T, 64]\n%s = add %ao, %a3 : f32[T, 64]\n%y = add %x, %s : f32[T, 64]", Refused: "node c (kv_append): one attention with rotated queries must read it"},
		{Name: "keys and values that nothing attends to", Edits: []string{"%a = attention %qr, %c {scale=0.25} : f32[T, 4, 16]\n%ar = reshape %a", "%ar = reshape %qh"}},
	}
}

// sums add values that live on, that are one value, or that lie in one unit of memory.
func sums() []Case {
	return []Case{
		{Name: "operands of sums that live on", After: "%s = add %x, %ao : f32[T, 64]\n%s2 = add %x, %s : f32[T, 64]\n%s3 = add %s, %s2 : f32[T, 64]\n%y = add %s3, %ao : f32[T, 64]"},
		{Name: "a value and itself", After: "%s = add %ao, %ao : f32[T, 64]\n%y = add %x, %s : f32[T, 64]"},
		{Name: "two names of one value", After: "%r1 = reshape %ao : f32[T, 4, 16]\n%r2 = reshape %ao : f32[T, 4, 16]\n%s = add %r1, %r2 : f32[T, 4, 16]\n%s1 = reshape %s : f32[T, 64]\n%y = add %x, %s1 : f32[T, 64]"},
		{Name: "an early name of a value that is summed", After: "%r1 = reshape %x : f32[T, 4, 16]\n%s = add %x, %ao : f32[T, 64]\n%r2 = reshape %s : f32[T, 4, 16]\n%s1 = add %r2, %r1 : f32[T, 4, 16]\n%y = reshape %s1 : f32[T, 64]"},
		{Name: "a late name of a value that is summed", After: "%s = add %x, %ao : f32[T, 64]\n%r1 = reshape %x : f32[T, 4, 16]\n%r2 = reshape %s : f32[T, 4, 16]\n%s1 = add %r2, %r1 : f32[T, 4, 16]\n%y = reshape %s1 : f32[T, 64]"},
		{Name: "neighbours of one product", After: "%z = linear %ao, p : f32[T, 64]\n%w = linear %ao, r : f32[T, 64]\n%s = add %z, %w : f32[T, 64]\n%y = add %x, %s : f32[T, 64]"},
		{Name: "neighbours of one product, reversed", After: "%z = linear %ao, p : f32[T, 64]\n%w = linear %ao, r : f32[T, 64]\n%s2 = add %w, %z : f32[T, 64]\n%y = add %x, %s2 : f32[T, 64]"},
		{Name: "results of one product that are no neighbours", After: "%z = linear %ao, p : f32[T, 64]\n%w = linear %ao, r : f32[T, 64]\n%u = linear %ao, s : f32[T, 64]\n%t = add %z, %u : f32[T, 64]\n%t2 = add %t, %w : f32[T, 64]\n%y = add %x, %t2 : f32[T, 64]"},
		{Name: "gate and up are one value", After: "%g = glu %ao, %ao {act=silu} : f32[T, 64]\n%y = add %x, %g : f32[T, 64]"},
		{Name: "a gate of gelu", After: "%w = linear %ao, p : f32[T, 64]\n%z = linear %ao, r : f32[T, 64]\n%g = glu %w, %z {act=gelu} : f32[T, 64]\n%y = add %x, %g : f32[T, 64]"},
	}
}

// products use weights more than once, or several types of them at a time.
func products() []Case {
	return []Case{
		{Name: "a weight twice on one value", After: "%z = linear %ao, p : f32[T, 64]\n%w = linear %ao, p : f32[T, 64]\n%s = add %z, %w : f32[T, 64]\n%y = add %x, %s : f32[T, 64]"},
		{Name: "a weight twice on two values", After: "%z = linear %ao, p : f32[T, 64]\n%w = linear %z, p : f32[T, 64]\n%s = add %z, %w : f32[T, 64]\n%y = add %x, %s : f32[T, 64]"},
		{Name: "a weight that also another value is multiplied with", After: "%z = linear %ao, p : f32[T, 64]\n%w = linear %ao, r : f32[T, 64]\n%u = linear %z, p : f32[T, 64]\n%s = add %u, %w : f32[T, 64]\n%y = add %x, %s : f32[T, 64]"},
		{Name: "a weight alone and in one product with another", After: "%z, %w = linear %ao, p, r : f32[T, 64], f32[T, 64]\n%u = linear %z, p : f32[T, 64]\n%s = add %u, %w : f32[T, 64]\n%y = add %x, %s : f32[T, 64]", Refused: "weight p: two kernels read it in different company"},
		{Name: "a weight in two products with others", After: "%z, %w = linear %ao, p, r : f32[T, 64], f32[T, 64]\n%u, %t = linear %z, s, r : f32[T, 64], f32[T, 64]\n%s1 = add %u, %w : f32[T, 64]\n%s2 = add %s1, %t : f32[T, 64]\n%y = add %x, %s2 : f32[T, 64]", Refused: "weight r: two kernels read it in different company"},
		{Name: "the norm's weights twice", After: "%y0 = add %x, %ao : f32[T, 64]\n%y = rms_norm %y0, norm {eps=0.001} : f32[T, 64]"},
		{Name: "a matrix that is an embedding too", After: "%y0 = add %x, %ao : f32[T, 64]\n%x2 = embed p, tokens : f32[T, 64]\n%y = add %y0, %x2 : f32[T, 64]"},
		{Name: "values of another type than queries and keys", Edits: []string{"weight v: f32", "weight v: q8_0"}},
		{Name: "keys of another type than queries and values", Edits: []string{"weight k: f32", "weight k: q4_1"}},
		{Name: "queries, keys and values of three types", Edits: []string{"weight q: f32", "weight q: q4_0", "weight k: f32", "weight k: f16", "weight v: f32", "weight v: q8_0"}},
		{Name: "three types in one product", Edits: []string{
			query + key + value, "%q0, %k0, %v0 = linear %h, q, k, v : f32[T, 64], f32[T, 32], f32[T, 32]\n%qh = reshape %q0 : f32[T, 4, 16]\n%kh = reshape %k0 : f32[T, 2, 16]\n%vh = reshape %v0 : f32[T, 2, 16]\n",
			"weight q: f32", "weight q: q4_0", "weight k: f32", "weight k: f16", "weight v: f32", "weight v: q8_0",
		}},
		{Name: "norm weights of f16", Edits: []string{"rms_norm %x, norm", "rms_norm %x, f16_norm"}, Refused: "node h (rms_norm): norm weights of type f16"},
		{Name: "norm weights that are computed", Edits: []string{"%h = rms_norm %x, norm", "%n0 = last %x : f32[1, 64]\n%n1 = reshape %n0 : f32[64]\n%h = rms_norm %x, %n1"}, Refused: "node h (rms_norm): its weights are computed"},
	}
}

// NoSuchValue is the refusal of what is no fault of the graph: a wrong option.
const NoSuchValue = "no value is called nope, which is to be kept"

// kept asks for values that something else happens to, too.
func kept() []Case {
	const place = "it has another place already"
	return []Case{
		{Name: "keep the query", Keep: []string{"q0"}, Refused: place},
		{Name: "keep another name of the query", Keep: []string{"qh"}, Refused: place},
		{Name: "keep the normed query", Keep: []string{"qh"}, Edits: []string{"%qh = reshape %q0 : f32[T, 4, 16]", "%q1 = reshape %q0 : f32[T, 4, 16]\n%qh = rms_norm %q1, head_norm {eps=1e-05} : f32[T, 4, 16]"}, Refused: place},
		{Name: "keep the rotated query", Keep: []string{"qr"}, Refused: "node qr (rope): its result is made in place"},
		{Name: "keep the cache", Keep: []string{"c"}, Refused: "node c (kv_append): its result is made in place"},
		{Name: "keep the attention", Keep: []string{"a"}},
		{Name: "keep a reshape", Keep: []string{"ar"}},
		{Name: "keep a value under two names", Keep: []string{"a", "ar"}, Refused: "value ar: it is to be kept, and is another name of a"},
		{Name: "keep the last row", Keep: []string{"last"}},
		{Name: "keep the final norm", Keep: []string{"fin"}},
		{Name: "keep an operand of a sum", Keep: []string{"ao"}},
		{Name: "keep the stream", Keep: []string{"x", "h"}},
		{Name: "keep the stream and its sum", Keep: []string{"x", "y"}},
		{Name: "keep a name of a sum that is summed again", Keep: []string{"yr"}, After: "%y0 = add %x, %ao : f32[T, 64]\n%yr = reshape %y0 : f32[T, 4, 16]\n%yy = add %yr, %a : f32[T, 4, 16]\n%y = reshape %yy : f32[T, 64]"},
		{Name: "keep what is not there", Keep: []string{"nope"}, Refused: NoSuchValue},
	}
}

// outputs end in other ways than with a product of the last row.
func outputs() []Case {
	const one = "a plan has one output, f32 logits of one token, called logits"
	return []Case{
		{Name: "logits under another name", Edits: []string{"%logits", "%scores"}, Refused: "output scores: " + one},
		{Name: "logits that are a last row", Edits: []string{"%last = last %y : f32[1, 64]\n%fin = rms_norm %last, final_norm {eps=1e-05} : f32[1, 64]\n%logits = linear %fin, embedding : f32[1, 50]", "%fin = rms_norm %y, final_norm {eps=1e-05} : f32[T, 64]\n%all = linear %fin, embedding : f32[T, 50]\n%logits = last %all : f32[1, 50]"}},
		{Name: "logits of all tokens", Edits: []string{"%last = last %y : f32[1, 64]\n%fin = rms_norm %last, final_norm {eps=1e-05} : f32[1, 64]\n%logits = linear %fin, embedding : f32[1, 50]", "%fin = rms_norm %y, final_norm {eps=1e-05} : f32[T, 64]\n%logits = linear %fin, embedding : f32[T, 50]"}},
		{Name: "a last row of a last row", Edits: []string{"%logits = linear %fin, embedding : f32[1, 50]", "%l0 = linear %fin, embedding : f32[1, 50]\n%logits = last %l0 : f32[1, 50]"}},
		{Name: "logits that are a sum with what made them", Edits: []string{"%logits = linear %fin, embedding : f32[1, 50]", "%l0 = linear %fin, embedding : f32[1, 50]\n%l1 = linear %l0, square : f32[1, 50]\n%logits = add %l0, %l1 : f32[1, 50]"}},
		{Name: "two outputs", Edits: []string{output, "output %logits, %y\n"}, Refused: "it has 2 outputs"},
	}
}

// unusual are graphs of few nodes, and names that kernels use themselves.
func unusual() []Case {
	return []Case{
		{Name: "no attention", Edits: []string{project + rotate + store + attention, ""}, After: "%y = rms_norm %x, norm {eps=1e-05} : f32[T, 64]"},
		{Name: "names that kernels use", Edits: []string{"%x", "%params", "%h,", "%kv,", "%h =", "%kv =", "%ao", "%main", "%a ", "%y0 "}},
	}
}
