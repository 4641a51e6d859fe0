package wgsl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Only mistakes of uniformity are returned apart: Parse refuses the same texts, for the same reasons.
func TestParseLenient(t *testing.T) {
	const head = "@group(0) @binding(0) var<storage, read_write> y: array<f32>;\n" +
		"@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) lane: u32) {\n"
	for _, c := range []struct {
		name, body string
		divergent  []string
		err        string
	}{
		{"uniform", "workgroupBarrier();", nil, ""},
		{"one", "if lane > 3u { workgroupBarrier(); }", []string{"k.wgsl:4:16: workgroupBarrier must be reached by all"}, ""},
		{"two", "if lane > 3u { workgroupBarrier(); y[0] = subgroupAdd(1.0); }",
			[]string{"k.wgsl:4:16: workgroupBarrier must", "k.wgsl:4:43: subgroupAdd must"}, ""},
		{"another mistake", "if lane > 3 { workgroupBarrier(); } y[0] = 1u;", nil, "k.wgsl:4:"},
	} {
		f, divergent, err := wgsl.ParseLenient("k.wgsl", head+c.body+"\n}\n")
		if c.err != "" {
			if e := new(wgsl.Error); f != nil || divergent != nil || !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("%s: got %v, %v, %v", c.name, f, divergent, err)
			}
			continue
		}
		if err != nil || f == nil || len(divergent) != len(c.divergent) {
			t.Errorf("%s: got %v, %v, %v", c.name, f, divergent, err)
			continue
		}
		strict, err := wgsl.Parse("k.wgsl", head+c.body+"\n}\n")
		if (err == nil) != (len(divergent) == 0) || (strict == nil) != (err != nil) {
			t.Errorf("%s: Parse gives %v, %v", c.name, strict, err)
		}
		var lines []string
		for i, d := range divergent {
			lines = append(lines, d.Error())
			if !strings.HasPrefix(d.Error(), c.divergent[i]) {
				t.Errorf("%s: got %q, want %q", c.name, d, c.divergent[i])
			}
		}
		if err != nil && err.Error() != strings.Join(lines, "\n") {
			t.Errorf("%s: Parse gives %q, want %q", c.name, err, lines)
		}
	}
}
