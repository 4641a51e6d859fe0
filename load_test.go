package kgen_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/models/gguf"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// tiny loads an oracle's model on the evaluator.
func tiny(t *testing.T, name string, opts kgen.Options) *kgen.Model {
	t.Helper()
	opts.Device = "cpu"
	m, err := kgen.Load(t.Context(), write(t, name+".gguf", oracle.Bytes(t, name+".gguf")), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// The cache stores f16 unless it is to be exact, or unless something is asked for.
func TestDefaultOfKV(t *testing.T) {
	for _, c := range []struct {
		opts kgen.Options
		want string
	}{
		{kgen.Options{}, "f16"},
		{kgen.Options{Exact: true}, "f32"},
		{kgen.Options{KV: "f32"}, "f32"},
		{kgen.Options{KV: "f16", Exact: true}, "f16"},
	} {
		var log strings.Builder
		c.opts.Log = func(line string) { log.WriteString(line + "\n") }
		m := tiny(t, "llama-f16", c.opts)
		if !strings.Contains(log.String(), "KV cache "+c.want) {
			t.Errorf("%+v: %s", c.opts, log.String())
		}
		// What is logged is what is done: with f32 the logits are much closer to the oracle's than f16 can be.
		p := oracle.Load(t, "llama-f16").Prompts[1]
		last := len(p.Tokens) - 1
		logits := make([]float32, len(p.Logits))
		ok(t, m.Executor().Prefill(t.Context(), 0, p.Tokens[:last]))
		ok(t, m.Executor().Logits(t.Context(), last, p.Tokens[last], logits))
		if nmse := oracle.NMSE(logits, p.Logits); (nmse < oracle.CPU.NMSE) != (c.want == "f32") {
			t.Errorf("%s: NMSE %.1e", c.want, nmse)
		}
	}
}

func TestSecondSessionIsRefused(t *testing.T) {
	m := tiny(t, "llama-q4_1", kgen.Options{})
	first, err := m.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var coded *kgenrt.Error
	if _, err := m.NewSession(); !errors.As(err, &coded) || coded.Code != kgenrt.BadRequest {
		t.Errorf("a second session: %v", err)
	}
	if err := last(first.GenerateIDs(t.Context(), []uint32{1}, kgen.Generation{MaxTokens: 1, IgnoreEnd: true})); err != nil {
		t.Errorf("the first session afterwards: %v", err)
	}
}

// A token reads all weights but the embedding, of which it reads a row; an embedding that is the head too is read whole.
func TestWeightBytes(t *testing.T) {
	const embedding = "token_embd.weight"
	for _, c := range []struct {
		model string
		tied  bool
	}{{"llama-q4_1", false}, {"llama-q8_0", false}, {"llama-rope3-f32", true}} {
		m := tiny(t, c.model, kgen.Options{})
		file := oracle.Load(t, c.model).File
		want := int64(0)
		for _, tensor := range file.Tensors() {
			bytes := int64(tensor.Size)
			if tensor.Name == embedding && !c.tied {
				bytes /= int64(tensor.Dims[1])
			}
			want += bytes
		}
		if got := m.WeightBytes(); got != want {
			t.Errorf("%s: %d bytes, want %d", c.model, got, want)
		}
	}
}

// What is wrong with a file decides whether it is missing, damaged or of a kind that is not supported.
func TestCodesOfFiles(t *testing.T) {
	for class, want := range map[gguf.Class]kgenrt.Code{
		gguf.ClassRead:               kgenrt.NoModel,
		gguf.ClassSplitFile:          kgenrt.UnsupportedModel,
		gguf.ClassUnsupportedVersion: kgenrt.UnsupportedModel,
		gguf.ClassBadMagic:           kgenrt.InvalidModel,
		gguf.ClassUnexpectedEOF:      kgenrt.InvalidModel,
		gguf.ClassMissingKey:         kgenrt.InvalidModel,
		gguf.ClassTensorOverlap:      kgenrt.InvalidModel,
	} {
		var coded *kgenrt.Error
		err := kgen.AsError("read the file", &gguf.Error{Class: class, Err: fs.ErrInvalid})
		if !errors.As(err, &coded) || coded.Code != want {
			t.Errorf("%s: %v, want code %s", class, err, want)
		}
	}
	if _, err := kgen.OpenFile(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	} else if coded := (*kgenrt.Error)(nil); !errors.As(err, &coded) || coded.Code != kgenrt.NoModel {
		t.Errorf("a folder: %v", err)
	}
}

// NaN in a weight makes NaN of every logit: that is told, not taken for a token. Tokens before it are given; evaluator and kernels agree.
func TestLogitsThatAreNoNumbers(t *testing.T) {
	const name = "llama-rope3-f32.gguf"
	data := slices.Clone(oracle.Bytes(t, name))
	file, err := gguf.Parse(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	norm, err := file.Tensor("output_norm.weight")
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(data[norm.Offset:], math.Float32bits(float32(math.NaN())))
	path := write(t, name, data)
	for _, device := range []string{"cpu", "sim"} {
		for _, temperature := range []float64{0, 1} {
			m, err := kgen.Load(t.Context(), path, kgen.Options{Device: device, Exact: true, Context: 64})
			if err != nil {
				t.Fatal(err)
			}
			s := kgenrt.NewSession(m.Executor())
			var coded *kgenrt.Error
			for id, err := range s.Generate(t.Context(), []uint32{1, 2}, kgenrt.Options{MaxTokens: 5, Sampling: kgenrt.Sampling{Temperature: temperature}}) {
				if !errors.As(err, &coded) {
					t.Errorf("%s, temperature %v: token %d, %v", device, temperature, id, err)
				}
			}
			if coded == nil || coded.Code != kgenrt.InvalidModel {
				t.Errorf("%s, temperature %v: %v", device, temperature, coded)
			}
			m.Close()
		}
	}
}
