package kgen_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// stride is how far apart the tensors of smallest lie: two pages, so that a file can be cut between them.
const stride = 8 << 10

// smallest writes the smallest model there is, a llama of one block, with keys changed or added; nil leaves one out. Values
// are uint32, int32, float32, bool, string, and lists of the first and last.
func smallest(t *testing.T, changes map[string]any) string {
	t.Helper()
	tokens := strings.Split("a b c < > / s | [ ] t Ġ Ċ <s> </s> <|im_start|> <|im_end|> <start_of_turn> <end_of_turn> <|start_header_id|> <|end_header_id|> <|eot_id|>", " ")
	var types []uint32
	for _, token := range tokens {
		types = append(types, map[bool]uint32{false: 1, true: 3}[len(token) > 2])
	}
	keys := map[string]any{
		"general.architecture": "llama", "llama.block_count": uint32(1), "llama.context_length": uint32(64), "llama.embedding_length": uint32(2),
		"llama.feed_forward_length": uint32(2), "llama.attention.head_count": uint32(1), "llama.attention.layer_norm_rms_epsilon": float32(1e-5),
		"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types,
		"tokenizer.ggml.merges": []string{}, "tokenizer.ggml.bos_token_id": uint32(slices.Index(tokens, "<s>")),
		"tokenizer.ggml.eos_token_id": uint32(slices.Index(tokens, "</s>")),
	}
	for key, value := range changes {
		if keys[key] = value; value == nil {
			delete(keys, key)
		}
	}
	tensors := map[string][]uint64{"token_embd.weight": {2, uint64(len(tokens))}, "output_norm.weight": {2}, "blk.0.attn_norm.weight": {2}, "blk.0.ffn_norm.weight": {2}}
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"} {
		tensors["blk.0."+name+".weight"] = []uint64{2, 2}
	}
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if s, ok := v.(string); ok {
				binary.Write(&b, binary.LittleEndian, uint64(len(s)))
				v = []byte(s)
			}
			binary.Write(&b, binary.LittleEndian, v) // a Buffer takes everything
		}
	}
	b.WriteString("GGUF")
	put(uint32(3), uint64(len(tensors)), uint64(len(keys)))
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		put(key)
		switch v := keys[key].(type) {
		case uint32:
			put(uint32(4), v)
		case int32:
			put(uint32(5), v)
		case float32:
			put(uint32(6), v)
		case bool:
			put(uint32(7), v)
		case string:
			put(uint32(8), v)
		case []uint32:
			put(uint32(9), uint32(4), uint64(len(v)), v)
		case []string:
			put(uint32(9), uint32(8), uint64(len(v)))
			for _, s := range v {
				put(s)
			}
		default:
			t.Fatalf("%s: %T", key, v)
		}
	}
	names := slices.Sorted(maps.Keys(tensors))
	names = slices.Insert(names[:len(names)-1], 0, names[len(names)-1]) // the embedding first, as in most files
	for i, name := range names {
		put(name, uint32(len(tensors[name])), tensors[name], uint32(0), uint64(i*stride))
	}
	put(make([]byte, -b.Len()&31+(len(names)-1)*stride+32)) // the last tensor has 16 bytes and its padding
	return write(t, "smallest.gguf", b.Bytes())
}

// TestBOS is the matrix: whether the file asks for BOS or does not say, whether it names one, whether the template writes
// it. An input has exactly one where the file or the template wants one, and none where there is none to have; what users
// write does not count.
func TestBOS(t *testing.T) {
	const with = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}"
	const without = "{% for m in messages %}{{ m.content }}{% endfor %}"
	for _, add := range []any{true, false, nil} {
		for _, bos := range []any{uint32(13), nil} {
			for _, template := range []string{with, without} {
				name := fmt.Sprintf("add %v, id %v, template writes it %v", add, bos, template == with)
				f, err := kgen.OpenFile(smallest(t, map[string]any{
					"tokenizer.ggml.add_bos_token": add, "tokenizer.ggml.bos_token_id": bos, "tokenizer.chat_template": template,
				}))
				if err != nil {
					t.Fatal(name, err)
				}
				codec, err := f.Codec()
				if err != nil {
					t.Fatal(name, err)
				}
				text, chat := 0, 0
				if bos != nil && add == true {
					text, chat = 1, 1
				}
				if bos != nil && template == with {
					chat = 1
				}
				check := func(what string, ids []uint32, want int) {
					t.Helper()
					got := 0
					for _, id := range ids {
						if id == 13 {
							got++
						}
					}
					if got != want || want == 1 && ids[0] != 13 {
						t.Errorf("%s: %s has %d BOS in %v, want %d", name, what, got, ids, want)
					}
				}
				check("text", codec.EncodeText("abc"), text)
				check("no text", codec.EncodeText(""), text)
				check("text that begins with it", codec.EncodeText("<s>abc"), 1)
				for _, content := range []string{"abc", "<s>abc", "<s>"} {
					ids, err := codec.EncodeChat([]kgen.Message{{Role: "user", Content: content}})
					if err != nil {
						t.Fatal(name, err)
					}
					check(fmt.Sprintf("the message %q", content), ids, chat)
				}
				f.Close()
			}
		}
	}
}

// In a template, each family's marks are one id.
func TestMarksAreOneID(t *testing.T) {
	for id, mark := range map[uint32]string{
		13: "<s>", 14: "</s>", 15: "<|im_start|>", 16: "<|im_end|>", 17: "<start_of_turn>", 18: "<end_of_turn>",
		19: "<|start_header_id|>", 20: "<|end_header_id|>", 21: "<|eot_id|>",
	} {
		f, err := kgen.OpenFile(smallest(t, map[string]any{"tokenizer.chat_template": "a" + mark + "{{ messages[0].content }}" + mark}))
		if err != nil {
			t.Fatal(err)
		}
		codec, err := f.Codec()
		if err != nil {
			t.Fatal(err)
		}
		ids, err := codec.EncodeChat([]kgen.Message{{Role: "user", Content: mark}})
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) < 3 || ids[1] != id || ids[len(ids)-1] != id || slices.Contains(ids[2:len(ids)-1], id) {
			t.Errorf("%s: ids %v, want %d second and last, and not between", mark, ids, id)
		}
		f.Close()
	}
}

// TestFileCodes: what a file says decides the code of the error, at open or when its tokenizer or template is asked for.
func TestFileCodes(t *testing.T) {
	for what, c := range map[string]struct {
		changes map[string]any
		code    kgenrt.Code // "" for files that open
		text    string      // part of the message
	}{
		"good":                    {nil, "", ""},
		"another architecture":    {map[string]any{"general.architecture": "mamba"}, kgenrt.UnsupportedModel, `"mamba"`},
		"yarn":                    {map[string]any{"llama.rope.scaling.type": "yarn"}, kgenrt.UnsupportedModel, "llama.rope.scaling.type"},
		"experts":                 {map[string]any{"llama.expert_count": uint32(8), "llama.expert_used_count": uint32(2)}, kgenrt.UnsupportedModel, "llama.expert_count"},
		"no heads":                {map[string]any{"llama.attention.head_count": uint32(0)}, kgenrt.InvalidModel, "llama.attention.head_count"},
		"no layers":               {map[string]any{"llama.block_count": uint32(0)}, kgenrt.InvalidModel, "llama.block_count"},
		"another tokenizer":       {map[string]any{"tokenizer.ggml.model": "t5"}, kgenrt.UnsupportedModel, `"t5"`},
		"another rule":            {map[string]any{"tokenizer.ggml.pre": "mine"}, kgenrt.UnsupportedModel, `"mine"`},
		"no rule":                 {map[string]any{"tokenizer.ggml.pre": nil}, kgenrt.InvalidModel, "tokenizer.ggml.pre"},
		"types of text":           {map[string]any{"tokenizer.ggml.token_type": make([]string, 22)}, kgenrt.InvalidModel, "tokenizer.ggml.token_type"},
		"a type that is none":     {map[string]any{"tokenizer.ggml.token_type": append(make([]uint32, 21), 1<<31)}, kgenrt.InvalidModel, "types[0]"},
		"a flag that is a number": {map[string]any{"tokenizer.ggml.add_bos_token": uint32(1)}, kgenrt.InvalidModel, "add_bos_token"},
		"another flag":            {map[string]any{"tokenizer.ggml.add_eos_token": "yes"}, kgenrt.InvalidModel, "add_eos_token"},
		"merges of numbers":       {map[string]any{"tokenizer.ggml.merges": []uint32{1}}, kgenrt.InvalidModel, "merges"},
		"a merge of nothing":      {map[string]any{"tokenizer.ggml.merges": []string{"a x"}}, kgenrt.InvalidModel, "merges[0]"},
		"a special id too high":   {map[string]any{"tokenizer.ggml.eos_token_id": uint32(22)}, kgenrt.InvalidModel, "eos_token_id"},
		"a template that loops":   {map[string]any{"tokenizer.chat_template": "\n{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"}, kgenrt.InvalidTemplate, "line 2"},
		"a template left open":    {map[string]any{"tokenizer.chat_template": "a\n\n{% if x %"}, kgenrt.InvalidTemplate, "line 3"},
		"a template of 20 MiB":    {map[string]any{"tokenizer.chat_template": strings.Repeat("x", 20<<20)}, kgenrt.InvalidTemplate, "too_large"},
		"a template of numbers":   {map[string]any{"tokenizer.chat_template": uint32(1)}, kgenrt.InvalidModel, "chat_template"},
		"a name of 20 MiB":        {map[string]any{"general.name": strings.Repeat("x", 20<<20)}, "", ""},
	} {
		err := openAll(t, smallest(t, c.changes))
		var coded *kgenrt.Error
		switch errors.As(err, &coded); {
		case c.code == "" && err != nil, c.code != "" && (coded == nil || coded.Code != c.code):
			t.Errorf("%s: %v, want code %q", what, err, c.code)
		case err != nil && (!strings.Contains(err.Error(), c.text) || len(err.Error()) > 2000):
			t.Errorf("%s: %.2000v does not name %s", what, err, c.text)
		}
	}
}

// openAll opens a file with all that it says about text.
func openAll(t *testing.T, path string) error {
	f, err := kgen.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	codec, err := f.Codec()
	if err != nil {
		return err
	}
	codec.EncodeText("abc")
	return nil
}

// Bytes behind the last tensor are no reason to refuse a file, but are told.
func TestTrailingBytesAreTold(t *testing.T) {
	whole, err := os.ReadFile(smallest(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, junk := range []int{0, 17} {
		var log strings.Builder
		m, err := kgen.Load(t.Context(), write(t, "junk.gguf", append(whole, make([]byte, junk)...)), kgen.Options{
			Device: "cpu", Log: func(line string) { log.WriteString(line + "\n") },
		})
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
		if told := strings.Contains(log.String(), "warning: "); told != (junk > 0) || told && !strings.Contains(log.String(), "has 17 bytes after its last tensor") {
			t.Errorf("%d bytes: %s", junk, log.String())
		}
	}
}

// A file that another program shortens while its weights are in use ends an evaluation with an error, not the program.
func TestShortenedWhileInUse(t *testing.T) {
	path := smallest(t, nil)
	m, err := kgen.Load(t.Context(), path, kgen.Options{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	logits := make([]float32, m.Executor().Vocab())
	if err := m.Executor().Logits(t.Context(), 0, 1, logits); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{stride, 0} { // all weights but the embedding are gone, then that too
		if err := os.Truncate(path, size); err != nil {
			t.Skip(err) // Windows refuses to shorten a mapped file
		}
		err = m.Executor().Logits(t.Context(), 0, 1, logits)
		var coded *kgenrt.Error
		if err = kgen.AsError("run", err); !errors.As(err, &coded) || coded.Code != kgenrt.NoModel {
			t.Errorf("%v, want code %s", err, kgenrt.NoModel)
		}
	}
}

// What a template says against a conversation is the caller's mistake; what is wrong with the template is not.
func TestTemplateRefuses(t *testing.T) {
	for template, want := range map[string]struct {
		code kgenrt.Code
		text string
	}{
		"{{ raise_exception('roles must alternate') }}": {kgenrt.BadRequest, "roles must alternate"},
		"{{ messages | nothing }}":                      {kgenrt.InvalidTemplate, "nothing"},
		"{{ range(300000000) }}":                        {kgenrt.InvalidTemplate, "range of more than"},
	} {
		f, err := kgen.OpenFile(smallest(t, map[string]any{"tokenizer.chat_template": template}))
		if err != nil {
			t.Fatal(err)
		}
		codec, err := f.Codec()
		if err != nil {
			t.Fatal(err)
		}
		_, err = codec.EncodeChat([]kgen.Message{{Role: "user", Content: "x"}})
		var coded *kgenrt.Error
		if !errors.As(err, &coded) || coded.Code != want.code || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v, want code %s with %q", template, err, want.code, want.text)
		}
		_, err = codec.EncodeChat([]kgen.Message{{Role: "user<s>", Content: "x"}})
		if !errors.As(err, &coded) || coded.Code != kgenrt.BadRequest || !strings.Contains(err.Error(), "role") {
			t.Errorf("a role of marks: %v", err)
		}
		f.Close()
	}
}

// A file that says that it has no vocabulary runs on ids; text is refused with advice.
func TestNoVocabulary(t *testing.T) {
	f, err := kgen.OpenFile(smallest(t, map[string]any{
		"tokenizer.ggml.model": "none", "tokenizer.ggml.pre": nil, "tokenizer.ggml.tokens": nil, "tokenizer.ggml.merges": nil, "tokenizer.ggml.token_type": nil,
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	codec, err := f.Codec()
	if err != nil {
		t.Fatal(err)
	}
	if ids := codec.EncodeText("hello"); len(ids) != 0 || codec.Tokenizer.IsEnd(0) || codec.Tokenizer.NewStream().Push(1) != "" {
		t.Errorf("text without a vocabulary: %v", ids)
	}
	var e *kgen.Error
	if _, err := f.Tokenizer(); !errors.As(err, &e) || e.Code != "BAD_REQUEST" || !strings.Contains(err.Error(), "give token ids") {
		t.Errorf("got %v", err)
	}
}
