package randomwgsl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/internal/randomwgsl"
)

func options(seed uint64) randomwgsl.Options {
	return randomwgsl.Options{Subgroup: []int{0, 4, 32}[seed%3], F16: seed%2 == 0}
}

// Every program is WGSL, and the same for the same seed. Features that weren't asked for stay out.
func TestPrograms(t *testing.T) {
	for seed := range uint64(150) {
		p := randomwgsl.New(seed, options(seed))
		file, err := wgsl.Parse("program.wgsl", p.Text)
		if err != nil {
			t.Fatalf("%v\n%s", err, p.Text)
		}
		if again := randomwgsl.New(seed, options(seed)); again.Text != p.Text {
			t.Fatalf("seed %d gives other programs from call to call", seed)
		}
		if file.F16 && seed%2 != 0 || file.Subgroups && seed%3 == 0 {
			t.Errorf("seed %d uses what was not asked for\n%s", seed, p.Text)
		}
	}
}

// The compilers that are installed take every program.
func TestCompilers(t *testing.T) {
	validators, _ := judge.Commands(t.Context(), time.Minute)
	var texts []judge.Text
	for seed := range uint64(30) {
		texts = append(texts, judge.Text{Name: "program.wgsl", WGSL: randomwgsl.New(seed, options(seed)).Text})
	}
	for _, c := range validators {
		err := c.Judge(t.Context(), texts, func(i int, v judge.Verdict) {
			if v.Outcome != judge.Passed {
				t.Errorf("%s: %s: %s\n%s", c.Name(), v.Outcome, v.Detail, texts[i].WGSL)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Reduce keeps what is asked for, and with it only what that needs.
func TestReduce(t *testing.T) {
	const text = `fn f() {
  let a = 1;
  if a > 0 {
    let b = 2;
    for (var i = 0; i < 3; i++) {
      let c = b;
    }
  } else {
    let d = 4;
  }
}
fn g() {
  return;
}`
	const want = `fn f() {
      let c = b;
}`
	got := randomwgsl.Reduce(text, func(text string) bool {
		return strings.Contains(text, "let c") && strings.HasPrefix(text, "fn f() {") && strings.Count(text, "{") == strings.Count(text, "}")
	})
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
