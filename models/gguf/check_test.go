package gguf

import (
	"math"
	"strconv"
	"testing"
)

// field writes the value of a key, with the key.
type field func(w *writer, key string)

func u32(v uint32) field { return func(w *writer, key string) { w.key(key, Uint32).u32(v) } }
func i32(v int32) field  { return func(w *writer, key string) { w.key(key, Int32).u32(uint32(v)) } }
func f32(v float32) field {
	return func(w *writer, key string) { w.key(key, Float32).f32(v) }
}
func text(v string) field { return func(w *writer, key string) { w.key(key, String).text(v) } }
func u32s(v ...uint32) field {
	return func(w *writer, key string) {
		w.array(key, Uint32, uint64(len(v)))
		for _, x := range v {
			w.u32(x)
		}
	}
}
func texts(v ...string) field {
	return func(w *writer, key string) {
		w.array(key, String, uint64(len(v)))
		for _, x := range v {
			w.text(x)
		}
	}
}

// goodModel has two layers and four tokens.
var goodModel = []struct {
	key string
	put field
}{
	{"general.architecture", text("llama")},
	{"llama.block_count", u32(2)},
	{"llama.embedding_length", u32(64)},
	{"llama.context_length", u32(128)},
	{"llama.attention.head_count", u32(4)},
	{"llama.attention.head_count_kv", u32(2)},
	{"llama.rope.dimension_count", u32(16)},
	{"llama.rope.freq_base", f32(10000)},
	{"llama.attention.layer_norm_rms_epsilon", f32(1e-5)},
	{"llama.expert_count", u32(8)},
	{"llama.expert_used_count", u32(2)},
	{"tokenizer.ggml.tokens", texts("a", "b", "", "")},
	{"tokenizer.ggml.token_type", u32s(1, 1, 1, 1)},
	{"tokenizer.ggml.bos_token_id", u32(3)},
}

// model builds goodModel with some keys changed, added or, where the field is nil, left out.
func model(changes map[string]field) *writer { return modelOf(changes, 2, 4) }

// modelOf does so with an embedding of the given size.
func modelOf(changes map[string]field, columns, rows int) *writer {
	w, n := &writer{}, uint64(0)
	put := func(key string, put field) {
		if put != nil {
			put(w, key)
			n++
		}
	}
	known := map[string]bool{}
	for _, k := range goodModel {
		known[k.key] = true
		if change, ok := changes[k.key]; ok {
			k.put = change
		}
		put(k.key, k.put)
	}
	for key, change := range changes {
		if !known[key] {
			put(key, change)
		}
	}
	file := start(2, n)
	file.Write(w.Bytes())
	file.tensor("token_embd.weight", 0, 0, uint64(columns), uint64(rows)).tensor("blk.0.x", 0, 32, 1)
	return file.data(32, 36)
}

func TestCheckModel(t *testing.T) {
	nan := f32(float32(math.NaN()))
	for _, c := range []struct {
		what  string
		class Class // empty for models that pass
		field string
		to    map[string]field
	}{
		{"good", "", "", nil},
		{"no optional keys", "", "", map[string]field{
			"llama.attention.head_count_kv": nil, "llama.rope.dimension_count": nil, "llama.rope.freq_base": nil, "llama.expert_count": nil,
			"llama.expert_used_count": nil, "tokenizer.ggml.tokens": nil, "tokenizer.ggml.token_type": nil, "tokenizer.ggml.bos_token_id": nil}},
		{"heads by layer", "", "", map[string]field{"llama.attention.head_count": u32s(4, 2), "llama.attention.head_count_kv": u32s(0, 2)}},
		{"head size of its own", "", "", map[string]field{"llama.attention.head_count": u32(3), "llama.attention.head_count_kv": u32(3), "llama.attention.key_length": u32(48), "llama.rope.dimension_count": u32(48)}},
		{"other epsilon", "", "", map[string]field{"llama.attention.layer_norm_rms_epsilon": nil, "llama.attention.layer_norm_epsilon": f32(1e-12)}},
		{"signed counts", "", "", map[string]field{"llama.block_count": i32(2)}},
		{"no architecture", ClassMissingKey, "general.architecture", map[string]field{"general.architecture": nil}},
		{"architecture as number", ClassWrongType, "general.architecture", map[string]field{"general.architecture": u32(1)}},
		{"no layers", ClassBadHyperparameter, "llama.block_count", map[string]field{"llama.block_count": u32(0)}},
		{"negative layers", ClassBadHyperparameter, "llama.block_count", map[string]field{"llama.block_count": i32(-1)}},
		{"2^31-1 layers", ClassBadHyperparameter, "llama.block_count", map[string]field{"llama.block_count": u32(1<<31 - 1)}},
		{"layers as text", ClassWrongType, "llama.block_count", map[string]field{"llama.block_count": text("2")}},
		{"no embedding", ClassMissingKey, "llama.embedding_length", map[string]field{"llama.embedding_length": nil}},
		{"empty embedding", ClassBadHyperparameter, "llama.embedding_length", map[string]field{"llama.embedding_length": u32(0)}},
		{"no context", ClassBadHyperparameter, "llama.context_length", map[string]field{"llama.context_length": u32(0)}},
		{"missing heads", ClassMissingKey, "llama.attention.head_count", map[string]field{"llama.attention.head_count": nil}},
		{"heads for three layers", ClassBadHyperparameter, "llama.attention.head_count", map[string]field{"llama.attention.head_count": u32s(4, 4, 4)}},
		{"heads do not divide", ClassBadHyperparameter, "llama.attention.head_count", map[string]field{"llama.attention.head_count": u32(5), "llama.attention.head_count_kv": nil}},
		{"no key heads", ClassBadHyperparameter, "llama.attention.head_count_kv", map[string]field{"llama.attention.head_count_kv": u32(0)}},
		{"key heads do not divide", ClassBadHyperparameter, "llama.attention.head_count_kv", map[string]field{"llama.attention.head_count_kv": u32(3)}},
		{"key heads do not divide in layer 1", ClassBadHyperparameter, "llama.attention.head_count_kv", map[string]field{"llama.attention.head_count_kv": u32s(2, 3)}},
		{"negative key heads", ClassBadHyperparameter, "llama.attention.head_count_kv", map[string]field{"llama.attention.head_count_kv": i32(-2)}},
		{"empty head", ClassBadHyperparameter, "llama.attention.key_length", map[string]field{"llama.attention.key_length": u32(0)}},
		{"empty value", ClassBadHyperparameter, "llama.attention.value_length", map[string]field{"llama.attention.value_length": u32(0)}},
		{"odd rotation", ClassBadHyperparameter, "llama.rope.dimension_count", map[string]field{"llama.rope.dimension_count": u32(15)}},
		{"rotation beyond the head", ClassBadHyperparameter, "llama.rope.dimension_count", map[string]field{"llama.rope.dimension_count": u32(18)}},
		{"more experts used than there are", ClassBadHyperparameter, "llama.expert_used_count", map[string]field{"llama.expert_used_count": u32(9)}},
		{"no experts used", ClassBadHyperparameter, "llama.expert_used_count", map[string]field{"llama.expert_used_count": nil}},
		{"no epsilon", ClassMissingKey, "llama.attention.layer_norm_rms_epsilon", map[string]field{"llama.attention.layer_norm_rms_epsilon": nil}},
		{"epsilon 0", ClassBadHyperparameter, "llama.attention.layer_norm_rms_epsilon", map[string]field{"llama.attention.layer_norm_rms_epsilon": f32(0)}},
		{"epsilon NaN", ClassBadHyperparameter, "llama.attention.layer_norm_rms_epsilon", map[string]field{"llama.attention.layer_norm_rms_epsilon": nan}},
		{"base 1", ClassBadHyperparameter, "llama.rope.freq_base", map[string]field{"llama.rope.freq_base": f32(1)}},
		{"base infinite", ClassBadHyperparameter, "llama.rope.freq_base", map[string]field{"llama.rope.freq_base": f32(float32(math.Inf(1)))}},
		{"a token too many", ClassVocabMismatch, "tokenizer.ggml.tokens", map[string]field{"tokenizer.ggml.tokens": texts("a", "b", "c", "d", "e")}},
		{"a type too few", ClassVocabMismatch, "tokenizer.ggml.token_type", map[string]field{"tokenizer.ggml.token_type": u32s(1, 1, 1)}},
		{"scores too few", ClassVocabMismatch, "tokenizer.ggml.scores", map[string]field{"tokenizer.ggml.scores": u32s(1, 1, 1)}},
		{"type as one number", ClassVocabMismatch, "tokenizer.ggml.token_type", map[string]field{"tokenizer.ggml.token_type": u32(1)}},
		{"id beyond the end", ClassOutOfRange, "tokenizer.ggml.bos_token_id", map[string]field{"tokenizer.ggml.bos_token_id": u32(4)}},
		{"negative id", ClassOutOfRange, "tokenizer.ggml.eot_token_id", map[string]field{"tokenizer.ggml.eot_token_id": i32(-1)}},
		{"two tokens of one text", ClassDuplicateToken, "tokenizer.ggml.tokens", map[string]field{"tokenizer.ggml.tokens": texts("a", "b", "c", "b")}},
		{"tokens as numbers", ClassWrongType, "tokenizer.ggml.tokens", map[string]field{"tokenizer.ggml.tokens": u32s(1, 2, 3, 4)}},
	} {
		f, err := model(c.to).parse()
		if err != nil {
			t.Fatal(err)
		}
		err = CheckModel(f)
		if c.class == "" {
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		wantClass(t, c.what, err, c.class, c.field)
	}
}

// A tensor is read in parts; rows and columns are counted over all of them.
func TestCheckWeightsOfManyParts(t *testing.T) {
	w := start(1, 0).tensor("t", 1, 0, 7, 40000).data(32, 0)
	data := w.Len()
	w.zeros(2 * 7 * 40000)
	w.Bytes()[data+2*(7*30001+3)+1] = 0x7e
	f, err := w.parse()
	if err != nil {
		t.Fatal(err)
	}
	want := "gguf: t: row 30001, column 3 is NaN (at byte " + strconv.Itoa(data+2*(7*30001+3)) + ")"
	if err := CheckWeights(f); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestCheckWeights(t *testing.T) {
	w := start(2, 0).tensor("skipped", 43, 0, 1).tensor("t", 1, 32, 2, 3).data(32, 32)
	w.u32(0).u16(0).u16(0xfc00).u32(0)
	f, err := w.parse()
	if err != nil {
		t.Fatal(err)
	}
	err = CheckWeights(f)
	wantClass(t, "infinity", err, ClassNaNWeight, "t")
	if want := "gguf: t: row 1, column 1 is -Inf (at byte 166)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
