package judge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Compilers quote the text at fault, which may look like what another compiler says.
func TestRefusalQuotes(t *testing.T) {
	for _, c := range []struct {
		output string
		want   Verdict
	}{
		{
			"error: expected expression, found \"\\\"\"\n  ┌─ x.wgsl:2:51\n  │\n2 │ let a = \"x.wgsl:9:9 error: made up\"; \n",
			Verdict{Line: 2, Column: 51, Message: `expected expression, found "\""`},
		},
		{
			"x.wgsl:2:9 error: invalid character found\nerror: made up ?\n        ^\n",
			Verdict{Line: 2, Column: 9, Message: "invalid character found"},
		},
	} {
		got := refusal(c.output)
		if d := cmp.Diff(c.want, Verdict{Line: got.Line, Column: got.Column, Message: got.Message}); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.output, d)
		}
	}
}
