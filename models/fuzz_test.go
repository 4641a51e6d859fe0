package models_test

import (
	"errors"
	"math"
	"testing"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/gguf"
)

// fuzzedKeys are what FuzzHyperparameters may set. A step of its input takes 6 bytes: which key, which type, four of a value.
var fuzzedKeys = []string{
	"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count", "attention.head_count_kv",
	"attention.key_length", "attention.value_length", "attention.layer_norm_rms_epsilon", "attention.scale", "attention.sliding_window",
	"rope.dimension_count", "rope.freq_base", "rope.freq_base_swa", "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear",
	"rope.scaling.attn_factor", "attn_logit_softcapping", "final_logit_softcapping", "expert_count", "vocab_size",
}

// FuzzHyperparameters changes keys of a valid model of each family. What FromGGUF takes must build a graph that Verify takes;
// what it refuses must be a documented error.
func FuzzHyperparameters(f *testing.F) {
	for architecture := range uint8(4) {
		f.Add(architecture, []byte("\x00\x00\x02\x00\x00\x00"+"\x0c\x01\x00\x40\x1c\x46"))
		f.Add(architecture, []byte("\x04\x02\x04\x00\x04\x00"+"\x05\x02\x02\x00\x02\x00"+"\x0e\x03\x00\x00\x00\x00"))
		f.Add(architecture, []byte("\x06\x00\x08\x00\x00\x00"+"\x0b\x00\x06\x00\x00\x00"+"\x13\x01\x00\x00\xf0\x41"))
	}
	f.Fuzz(func(t *testing.T, architecture uint8, data []byte) {
		names := models.Architectures()
		described := family(names[int(architecture)%len(names)], 8)
		for ; len(data) >= 6; data = data[6:] {
			key := fuzzedKeys[int(data[0])%len(fuzzedKeys)]
			v := uint32(data[2]) | uint32(data[3])<<8 | uint32(data[4])<<16 | uint32(data[5])<<24
			switch data[1] % 5 {
			case 0:
				described.keys[key] = v
			case 1:
				described.keys[key] = math.Float32frombits(v)
			case 2:
				described.keys[key] = []uint32{v & 0xffff, v >> 16}
			case 3:
				described.keys[key] = []string{"yarn", "none", "linear", ""}[v%4]
			case 4:
				delete(described.keys, key)
			}
		}
		file := described.open(t)
		gguf.CheckModel(file)
		h, err := models.FromGGUF(file)
		if err != nil {
			var key *models.KeyError
			var tensor *models.TensorError
			var unsupported *models.UnsupportedError
			var format *gguf.Error
			if !errors.As(err, &key) && !errors.As(err, &tensor) && !errors.As(err, &unsupported) && !errors.As(err, &format) {
				t.Fatalf("%T is none of the documented errors: %v", err, err)
			}
			return
		}
		g, err := models.Build(h, models.Options{Next: true})
		if err != nil {
			t.Fatalf("FromGGUF takes what Build refuses: %v\n%s", err, h.Shape())
		}
		if err := ir.Verify(g); err != nil {
			t.Fatalf("%v\n%s", err, h.Shape())
		}
	})
}
