package wgsl_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// compiler is a command that judges WGSL.
type compiler struct {
	name string
	args []string
	text func(string) string
}

var compilers = []compiler{
	{"tint", []string{"--format", "wgsl"}, func(s string) string { return s }},
	{"naga", nil, plan.Naga},
}

// accepts runs the compiler on a text.
func (c compiler) accepts(t *testing.T, text string) (bool, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kernel.wgsl")
	if err := os.WriteFile(file, []byte(c.text(text)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(c.name, append(c.args, file)...).CombinedOutput()
	return err == nil, string(out)
}

// eachCompiler runs a test for each of the commands that are installed; they are optional.
func eachCompiler(t *testing.T, test func(t *testing.T, c compiler)) {
	for _, c := range compilers {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.name); err != nil {
				t.Skipf("no %s command on PATH: kernels are not judged by it", c.name)
			}
			test(t, c)
		})
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
	eachCompiler(t, func(t *testing.T, c compiler) {
		for name, m := range good() {
			text := mustText(t, m)
			if ok, out := c.accepts(t, text); !ok {
				t.Errorf("%s refused:\n%s", name, out)
			}
		}
	})
}

// What the checker refuses, the compilers refuse: mistakes are not inventions of kgen, but for those that say so. A statement with a
// mistake prints as it was written.
func TestCompilersRefuse(t *testing.T) {
	eachCompiler(t, func(t *testing.T, c compiler) {
		for _, mistake := range mistakes() {
			if !strings.Contains(mistake.tools, c.name) {
				continue
			}
			m := kernel(mistake.build)
			text, _ := m.Text()
			if ok, _ := c.accepts(t, text); ok {
				t.Errorf("%s: accepts what was refused with %q:\n%s", mistake.at, mistake.message, text)
			}
		}
	})
}
