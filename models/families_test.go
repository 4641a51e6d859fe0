package models_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
)

// family describes a valid model with two blocks of the given architecture, with heads of headDim values on a width of 32.
func family(architecture string, headDim uint64) file {
	f := llama()
	f.architecture = architecture
	q, kv := 4*headDim, 2*headDim
	f.keys["attention.key_length"], f.keys["attention.value_length"] = uint32(headDim), uint32(headDim)
	for _, block := range []string{"blk.0.", "blk.1."} {
		f.tensors[block+"attn_q.weight"] = []uint64{32, q}
		f.tensors[block+"attn_k.weight"] = []uint64{32, kv}
		f.tensors[block+"attn_v.weight"] = []uint64{32, kv}
		f.tensors[block+"attn_output.weight"] = []uint64{q, 32}
		switch architecture {
		case "qwen2":
			f.tensors[block+"attn_q.bias"] = []uint64{q}
			f.tensors[block+"attn_k.bias"] = []uint64{kv}
			f.tensors[block+"attn_v.bias"] = []uint64{kv}
		case "gemma3":
			f.tensors[block+"post_attention_norm.weight"] = []uint64{32}
			f.tensors[block+"post_ffw_norm.weight"] = []uint64{32}
			fallthrough
		case "qwen3":
			f.tensors[block+"attn_q_norm.weight"] = []uint64{headDim}
			f.tensors[block+"attn_k_norm.weight"] = []uint64{headDim}
		}
	}
	if architecture == "gemma3" {
		f.keys["attention.sliding_window"] = uint32(16)
	}
	return f
}

// Every family comes with and without a head of its own, and with heads that are not the width's share.
func TestFamilies(t *testing.T) {
	for _, architecture := range models.Architectures() {
		for _, headDim := range []uint64{8, 16, 128} {
			for _, tied := range []bool{true, false} {
				f := family(architecture, headDim)
				if !tied {
					f.tensors["output.weight"] = []uint64{32, 40}
				}
				h, err := models.FromGGUF(f.open(t))
				if err != nil {
					t.Errorf("%s, heads of %d, tied %v: %v", architecture, headDim, tied, err)
					continue
				}
				if h.Tied != tied || h.HeadDim != int(headDim) || h.RoPEDims != int(headDim) {
					t.Errorf("%s, heads of %d, tied %v: read as %s, tied %v", architecture, headDim, tied, h.Shape(), h.Tied)
				}
				g, err := models.Build(h, models.Options{})
				if err != nil {
					t.Errorf("%s: %v", architecture, err)
					continue
				}
				if got := headWeight(g); got != map[bool]string{true: "token_embd.weight", false: "output.weight"}[tied] {
					t.Errorf("%s, tied %v: the head is %s", architecture, tied, got)
				}
			}
		}
	}
}

// headWeight names the weight that makes the logits: that of the last linear.
func headWeight(g *ir.Graph) (name string) {
	for _, n := range g.Nodes {
		if n.Op == ir.Linear {
			name = n.In[1].Name
		}
	}
	return name
}

// What every family refuses, each by the name of what is at fault. Nothing promises a way around that does not exist.
func TestFamiliesRefuse(t *testing.T) {
	for _, architecture := range models.Architectures() {
		for name, c := range map[string]struct {
			change func(f *file)
			field  string // of the *UnsupportedError
		}{
			"values of another size": {func(f *file) { f.keys["attention.value_length"] = uint32(16) }, "key " + architecture + ".attention.value_length"},
			"an unknown tensor":      {func(f *file) { f.tensors["blk.1.ssm_a"] = []uint64{8} }, "tensor blk.1.ssm_a"},
			"a prediction layer":     {func(f *file) { f.tensors["blk.2.nextn.eh_proj.weight"] = []uint64{64, 32} }, "tensor blk.2.nextn.eh_proj.weight"},
			"yarn":                   {func(f *file) { f.keys["rope.scaling.type"] = "yarn" }, "key " + architecture + ".rope.scaling.type"},
			"longrope":               {func(f *file) { f.keys["rope.scaling.type"] = "longrope" }, "key " + architecture + ".rope.scaling.type"},
		} {
			f := family(architecture, 8)
			c.change(&f)
			_, err := models.FromGGUF(f.open(t))
			var unsupported *models.UnsupportedError
			if !errors.As(err, &unsupported) || unsupported.Field != c.field {
				t.Errorf("%s with %s: %v, want %s unsupported", architecture, name, err, c.field)
				continue
			}
			for _, promise := range []string{"fall", "CPU", "instead"} {
				if strings.Contains(err.Error(), promise) {
					t.Errorf("%s with %s: %q promises", architecture, name, err)
				}
			}
		}
		// A tensor that belongs to no block changes nothing.
		f := family(architecture, 8)
		f.tensors["v.blk.0.ln1.weight"] = []uint64{32}
		if _, err := models.FromGGUF(f.open(t)); err != nil {
			t.Errorf("%s with a tensor outside the blocks: %v", architecture, err)
		}
	}
	for _, other := range []string{"", "LLAMA", "qwen3next", "mamba2", "llama\x1b[2J", strings.Repeat("x", 1000)} {
		f := llama()
		f.architecture = other
		_, err := models.FromGGUF(f.open(t))
		var unknown *models.ArchitectureError
		if !errors.As(err, &unknown) || unknown.Got != other || len(unknown.Supported) != 4 {
			t.Errorf("architecture %.20q: %v", other, err)
		} else if text := err.Error(); strings.Contains(text, "\x1b") || len(text) > 400 {
			t.Errorf("architecture %.20q: the message is %.500q", other, text)
		}
	}
}

// A file of as many tensors as the reader takes, none of which belongs to the model, is refused within the memory that
// reading a header may take.
func TestManyTensors(t *testing.T) {
	f := llama()
	for i := range 1<<16 - len(f.tensors) {
		f.tensors[fmt.Sprintf("blk.0.%057d", i)] = []uint64{0, 1, 1, 1}
	}
	opened := f.open(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := models.FromGGUF(opened)
	runtime.ReadMemStats(&after)
	var unsupported *models.UnsupportedError
	if !errors.As(err, &unsupported) || !strings.HasPrefix(unsupported.Field, "tensor blk.0.000") {
		t.Errorf("%v", err)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 32<<20 {
		t.Errorf("%d bytes allocated", spent)
	} else {
		t.Logf("%.1f MiB allocated", float64(spent)/(1<<20))
	}
}
