package oracle

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/kgen-wgsl/kgen/models/gguf"
)

// Model is a model file and the answers to prompts.
type Model struct {
	Name    string
	File    *gguf.File
	Prompts []Prompt
	Text    *Text // nil but for real models
	Added   bool  // it comes from the directory that KGEN_ORACLES names, and may be of a kind that is not supported yet
}

// Prompt is a token sequence and what a model makes of it. Layer arrays have an entry for what enters each layer and one
// for what leaves the last.
type Prompt struct {
	Name         string      `json:"name"`
	Tokens       []uint32    `json:"token_ids"`
	Greedy       []uint32    `json:"greedy_ids"`
	NearTies     []int       `json:"near_ties"`      // steps of Greedy where another id was less than 0.05 behind
	Logits       []float32   `json:"logits"`         // after the last token
	LayerRMSAll  []float64   `json:"layer_rms_all"`  // RMS of the residual stream over all positions
	LayerRMSLast []float64   `json:"layer_rms_last"` // at the last position
	LayerLast    [][]float32 `json:"layer_last"`     // its first values there
	ArgMaxAll    []uint32    `json:"argmax_all"`     // after each token; tiny models only
	LogitMaxAll  []float64   `json:"logit_max_all"`  // tiny models only
	LogSumExpAll []float64   `json:"logsumexp_all"`  // tiny models only
	LayerFirst8  [][]float32 `json:"layer_last_first8"`
}

// Text is a longer token sequence and the negative log-likelihood of each token but the first, given those before it.
type Text struct {
	Tokens []uint32  `json:"token_ids"`
	NLL    []float64 `json:"nll_per_token_ref"`
	Mean   float64   `json:"mean_nll_ref"`
}

// Load reads a tiny model, as Tiny lists them. The model's file is closed when the test ends.
func Load(t testing.TB, name string) *Model {
	t.Helper()
	data := must(t, name+".gguf")
	file, err := gguf.Parse(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	m := answers(t, name, file)
	m.Added = !isEmbedded(name + ".gguf")
	return m
}

// LoadSmolLM2 opens the real model in the cache, or skips the test as Find does.
func LoadSmolLM2(t testing.TB) *Model {
	t.Helper()
	file, err := gguf.Open(Find(t, SmolLM2))
	if err != nil {
		t.Fatal(err)
	}
	m := answers(t, "smollm2", file)
	logits := npy(t, "smollm2_logits_last.npy", len(m.Prompts))
	for i := range m.Prompts {
		m.Prompts[i].Logits = logits[i]
		m.Prompts[i].LayerLast = m.Prompts[i].LayerFirst8
	}
	return m
}

// Only returns the model with the named prompts alone, and without the text.
func (m *Model) Only(names ...string) *Model {
	part := &Model{Name: m.Name, File: m.File}
	for _, name := range names {
		for _, p := range m.Prompts {
			if p.Name == name {
				part.Prompts = append(part.Prompts, p)
			}
		}
	}
	return part
}

func answers(t testing.TB, name string, file *gguf.File) *Model {
	t.Cleanup(func() { file.Close() })
	var fields struct {
		Cases   []Prompt `json:"cases"`
		Prompts []Prompt `json:"prompts"`
		Text    *Text    `json:"nll"`
	}
	if err := json.Unmarshal(must(t, name+".json"), &fields); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &Model{Name: name, File: file, Prompts: append(fields.Cases, fields.Prompts...), Text: fields.Text}
}

func must(t testing.TB, file string) []byte {
	t.Helper()
	data, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// npy reads the rows of a NumPy file of version 1 that holds little-endian float32.
func npy(t testing.TB, file string, rows int) [][]float32 {
	t.Helper()
	data := must(t, file)
	header := 10 + int(binary.LittleEndian.Uint16(data[8:]))
	if string(data[:7]) != "\x93NUMPY\x01" || !bytes.Contains(data[:header], []byte("'descr': '<f4'")) {
		t.Fatalf("%s: no float32 array", file)
	}
	data = data[header:]
	all := make([]float32, len(data)/4)
	for i := range all {
		all[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	out := make([][]float32, rows)
	for i := range out {
		n := len(all) / rows
		out[i] = all[i*n : (i+1)*n]
	}
	return out
}
