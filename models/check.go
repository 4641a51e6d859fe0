package models

import (
	"math"
	"strconv"
)

// check judges the hyperparameters and the tensors. Sizes are judged before any product of them is formed.
func (h *Hyperparameters) check() error {
	for _, c := range []struct {
		key  string
		ok   bool
		want string
		got  float64
	}{
		{"block_count", h.Layers > 0, "a positive number", float64(h.Layers)},
		{"context_length", h.Context > 0, "a positive number", float64(h.Context)},
		{"embedding_length", isSize(h.Width), "a size below 2^24", float64(h.Width)},
		{"feed_forward_length", isSize(h.FFN), "a size below 2^24", float64(h.FFN)},
		{"attention.head_count", h.Heads > 0 && h.Heads <= 1<<16, "1 to 65536 heads", float64(h.Heads)},
		{"attention.head_count_kv", h.KVHeads > 0 && h.Heads%max(1, h.KVHeads) == 0, "a divisor of head_count", float64(h.KVHeads)},
		{"attention.key_length", h.HeadDim > 0 && h.HeadDim <= 1<<16, "1 to 65536 values", float64(h.HeadDim)},
		{"rope.dimension_count", h.RoPEDims > 0 && h.RoPEDims%2 == 0 && h.RoPEDims <= h.HeadDim, "an even number up to the head's dimension", float64(h.RoPEDims)},
		{"attention.layer_norm_rms_epsilon", h.Eps > 0 && isFinite(h.Eps), "a positive number", h.Eps},
		{"rope.freq_base", h.RoPEBase > 1 && isFinite(h.RoPEBase), "a number above 1", h.RoPEBase},
		{"rope.freq_base_swa", h.Window == 0 || h.WindowRoPEBase > 1 && isFinite(h.WindowRoPEBase), "a number above 1", h.WindowRoPEBase},
		{"attention.sliding_window", h.Window == 0 || h.Window > 0 && h.WindowPeriod > 0, "a positive number", float64(h.Window)},
		{"attention.scale", h.AttentionScale > 0 && isFinite(h.AttentionScale), "a positive number", h.AttentionScale},
		{"final_logit_softcapping", h.LogitCap >= 0 && isFinite(h.LogitCap), "0 or a positive number", h.LogitCap},
	} {
		if !c.ok {
			return &KeyError{Key: h.Architecture + "." + c.key, Want: c.want, Got: strconv.FormatFloat(c.got, 'g', -1, 64)}
		}
	}
	return h.checkTensors()
}

func isSize(n int) bool       { return n > 0 && n < 1<<24 }
func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
