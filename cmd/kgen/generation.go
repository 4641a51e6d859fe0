package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/runtime/plan"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// generationFlags say what to generate from and how.
type generationFlags struct {
	Prompt     *string `xor:"prompt" placeholder:"TEXT" help:"The prompt; with a chat template, the user's message."`
	PromptFile string  `xor:"prompt" placeholder:"PATH" help:"A file with the prompt; - is standard input."`
	System     string  `placeholder:"TEXT" help:"The system message."`
	Raw        bool    `help:"Use no chat template."`
	Think      *string `enum:"on,off" placeholder:"on|off" help:"Have the model think before it answers, or not; for chat templates with a switch for it."`
	MaxTokens  int     `placeholder:"N" help:"Stop after this many tokens; the default, 0, is what the context holds."`

	Temp *float64 `placeholder:"T" help:"Sampling temperature; 0 is greedy."`
	TopK *int     `placeholder:"K" help:"Keep the K likeliest tokens; 0 keeps all."`
	TopP *float64 `placeholder:"P" help:"Keep the likeliest tokens whose probabilities reach P; 0 keeps all."`
	MinP *float64 `placeholder:"P" help:"Keep tokens at least P times as likely as the likeliest."`

	RepeatPenalty    *float64 `placeholder:"X" help:"Divide the logits above 0 of tokens that occurred lately by X, multiply the others; 1 is none."`
	RepeatLastN      *int     `name:"repeat-last-n" placeholder:"N" help:"Penalties look at the last N tokens of prompt and answer; 0 is none, -1 all (--repeat-last-n=-1)."`
	FrequencyPenalty *float64 `placeholder:"X" help:"Subtract X from a token's logit for each time that it occurred lately."`
	PresencePenalty  *float64 `placeholder:"X" help:"Subtract X from a token's logit if it occurred lately."`

	Seed      *uint64  `placeholder:"N" help:"Seed of the sampling; the default is random and printed."`
	Stop      []string `sep:"none" placeholder:"TEXT" help:"End the answer before this text; may be given several times."`
	IgnoreEOS bool     `name:"ignore-eos" help:"Go on after an end token."`
	Burst     int      `placeholder:"K" help:"Tokens in one submit; the default, 0, suits the device."`
}

// samplingHelp is the part of a verb's help about sampling.
const samplingHelp = `Tokens are chosen as llama.cpp does by default: penalties, top-k, top-p, min-p, then the temperature and the draw. Without
--temp and the like, the file's own sampling values are used, else temperature 0.8, top-k 40, top-p 0.95, min-p 0.05 and
no penalties, which would look at 64 tokens. The same seed gives the same text on one device.`

// check refuses what can't be used together; ids tells that the prompt is not text.
func (v *generationFlags) check(ids bool) error {
	switch templateless := v.Raw || ids; {
	case v.System != "" && templateless:
		return usagef("--system is part of the chat template, which --raw and --ids leave out")
	case v.Think != nil && templateless:
		return usagef("--think is for the chat template, which --raw and --ids leave out")
	case v.Burst < 0:
		return usagef("--burst: %d is below 0", v.Burst)
	case v.MaxTokens < 0:
		return usagef("--max-tokens: %d is below 0", v.MaxTokens)
	}
	return nil
}

// text reads the prompt's text; ok is false where there is none.
func (v *generationFlags) text(t *terminal) (text string, ok bool, err error) {
	switch {
	case v.PromptFile != "":
		text, err = t.readText("--prompt-file", v.PromptFile)
		return text, true, err
	case v.Prompt == nil:
		return "", false, nil
	}
	return *v.Prompt, true, nil
}

// codec returns the file's codec for text, told whether the model is to think. A file without a vocabulary has none.
func (v *generationFlags) codec(f *kgen.File, t *terminal) (kgenrt.Codec, error) {
	if _, err := f.Tokenizer(); err != nil {
		return kgenrt.Codec{}, err
	}
	c, err := f.Codec()
	if err != nil || v.Think == nil {
		return c, err
	}
	if !f.ThinkSwitch() {
		t.note("warning: --think has no effect: the model's chat template has no switch for it")
	}
	on := *v.Think == "on"
	c.Think = &on
	return c, nil
}

// system returns the messages that a conversation begins with.
func (v *generationFlags) system() []kgen.Message {
	if v.System == "" {
		return nil
	}
	return []kgen.Message{{Role: "system", Content: v.System}}
}

// generation puts together the sampling options: flags before the file's values before the defaults. It prints the seed.
func (v *generationFlags) generation(sampling kgen.Sampling, t *terminal) (kgen.Generation, error) {
	g := kgen.Generation{MaxTokens: v.MaxTokens, IgnoreEnd: v.IgnoreEOS, Stop: v.Stop, Sampling: sampling}
	s := &g.Sampling
	set(&s.Temperature, v.Temp)
	set(&s.TopK, v.TopK)
	set(&s.TopP, v.TopP)
	set(&s.MinP, v.MinP)
	set(&s.RepeatPenalty, v.RepeatPenalty)
	set(&s.RepeatLastN, v.RepeatLastN)
	set(&s.FrequencyPenalty, v.FrequencyPenalty)
	set(&s.PresencePenalty, v.PresencePenalty)
	if err := g.Check(); err != nil {
		return g, err
	}
	if v.RepeatLastN != nil && *v.RepeatLastN == 0 { // where 0 in a Sampling is the default
		s.RepeatPenalty, s.FrequencyPenalty, s.PresencePenalty = 1, 0, 0
	}
	if s.Greedy() {
		return g, nil
	}
	s.Seed = rand.Uint64()
	set(&s.Seed, v.Seed)
	t.note("seed: %d", s.Seed)
	return g, nil
}

// set gives a value to what a flag is for, when the flag was given.
func set[T any](to, flag *T) {
	if flag != nil {
		*to = *flag
	}
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
	// Findings are those of the simulator since the model was loaded; nil on other devices.
	Findings *[]modelFinding `json:"findings,omitempty"`
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
	ReusedTokens  int     `json:"reused_tokens"`
}

// answer generates from a prompt and writes the text as it comes, but for --json. With an error, the result is what there was
// before it.
func (t *terminal) answer(ctx context.Context, m *kgen.Model, s *kgen.Session, prompt []uint32, g kgen.Generation) (runResult, error) {
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
		if t.json {
			continue
		}
		t.stdout.WriteString(piece.Text)
		if err := t.stdout.Flush(); err != nil {
			return result, plainError{fmt.Errorf("write the text: %w", err)}
		}
	}
	last := s.Last()
	result.Finish = string(last.Finish)
	d := m.Device()
	result.Device = deviceInfo{Kind: d.Kind, Name: d.Name, Backend: d.API, Library: d.Library}
	result.Stats = statsOf(last, before, m)
	result.Findings = modelFindings(m)
	if g.Sampling.Greedy() {
		warnOfRepetition(t, result.IDs, d.Kind)
	}
	return result, failed
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
		DecodeTokens: last.DecodeTokens, DecodeMS: last.DecodeSeconds * 1e3, ReusedTokens: last.ReusedTokens,
		EncodeMS: float64(after.EncodeNanos-before.EncodeNanos) / 1e6, SyncMS: float64(after.SyncNanos-before.SyncNanos) / 1e6,
		Dispatches: after.Dispatches - before.Dispatches, Submits: after.Submits - before.Submits, Syncs: after.Syncs - before.Syncs,
		BytesWeights: m.WeightBytes(),
	}
}
