package wgsl_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// accepts has a compiler judge a text. A crash is no answer to what the test asks.
func accepts(t *testing.T, c judge.Validator, text string) (ok bool, why string) {
	t.Helper()
	err := c.Judge(t.Context(), []judge.Text{{Name: "kernel.wgsl", WGSL: text}}, func(_ int, v judge.Verdict) {
		if v.Outcome != judge.Passed && v.Outcome != judge.Refused {
			t.Errorf("%s: %s: %s\n%s", c.Name(), v.Outcome, v.Message, text)
		}
		ok, why = v.Outcome == judge.Passed, v.Detail
	})
	if err != nil {
		t.Fatal(err)
	}
	return ok, why
}

// compiler returns the command of a name, or skips the test: these commands are optional.
func compiler(t *testing.T, name string) judge.Validator {
	t.Helper()
	found, _ := judge.Commands(t.Context(), time.Minute)
	for _, c := range found {
		if strings.Fields(c.Name())[0] == name { // the version follows
			return c
		}
	}
	t.Skipf("no %s command on PATH: kernels are not judged by it", name)
	return nil
}

// eachCompiler runs a test for each of the commands that are installed.
func eachCompiler(t *testing.T, test func(t *testing.T, name string, c judge.Validator)) {
	for _, name := range []string{"tint", "naga"} {
		t.Run(name, func(t *testing.T) { test(t, name, compiler(t, name)) })
	}
}

// good holds kernels that have to pass both compilers.
func good() map[string]*wgsl.Module {
	type M = *wgsl.Module
	kernels := map[string]*wgsl.Module{
		"expressions": kernel(func(m M) {
			for i, c := range typed {
				m.Let(fmt.Sprint("r", i), c.expr)
			}
		}),
		"half": func() M {
			m := wgsl.New()
			m.Read("x", "vec4<f16>", 8)
			m.ReadWrite("y", "f32", 8)
			m.Compute3(4, 2, 1, "@builtin(local_invocation_index) lane: u32", func() {
				m.Let("v", "x[lane] * 0.1 + vec4h(1.5)")
				m.Set("y[lane]", "f32(v.x + v[1] * 65504)")
			})
			return m
		}(),
	}
	for name, body := range statements() {
		kernels[name] = kernel(body)
	}
	return kernels
}

func TestCompilersAccept(t *testing.T) {
	eachCompiler(t, func(t *testing.T, _ string, c judge.Validator) {
		for name, m := range good() {
			text := mustText(t, m)
			if ok, out := accepts(t, c, text); !ok {
				t.Errorf("%s refused:\n%s", name, out)
			}
		}
	})
}

// What the checker refuses, the compilers refuse: mistakes are not inventions of kgen, but for those that say so. A statement with a
// mistake prints as it was written.
func TestCompilersRefuse(t *testing.T) {
	eachCompiler(t, func(t *testing.T, name string, c judge.Validator) {
		for _, mistake := range mistakes() {
			if !strings.Contains(mistake.tools, name) {
				continue
			}
			m := kernel(mistake.build)
			text, _ := m.Text()
			if ok, _ := accepts(t, c, text); ok {
				t.Errorf("%s: accepts what was refused with %q:\n%s", mistake.at, mistake.message, text)
			}
		}
	})
}
