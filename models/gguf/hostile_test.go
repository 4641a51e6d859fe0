package gguf

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// maxMemory is what opening and checking a file may allocate in all, collected or not, beside the mapping.
const maxMemory = 64 << 20

// Files at the limits of the reader, each in a way of its own, and some beyond. None may take more memory than maxMemory.
// What is allowed is checked to the end: these files take the most.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		what  string
		make  func() *writer
		class Class // empty for files that pass
		field string
	}{
		{"as many keys as may be", func() *writer { return manyKeys(maxKeys, 60) }, ClassMissingKey, "general.architecture"},
		{"long keys", func() *writer { return manyKeys(100, maxKeyBytes) }, ClassCountTooLarge, strings.Repeat("k", 200) + "… 65535 bytes in all"},
		{"unprintable keys", func() *writer {
			w := start(0, 60)
			for i := range byte(60) {
				w.key(strings.Repeat("\x1b", maxKeyBytes-1)+string([]byte{i + 1}), Uint8).u8(0)
			}
			return w
		}, ClassMissingKey, "general.architecture"},
		{"as many tensors as may be", func() *writer {
			w := start(maxTensors, 0)
			for i := range maxTensors {
				w.tensor(strings.Repeat("t", 56)+name(i), 0, 0, 0, 1, 1, 1)
			}
			return w.data(32, 0)
		}, ClassMissingKey, "general.architecture"},
		{"more tensors than may be", func() *writer { return start(maxTensors+1, 0).data(32, 4<<20) }, ClassCountTooLarge, "tensor_count"},
		{"a vocabulary as large as may be", func() *writer { return vocabulary(maxTokens, maxTokens) }, "", ""},
		{"a quarter of a million pairs of tokens", func() *writer { return vocabulary(maxTokens, maxTokens/2) }, ClassDuplicateToken, "tokenizer.ggml.tokens"},
		{"a vocabulary too large", func() *writer { return vocabulary(maxTokens+1, maxTokens+1) }, ClassCountTooLarge, "tokenizer.ggml.tokens"},
		{"too many merges", func() *writer {
			return model(map[string]field{"tokenizer.ggml.merges": func(w *writer, key string) { w.array(key, String, maxMerges+1).zeros(8 * (maxMerges + 1)) }})
		}, ClassCountTooLarge, "tokenizer.ggml.merges"},
		{"tokens of 10 MiB", func() *writer {
			return model(map[string]field{"tokenizer.ggml.tokens": texts("a", strings.Repeat("\x01", 10<<20), strings.Repeat("\x01", 10<<20), "b")})
		}, ClassStringLength, "tokenizer.ggml.tokens"},
		{"an architecture of 31 MiB", func() *writer {
			return model(map[string]field{"general.architecture": text(strings.Repeat("\x01", 31<<20))})
		}, ClassStringLength, "general.architecture"},
		{"layers of a million", func() *writer {
			return model(map[string]field{"llama.attention.head_count": u32s(make([]uint32, 1<<20)...)})
		}, ClassBadHyperparameter, "llama.attention.head_count"},
		{"a string beyond the largest header", func() *writer { return start(0, 1).key("k", String).text(strings.Repeat("x", maxHeader)) }, ClassCountTooLarge, "k"},
		{"an array beyond the largest header", func() *writer { return start(0, 1).array("k", Uint8, maxHeader).data(1, maxHeader) }, ClassCountTooLarge, "k"},
		{"strings beyond the largest header", func() *writer { return start(0, 1).array("k", String, maxHeader/8).data(1, 0).zeros(maxHeader) }, ClassCountTooLarge, "k"},
	} {
		w := c.make()
		var err error
		spent := allocated(func() {
			var f *File
			if f, err = w.parse(); err == nil {
				err = CheckModel(f)
			}
		})
		t.Logf("%s: file of %.1f MiB, %.1f MiB allocated", c.what, float64(w.Len())/(1<<20), float64(spent)/(1<<20))
		if spent > maxMemory {
			t.Errorf("%s: %d bytes allocated for a file of %d", c.what, spent, w.Len())
		}
		var e *Error
		switch errors.As(err, &e); {
		case c.class == "" && err != nil, c.class != "" && (e == nil || e.Class != c.class), c.field != "" && e.Field != c.field:
			t.Errorf("%s: %v, want class %s, field %s", c.what, err, c.class, c.field)
		case e != nil && len(e.Error()) > 4000:
			t.Errorf("%s: an error of %d bytes", c.what, len(e.Error()))
		}
	}
}

// manyKeys writes keys with names of so many bytes.
func manyKeys(n, length int) *writer {
	w := start(0, uint64(n))
	for i := range n {
		w.key(strings.Repeat("k", length-8)+name(i), Uint8).u8(0)
	}
	return w
}

// name returns eight characters that differ for each number.
func name(i int) string { return strconv.FormatInt(1<<32+int64(i), 16)[1:] }

// vocabulary writes a model of n tokens. Behind the first distinct ones the same texts come again, in reverse order, so
// that the first two of one text are the furthest in.
func vocabulary(n, distinct int) *writer {
	return modelOf(map[string]field{
		"tokenizer.ggml.tokens": func(w *writer, key string) {
			w.array(key, String, uint64(n))
			for i := range n {
				w.text(name(min(i, 2*distinct-1-i)))
			}
		},
		"tokenizer.ggml.token_type": func(w *writer, key string) { w.array(key, Uint32, uint64(n)).zeros(4 * n) },
		"tokenizer.ggml.scores":     func(w *writer, key string) { w.array(key, Float32, uint64(n)).zeros(4 * n) },
	}, 0, n)
}

// Files that were read and written as text have every byte that is no UTF-8 replaced. Which field is the first to be wrong
// depends on the file; where it is one of the header, the error says what stands there.
func TestTextMangled(t *testing.T) {
	good := malformedFiles(t)["ok_baseline.gguf"]
	for what, data := range map[string][]byte{
		"the header alone": append(mangle(good[:5000]), good[5000:]...), "the whole file": mangle(good),
		"every key": mangle(everyType().Bytes()), "a model": mangle(model(nil).Bytes()),
	} {
		var e *Error
		if errors.As(load(data), &e); e == nil || !strings.Contains(e.Detail, "EF BF BD") {
			t.Errorf("%s: %v does not say what happened", what, e)
		}
	}
	// Weights alone, behind a header that is all ASCII.
	weights := make([]byte, 1<<14)
	for i := range weights {
		weights[i] = byte(i * 89)
	}
	w := start(1, 0).tensor("t", 1, 0, 1<<13).data(32, 0)
	header := w.Len()
	w.Write(mangle(weights))
	_, err := w.parse()
	wantClass(t, "weights", err, ClassTextMangled, "data")
	var e *Error
	if errors.As(err, &e); e.Offset < int64(header) || e.Offset > int64(header)+16 {
		t.Errorf("found at byte %d, the data starts at %d", e.Offset, header)
	}
	// The same bytes unharmed, with junk behind them, are a model.
	w = start(1, 0).tensor("t", 1, 0, 1<<13).data(32, 0)
	w.Write(weights)
	w.WriteString(strings.Repeat("\xef\xbf\xbd", 1000))
	if f, err := w.parse(); err != nil || f.Trailing != 3000 {
		t.Errorf("junk behind the weights: %v", err)
	}
	// A token may be that very character.
	if f, err := model(map[string]field{"tokenizer.ggml.tokens": texts("a", "\ufffd", "\ufffd\ufffd", "")}).parse(); err != nil || CheckModel(f) != nil {
		t.Errorf("U+FFFD in the vocabulary: %v, %v", err, CheckModel(f))
	}
}

// mangle does what a program does that takes the file for text: one U+FFFD for each bad byte.
func mangle(data []byte) []byte { return []byte(string([]rune(string(data)))) }
