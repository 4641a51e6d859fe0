package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/runtime/plan"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

type runVerb struct {
	deviceFlags
	Prompt     *string  `xor:"prompt" placeholder:"TEXT" help:"The prompt; with a chat template, the user's message."`
	PromptFile string   `xor:"prompt" placeholder:"PATH" help:"A file with the prompt; - is standard input."`
	IDs        string   `name:"ids" xor:"prompt" placeholder:"1,2,3" help:"Token ids as the prompt."`
	System     string   `placeholder:"TEXT" help:"The system message."`
	Raw        bool     `help:"Use no chat template."`
	MaxTokens  int      `placeholder:"N" help:"Stop after this many tokens; the default, 0, is what the context holds."`
	Temp       *float64 `placeholder:"T" help:"Sampling temperature; 0 is greedy."`
	TopK       *int     `placeholder:"K" help:"Keep the K likeliest tokens; 0 keeps all."`
	TopP       *float64 `placeholder:"P" help:"Keep the likeliest tokens whose probabilities reach P; 0 keeps all."`
	MinP       *float64 `placeholder:"P" help:"Keep tokens at least P times as likely as the likeliest."`
	Seed       *uint64  `placeholder:"N" help:"Seed of the sampling; the default is random and printed."`
	IgnoreEOS  bool     `name:"ignore-eos" help:"Go on after an end token."`
	Burst      int      `placeholder:"K" help:"Tokens in one submit; the default, 0, suits the device."`
}

func (runVerb) Help() string {
	return `Example:

  kgen run model.gguf --prompt "What is the capital of France?" --temp 0 --max-tokens 32

The text goes to stdout as it is made; device, speed and choices to stderr. Without --temp and the like, the file's own
sampling values are used, else temperature 0.8, top-k 40, top-p 0.95 and min-p 0.05.`
}

// runResult is what --json prints.
type runResult struct {
	PromptIDs []uint32   `json:"prompt_ids"`
	IDs       []uint32   `json:"ids"`
	Text      string     `json:"text"`
	Finish    string     `json:"finish"`
	Path      string     `json:"path"`
	Device    deviceInfo `json:"device"`
	Stats     runStats   `json:"stats"`
	Seed      *uint64    `json:"seed,omitempty"`
}

type deviceInfo struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Backend string `json:"backend"`
	Library string `json:"library"`
}

type runStats struct {
	PrefillTokens int     `json:"prefill_tokens"`
	PrefillMS     float64 `json:"prefill_ms"`
	DecodeTokens  int     `json:"decode_tokens"`
	DecodeMS      float64 `json:"decode_ms"`
	EncodeMS      float64 `json:"encode_ms"`
	SyncMS        float64 `json:"sync_ms"`
	Dispatches    int64   `json:"dispatches"`
	Submits       int64   `json:"submits"`
	Syncs         int64   `json:"syncs"`
	BytesWeights  int64   `json:"bytes_weights"`
}

// Run reads the prompt before it loads the model, so that one that does not fit costs nothing.
func (v *runVerb) Run(ctx context.Context, t *terminal) error {
	v.apply(t)
	if v.System != "" && (v.Raw || v.IDs != "") {
		return usagef("--system is part of the chat template, which --raw and --ids leave out")
	}
	prompt, err := v.prompt(t)
	if err != nil {
		return err
	}
	var ids []uint32
	var g kgen.Generation
	m, err := v.load(ctx, t, kgen.Options{Burst: v.Burst}, func(f *kgen.File) (err error) {
		if g, err = v.generation(f.Sampling(), t); err != nil {
			return err
		}
		if ids, err = v.encode(f, prompt); err != nil {
			return err
		}
		return v.checkIDs(f, ids, len(ids))
	})
	if err != nil {
		return err
	}
	defer m.Close()
	s, err := m.NewSession()
	if err != nil {
		return err
	}
	return v.generate(ctx, t, m, s, ids, g)
}

// prompt reads the prompt's text; with --ids there is none.
func (v *runVerb) prompt(t *terminal) (string, error) {
	switch {
	case v.IDs != "":
		return "", nil
	case v.PromptFile != "":
		return t.readText("--prompt-file", v.PromptFile)
	case v.Prompt == nil:
		return "", usagef("give --prompt, --prompt-file or --ids")
	}
	return *v.Prompt, nil
}

func (v *runVerb) encode(f *kgen.File, prompt string) ([]uint32, error) {
	if v.IDs != "" {
		return parseIDs(v.IDs)
	}
	c, err := f.Codec()
	if err != nil {
		return nil, err
	}
	if v.Raw {
		return c.EncodeText(prompt), nil
	}
	var messages []kgen.Message
	if v.System != "" {
		messages = append(messages, kgen.Message{Role: "system", Content: v.System})
	}
	return c.EncodeChat(append(messages, kgen.Message{Role: "user", Content: prompt}))
}

// generation puts together the sampling options: flags before the file's values before the defaults.
func (v *runVerb) generation(sampling kgen.Sampling, t *terminal) (kgen.Generation, error) {
	g := kgen.Generation{MaxTokens: v.MaxTokens, IgnoreEnd: v.IgnoreEOS, Sampling: sampling}
	if v.Temp != nil {
		g.Sampling.Temperature = *v.Temp
	}
	if v.TopK != nil {
		g.Sampling.TopK = *v.TopK
	}
	if v.TopP != nil {
		g.Sampling.TopP = *v.TopP
	}
	if v.MinP != nil {
		g.Sampling.MinP = *v.MinP
	}
	switch {
	case v.MaxTokens < 0:
		return g, usagef("--max-tokens: %d is below 0", v.MaxTokens)
	case v.Burst < 0:
		return g, usagef("--burst: %d is below 0", v.Burst)
	}
	if err := g.Sampling.Check(); err != nil {
		return g, err
	}
	if g.Sampling.Greedy() {
		return g, nil
	}
	g.Sampling.Seed = rand.Uint64()
	if v.Seed != nil {
		g.Sampling.Seed = *v.Seed
	}
	t.note("seed: %d", g.Sampling.Seed)
	return g, nil
}

func (v *runVerb) generate(ctx context.Context, t *terminal, m *kgen.Model, s *kgen.Session, prompt []uint32, g kgen.Generation) error {
	before := m.Stats()
	result := runResult{PromptIDs: prompt, IDs: []uint32{}, Path: m.Path()}
	if !g.Sampling.Greedy() {
		result.Seed = &g.Sampling.Seed
	}
	var failed error
	for piece, err := range s.GenerateIDs(ctx, prompt, g) {
		if err != nil {
			failed = err
			break
		}
		result.IDs = append(result.IDs, piece.IDs...)
		result.Text += piece.Text
		if !v.JSON {
			t.stdout.WriteString(piece.Text)
			if err := t.stdout.Flush(); err != nil {
				return usagef("write the text: %v", err)
			}
		}
	}
	last := s.Last()
	result.Finish = string(last.Finish)
	d := m.Device()
	result.Device = deviceInfo{Kind: d.Kind, Name: d.Name, Backend: d.API, Library: d.Library}
	result.Stats = statsOf(last, before, m)
	if g.Sampling.Greedy() {
		warnOfRepetition(t, result.IDs, d.Kind)
	}
	var coded *kgenrt.Error
	if failed != nil && (!errors.As(failed, &coded) || coded.Code != kgenrt.Aborted || !v.JSON) {
		if !v.JSON && len(result.IDs) > 0 {
			fmt.Fprintln(t.stdout)
		}
		return failed
	}
	if v.JSON {
		if err := t.printJSON(result); err != nil {
			return err
		}
		if failed != nil {
			return errReported
		}
		return nil
	}
	fmt.Fprintln(t.stdout)
	printStats(t, result)
	return nil
}

// fewRepeats is how many greedy tokens in a row from the start are too many to be alike.
const fewRepeats = 8

// warnOfRepetition says so when an answer starts with one token over and over: drivers that compute wrong do that, and some
// models on prompts that suit them badly.
func warnOfRepetition(t *terminal, ids []uint32, kind string) {
	if len(ids) < fewRepeats || slices.ContainsFunc(ids[:fewRepeats], func(id uint32) bool { return id != ids[0] }) {
		return
	}
	advice := "the prompt may not suit the model"
	if kind != "cpu" {
		advice = "the device may compute wrong; compare with --device cpu"
	}
	t.note("warning: the first %d tokens are all %d: %s", fewRepeats, ids[0], advice)
}

func statsOf(last kgenrt.Result, before plan.Stats, m *kgen.Model) runStats {
	after := m.Stats()
	return runStats{
		PrefillTokens: last.PrefillTokens, PrefillMS: last.PrefillSeconds * 1e3,
		DecodeTokens: last.DecodeTokens, DecodeMS: last.DecodeSeconds * 1e3,
		EncodeMS: float64(after.EncodeNanos-before.EncodeNanos) / 1e6, SyncMS: float64(after.SyncNanos-before.SyncNanos) / 1e6,
		Dispatches: after.Dispatches - before.Dispatches, Submits: after.Submits - before.Submits, Syncs: after.Syncs - before.Syncs,
		BytesWeights: m.WeightBytes(),
	}
}

func printStats(t *terminal, r runResult) {
	s := r.Stats
	rate := func(tokens int, ms float64) float64 {
		if ms == 0 {
			return 0
		}
		return float64(tokens) / ms * 1e3
	}
	t.note("%s on %s (%s%s), path %s: prompt %d tokens in %.0f ms (%.1f tokens/s), %d generated in %.0f ms (%.1f tokens/s)",
		r.Finish, r.Device.Name, r.Device.Kind, joined(r.Device.Backend, r.Device.Library), r.Path,
		s.PrefillTokens, s.PrefillMS, rate(s.PrefillTokens, s.PrefillMS), s.DecodeTokens, s.DecodeMS, rate(s.DecodeTokens, s.DecodeMS))
	if s.Dispatches > 0 {
		fed := float64(s.PrefillTokens + s.DecodeTokens)
		t.note("per token: %.1f dispatches, %.2f submits, %.2f syncs, %.3f ms encoding, %.3f ms waiting",
			float64(s.Dispatches)/fed, float64(s.Submits)/fed, float64(s.Syncs)/fed, s.EncodeMS/fed, s.SyncMS/fed)
	}
}

func joined(parts ...string) string {
	s := ""
	for _, p := range parts {
		if p != "" {
			s += ", " + p
		}
	}
	return s
}
