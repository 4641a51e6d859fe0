package codegen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lintRules are forms that one WGSL compiler accepts and another refuses or gets wrong. Text is looked at without its comments.
var lintRules = []struct {
	form *regexp.Regexp
	why  string
	bad  string // an example
}{
	{regexp.MustCompile(`\bptr<`), "a pointer as parameter or type: storage and workgroup pointers need an extension", "fn f(p: ptr<function, f32>) {\n}"},
	{regexp.MustCompile(`[(,]\s*&\w+\s*[\[.]`), "the address of an element: naga has crashed on it", "let a = f(&part[3]);"},
	{regexp.MustCompile(`\boverride\b`), "an override: sizes that depend on one are not understood everywhere", "override n: u32 = 4;"},
	{regexp.MustCompile(`\bdiagnostic\b`), "a diagnostic filter: it hides what the compiler has to say of uniformity", "diagnostic(off, subgroup_uniformity);"},
	{regexp.MustCompile(`\brequires\b`), "a language extension", "requires pointer_composite_access;"},
	{regexp.MustCompile(`\benable (?:[^s;]|s[^u;]|[^;]*,)`), "a feature that no profile has", "enable f16;"},
	{regexp.MustCompile(`\bloop\b|\bcontinuing\b`), "a loop without a condition", "loop {\n}"},
	{regexp.MustCompile(`(?i)\b[+-]?(inf|nan|infinity)\b`), "a number that WGSL has no text for", "let a = -inf;"},
	{regexp.MustCompile(`[/%] 0(?:\.0*)?[fhui]?(?:[^.\dx]|$)`), "a division by a constant zero", "let a = b / 0.0f;"},
	{regexp.MustCompile(`\bvar \w+(?:: (?:vec\d<)?f16| = (?:[\d.]+h|vec\d(?:<f16>|h)))`), "a variable of f16: sums above 65504 overflow", "var sum = 0.0h;"},
	{regexp.MustCompile(`(?s)\breturn;.*\bworkgroupBarrier\b`), "a return before a barrier", "if (a) {\n  return;\n}\nworkgroupBarrier();"},
	{regexp.MustCompile(`\bbitcast<f(32|16)>\(0x`), "a number made of bits, which may be none", "let a = bitcast<f32>(0x7f800000u);"},
	{regexp.MustCompile(`\b(subgroup_id|num_subgroups)\b`), "a builtin that not all compilers have", "@builtin(subgroup_id) s: u32"},
	{regexp.MustCompile(`[^\x00-\x7f]`), "a letter that is no ASCII", "let größe = 1;"},
	{regexp.MustCompile(`\r|\t`), "white space that is no space or line feed", "let a = 1;\r\n"},
}

var (
	comment  = regexp.MustCompile(`//[^\n]*`)
	function = regexp.MustCompile(`(?ms)^fn \w+\([^)]*\) -> [^{]+\{\n(.*?)^\}`)
)

// lint returns what is wrong with a kernel's text.
func lint(text string) []string {
	var found []string
	code := comment.ReplaceAllString(text, "")
	for _, rule := range lintRules {
		if at := rule.form.FindString(code); at != "" {
			found = append(found, fmt.Sprintf("%q: %s", at, rule.why))
		}
	}
	for _, f := range function.FindAllStringSubmatch(code, -1) {
		lines := strings.Split(strings.TrimSpace(f[1]), "\n")
		if !strings.HasPrefix(strings.TrimSpace(lines[len(lines)-1]), "return ") {
			found = append(found, fmt.Sprintf("%q: a function with a result does not end in return", f[0]))
		}
	}
	if strings.Contains(code, "enable subgroups;") != regexp.MustCompile(`\bsubgroup\w+\(`).MatchString(code) {
		found = append(found, "subgroups are enabled and not used, or used and not enabled")
	}
	return found
}

// Every kernel that the compiler makes for a model, on every path and profile, and every kernel kept in the repository, keeps to what all
// WGSL compilers take.
func TestLint(t *testing.T) {
	texts := map[string]string{}
	for _, pattern := range []string{"kernels/testdata/*.wgsl", "golang/testdata/*/kernels/*.wgsl", "../golden/cases/*/*.wgsl", "../gen/*/kernels/*.wgsl"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no kernels in %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[string(text)] = file
		}
	}
	for name, g := range everyModel(t) {
		for _, p := range []string{"portable", "compat", "subgroups"} {
			for _, fast := range []bool{false, true} {
				for _, k := range compile(t, g, profile(t, p), fast).Kernels {
					texts[k.Text] = name + " for " + p + ": " + k.Name
					if p != "subgroups" && strings.Contains(k.Text, "enable ") {
						t.Errorf("%s enables what the profile has not", texts[k.Text])
					}
				}
			}
		}
	}
	for text, where := range texts {
		for _, fault := range lint(text) {
			t.Errorf("%s: %s", where, fault)
		}
	}
	t.Logf("%d kernels", len(texts))
}

// Each rule finds what it is for.
func TestLintFinds(t *testing.T) {
	const good = "fn f(v: f32) -> f32 {\n  return v;\n}\n\n@compute @workgroup_size(64)\nfn main() {\n  let a = b / 0.5;\n  let c = d & e[1];\n}\n"
	if found := lint(good); found != nil {
		t.Errorf("good text: %v", found)
	}
	for _, rule := range lintRules {
		if found := lint(good + rule.bad); len(found) != 1 || !strings.Contains(found[0], rule.why) {
			t.Errorf("%q: found %q, want %q", rule.bad, found, rule.why)
		}
	}
	for bad, want := range map[string]string{
		"fn f(v: f32) -> f32 {\n  if (v > 0.0) {\n    return v;\n  }\n}\n": "does not end in return",
		"enable subgroups;\n":           "enabled and not used",
		"let a = subgroupAdd(b);\n":     "used and not enabled",
		"enable subgroups, f16;\n" + "": "a feature that no profile has",
	} {
		if found := lint(bad); len(found) == 0 || !strings.Contains(found[0], want) {
			t.Errorf("%q: found %q, want %q", bad, found, want)
		}
	}
}
