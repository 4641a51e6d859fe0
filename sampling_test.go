package kgen_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/internal/oracle"
)

// key is a value that a test adds to the header of a model file: a float32, an int32 or a string.
type key struct {
	name  string
	value any
}

// openWith opens the oracle's smallest model with more keys in its header.
func openWith(t *testing.T, keys ...key) *kgen.File {
	t.Helper()
	var added bytes.Buffer
	text := func(s string) {
		binary.Write(&added, binary.LittleEndian, uint64(len(s)))
		added.WriteString(s)
	}
	add := func(k key) {
		text(k.name)
		switch v := k.value.(type) {
		case float32:
			binary.Write(&added, binary.LittleEndian, uint32(6))
			binary.Write(&added, binary.LittleEndian, v)
		case int32:
			binary.Write(&added, binary.LittleEndian, uint32(5))
			binary.Write(&added, binary.LittleEndian, v)
		case string:
			binary.Write(&added, binary.LittleEndian, uint32(8))
			text(v)
		}
	}
	for _, k := range keys {
		add(k)
	}
	const alignment, filler = 32, "test.filler" // the tensors' data stays where it was, modulo the alignment
	rest := added.Len() + 8 + len(filler) + 4 + 8
	add(key{filler, string(bytes.Repeat([]byte("."), (alignment-rest%alignment)%alignment))})

	data := oracle.Bytes(t, "llama-q4_1.gguf")
	const countAt, keysAt = 16, 24
	binary.LittleEndian.PutUint64(data[countAt:], binary.LittleEndian.Uint64(data[countAt:])+uint64(len(keys))+1)
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, bytes.Join([][]byte{data[:keysAt], added.Bytes(), data[keysAt:]}, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := kgen.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// What a file recommends is taken, what it leaves out or holds out of its range is llama.cpp's default.
func TestSamplingOfTheFile(t *testing.T) {
	usual := kgen.Sampling{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, RepeatPenalty: 1, RepeatLastN: 64}
	with := func(change func(s *kgen.Sampling)) kgen.Sampling {
		s := usual
		change(&s)
		return s
	}
	for _, c := range []struct {
		name string
		keys []key
		want kgen.Sampling
	}{
		{"nothing", nil, usual},
		{"all", []key{
			{"general.sampling.temp", float32(0.5)}, {"general.sampling.top_k", int32(20)}, {"general.sampling.top_p", float32(0.75)},
			{"general.sampling.min_p", float32(0)}, {"general.sampling.penalty_repeat", float32(1.5)}, {"general.sampling.penalty_last_n", int32(-1)},
		}, kgen.Sampling{Temperature: 0.5, TopK: 20, TopP: 0.75, RepeatPenalty: 1.5, RepeatLastN: -1}},
		{"greedy", []key{{"general.sampling.temp", float32(0)}}, with(func(s *kgen.Sampling) { s.Temperature = 0 })},
		{"out of range", []key{
			{"general.sampling.temp", float32(math.NaN())}, {"general.sampling.top_k", int32(-3)}, {"general.sampling.top_p", float32(1.5)},
			{"general.sampling.min_p", float32(-1)}, {"general.sampling.penalty_repeat", float32(math.Inf(1))},
		}, usual},
		{"of another type", []key{{"general.sampling.temp", "hot"}, {"general.sampling.top_k", float32(3)}}, usual},
		{"penalties that look at nothing", []key{
			{"general.sampling.penalty_repeat", float32(1.5)}, {"general.sampling.penalty_last_n", int32(0)},
		}, usual},
	} {
		if diff := cmp.Diff(c.want, openWith(t, c.keys...).Sampling()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// A template with a switch for thinking gets what the codec says, and is told apart from those without.
func TestThinkSwitch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.gguf")
	data := oracle.Bytes(t, "llama-q4_1.gguf")
	plain, err := kgen.OpenFile(writeFile(t, path, data))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if plain.ThinkSwitch() {
		t.Error("a template without a switch is said to have one")
	}
	// The template in place of the file's, filled up to its length.
	const begin, source = "{% for message in messages %}", "{{ '<t>' if enable_thinking else '<n>' if enable_thinking is defined else '<d>' }}"
	at := bytes.Index(data, []byte(begin))
	size := int(binary.LittleEndian.Uint64(data[at-8:]))
	copy(data[at:at+size], bytes.Repeat([]byte(" "), size))
	copy(data[at:at+size], "{#")
	copy(data[at+size-len(source)-2:], "#}"+source)
	f, err := kgen.OpenFile(writeFile(t, filepath.Join(t.TempDir(), "switch.gguf"), data))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !f.ThinkSwitch() {
		t.Error("a template with a switch is said to have none")
	}
	c, err := f.Codec()
	if err != nil {
		t.Fatal(err)
	}
	on, off := true, false
	for _, k := range []struct {
		think *bool
		want  string
	}{{&on, "<t>"}, {&off, "<n>"}, {nil, "<d>"}} {
		c.Think = k.think
		got, err := c.EncodeChat([]kgen.Message{{Role: "user", Content: "hi"}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.EncodeText(k.want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", k.want, diff)
		}
	}
}

func writeFile(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
