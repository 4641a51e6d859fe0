package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/kgen-wgsl/kgen"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

type runVerb struct {
	deviceFlags
	generationFlags
	IDs string `name:"ids" xor:"prompt" placeholder:"1,2,3" help:"Token ids as the prompt."`
}

func (runVerb) Help() string {
	return `Example:

  kgen run model.gguf --prompt "What is the capital of France?" --temp 0 --max-tokens 32

The text goes to stdout as it is made; device, speed and choices to stderr.

` + samplingHelp
}

// Run reads the prompt before it loads the model, so that one that does not fit costs nothing.
func (v *runVerb) Run(ctx context.Context, t *terminal) error {
	v.apply(t)
	if err := v.check(v.IDs != ""); err != nil {
		return err
	}
	prompt, ok, err := v.text(t)
	if err == nil && !ok && v.IDs == "" {
		err = usagef("give --prompt, --prompt-file or --ids")
	}
	if err != nil {
		return err
	}
	var ids []uint32
	var g kgen.Generation
	m, err := v.load(ctx, t, kgen.Options{Burst: v.Burst}, func(f *kgen.File) (err error) {
		if g, err = v.generation(f.Sampling(), t); err != nil {
			return err
		}
		if ids, err = v.encode(f, t, prompt); err != nil {
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
	return t.judged(m, v.generate(ctx, t, m, s, ids, g))
}

func (v *runVerb) encode(f *kgen.File, t *terminal, prompt string) ([]uint32, error) {
	if v.IDs != "" {
		return parseIDs(v.IDs)
	}
	c, err := v.codec(f, t)
	if err != nil {
		return nil, err
	}
	if v.Raw {
		return c.EncodeText(prompt), nil
	}
	return c.EncodeChat(append(v.system(), kgen.Message{Role: "user", Content: prompt}))
}

func (v *runVerb) generate(ctx context.Context, t *terminal, m *kgen.Model, s *kgen.Session, prompt []uint32, g kgen.Generation) error {
	result, failed := t.answer(ctx, m, s, prompt, g)
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
	if err := t.stdout.Flush(); err != nil { // before the line that follows on stderr
		return plainError{fmt.Errorf("write the text: %w", err)}
	}
	printStats(t, result)
	return nil
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
