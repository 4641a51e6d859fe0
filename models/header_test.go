package models_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/models/gguf"
)

// file is a model file to be written: keys without the architecture's prefix, and dimensions of F32 tensors as files
// list them.
type file struct {
	architecture string
	keys         map[string]any
	tensors      map[string][]uint64
}

// llama describes a valid llama with two blocks, 4 query heads and 2 KV heads of 8 values.
func llama() file {
	f := file{
		architecture: "llama",
		keys: map[string]any{
			"block_count": uint32(2), "context_length": uint32(64), "embedding_length": uint32(32),
			"feed_forward_length": uint32(48), "attention.head_count": uint32(4), "attention.head_count_kv": uint32(2),
			"attention.layer_norm_rms_epsilon": float32(1e-5),
		},
		tensors: map[string][]uint64{"token_embd.weight": {32, 40}, "output_norm.weight": {32}},
	}
	for _, block := range []string{"blk.0.", "blk.1."} {
		for name, dims := range map[string][]uint64{
			"attn_norm.weight": {32}, "attn_q.weight": {32, 32}, "attn_k.weight": {32, 16}, "attn_v.weight": {32, 16},
			"attn_output.weight": {32, 32}, "ffn_norm.weight": {32}, "ffn_gate.weight": {32, 48}, "ffn_up.weight": {32, 48},
			"ffn_down.weight": {48, 32},
		} {
			f.tensors[block+name] = dims
		}
	}
	return f
}

// open writes the file and reads its header.
func (f file) open(t testing.TB) *gguf.File {
	t.Helper()
	var b bytes.Buffer
	put := func(v any) { binary.Write(&b, binary.LittleEndian, v) } // a Buffer takes everything
	text := func(s string) { put(uint64(len(s))); b.WriteString(s) }
	b.WriteString("GGUF")
	put(uint32(3))
	put(uint64(len(f.tensors)))
	put(uint64(len(f.keys) + 1))
	text("general.architecture")
	put(uint32(8))
	text(f.architecture)
	for _, key := range slices.Sorted(maps.Keys(f.keys)) {
		text(f.architecture + "." + key)
		switch v := f.keys[key].(type) {
		case uint32:
			put(uint32(4))
			put(v)
		case float32:
			put(uint32(6))
			put(v)
		case string:
			put(uint32(8))
			text(v)
		case []uint32:
			put(uint32(9))
			put(uint32(4))
			put(uint64(len(v)))
			put(v)
		}
	}
	offset := uint64(0)
	for _, name := range slices.Sorted(maps.Keys(f.tensors)) {
		size := uint64(4)
		text(name)
		put(uint32(len(f.tensors[name])))
		for _, d := range f.tensors[name] {
			put(d)
			size *= d
		}
		put(uint32(0))
		put(offset)
		offset += (size + 31) / 32 * 32
	}
	b.Write(make([]byte, -b.Len()&31+int(min(offset, math.MaxInt32))))
	opened, err := gguf.Parse(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return opened
}
