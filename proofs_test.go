package kgen

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/gen/smollm2_135m"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// What a generated package says is proved counts as long as it is so: of an edited kernel, and of one that runs in another grid, it
// counts no more.
func TestKeepProofs(t *testing.T) {
	v := smollm2_135m.Variants()[0]
	for _, c := range []struct{ kernel, old, new, says string }{
		{"", "", "", ""},
		{"add_in_place_576", "i < 144u", "i < 145u", "add_in_place_576"},
		{"rmsnorm_1x576", "", "", "rmsnorm_1x576"}, // in a larger grid
	} {
		p, err := v.Plan()
		if err != nil {
			t.Fatal(err)
		}
		edited := -1
		for i, k := range p.Kernels {
			if !k.Proved {
				t.Fatalf("%s is not proved", k.Name)
			}
			if c.kernel != "" && strings.HasPrefix(k.Name, c.kernel) {
				edited = i
				p.Kernels[i].Text = strings.Replace(k.Text, c.old, c.new, 1)
				if c.old != "" && p.Kernels[i].Text == k.Text {
					t.Fatalf("%s has no %q", k.Name, c.old)
				}
			}
		}
		if edited >= 0 && c.old == "" {
			for _, l := range p.Lists {
				for at := 0; at < len(l.Records); at += plan.RecordWords {
					if int(l.Records[at]) == edited {
						l.Records[at+2] = 2
					}
				}
			}
		}
		said := ""
		keepProofs(p, func(line string) { said += line + "\n" })
		for i, k := range p.Kernels {
			if k.Proved != (i != edited) {
				t.Errorf("%q for %q: %s is proved: %v", c.new, c.old, k.Name, k.Proved)
			}
		}
		if c.says == "" && said != "" || !strings.Contains(said, c.says) {
			t.Errorf("said %q, want %q", said, c.says)
		}
	}
}
