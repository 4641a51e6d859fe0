package wgsl_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"golang.org/x/tools/txtar"
)

// verdict is a small program and who accepts it: both compilers, tint or naga alone, or none.
type verdict struct {
	name, text, accepted string
}

// verdicts reads testdata/verdicts.
func verdicts(t testing.TB) []verdict {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "verdicts", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no verdicts: %v", err)
	}
	var list []verdict
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		topic := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, f := range archive.Files {
			list = append(list, verdict{topic + "/" + path.Base(f.Name), string(f.Data), path.Dir(f.Name)})
		}
	}
	return list
}

// What both compilers accept is accepted, and parses back from its print; what either refuses is refused, with a place.
func TestParseJudgesAsCompilersDo(t *testing.T) {
	for _, v := range verdicts(t) {
		f, err := wgsl.Parse(v.name, v.text)
		switch {
		case v.accepted == "both" && err != nil:
			t.Errorf("refused what both compilers accept: %v", err)
		case v.accepted != "both" && err == nil:
			t.Errorf("%s: accepted, and by the compilers: %s\n%s", v.name, v.accepted, v.text)
		case err == nil:
			parsesBack(t, v.name, f, wgsl.Print(f))
		case !strings.HasPrefix(err.Error(), v.name+":"):
			t.Errorf("the error doesn't say where: %v", err)
		}
	}
}

// The compilers judge as is recorded.
func TestVerdictsOfCompilers(t *testing.T) {
	eachCompiler(t, func(t *testing.T, name string, c judge.Validator) {
		list := verdicts(t)
		texts := make([]judge.Text, len(list))
		for i, v := range list {
			texts[i] = judge.Text{Name: v.name, WGSL: v.text}
		}
		got := make([]judge.Verdict, len(list))
		if err := c.Judge(t.Context(), texts, func(i int, v judge.Verdict) { got[i] = v }); err != nil {
			t.Fatal(err)
		}
		for i, v := range list {
			accepted := v.accepted == "both" || v.accepted == name
			if want := map[bool]judge.Outcome{true: judge.Passed, false: judge.Refused}[accepted]; got[i].Outcome != want {
				t.Errorf("%s is recorded as accepted by %s, but: %s %s", v.name, v.accepted, got[i].Outcome, got[i].Message)
			}
		}
	})
}
