package repotest

import (
	"go/parser"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kgen-wgsl/kgen"

// rule says what a package may import beside the standard library.
type rule struct {
	pkg     string   // a folder, or a folder and /... for all below it; the first rule that matches counts
	own     []string // packages of this module, in the same notation; a package below the rule's own folder isn't implied
	modules []string // packages of other modules, by prefix
}

// rules is the import table: the leaves first, then ir, schedules, codegen, the root and the command, each importing
// only what stands before it. The runtime stands apart: nothing but plan joins it to the compiler.
var rules = []rule{
	{pkg: "runtime/plan"},
	{pkg: "models/quant", modules: []string{"github.com/x448/float16"}},
	{pkg: "models/gguf", own: []string{"models/quant"}, modules: []string{"github.com/edsrzf/mmap-go"}},
	{pkg: "models/tokenizer"},
	{pkg: "models/tokenizer/internal/gen", modules: []string{"golang.org/x/text"}},
	{pkg: "models/chat", modules: []string{"github.com/ardanlabs/jinja"}},

	{pkg: "ir", own: []string{"models/quant"}},
	{pkg: "ir/eval", own: []string{"ir", "models/quant"}, modules: []string{"github.com/x448/float16"}},
	{pkg: "models", own: []string{"ir", "models/gguf", "models/quant"}},
	{pkg: "schedules", own: []string{"ir", "models/quant", "runtime/plan"}},

	{pkg: "codegen/wgsl", own: []string{"runtime/plan"}, modules: []string{"github.com/x448/float16"}},
	{pkg: "codegen/outline"},
	{pkg: "codegen/extract", own: []string{"codegen/outline"}},
	{pkg: "codegen/bind", own: []string{"codegen/wgsl", "schedules", "runtime/plan"}},
	{pkg: "codegen/kernels", own: []string{"codegen/wgsl", "codegen/bind", "ir", "models/quant", "schedules", "runtime/plan"}},
	{pkg: "codegen/sim", own: []string{"codegen/wgsl", "runtime/plan"}},
	{pkg: "codegen/mutate", own: []string{"codegen/wgsl"}},
	{pkg: "codegen/bounds", own: []string{"codegen/wgsl", "runtime/plan"}},
	{pkg: "codegen/judge", own: []string{"runtime/plan", "runtime/webgpu"}},
	{
		pkg:     "codegen/golang",
		own:     []string{"codegen", "codegen/bounds", "ir", "models", "schedules", "runtime/plan"},
		modules: []string{"github.com/dave/jennifer", "github.com/pmezard/go-difflib"},
	},
	{
		pkg:     "codegen",
		own:     []string{"codegen/...", "ir", "models/quant", "schedules", "runtime/plan"},
		modules: []string{"golang.org/x/sync"},
	},

	{pkg: "runtime", own: []string{"runtime/plan"}},
	{
		pkg: "runtime/webgpu", own: []string{"runtime/plan"},
		modules: []string{"github.com/ebitengine/purego", "golang.org/x/sys/windows"},
	},
	{pkg: "gen/...", own: []string{"runtime", "runtime/plan"}},

	{
		pkg: ".",
		own: []string{"codegen/...", "ir/...", "models/...", "runtime/...", "schedules/..."},
	},
	{pkg: "internal/libraries", modules: []string{"golang.org/x/net/html"}},
	{pkg: "internal/libraries/notices", own: []string{"internal/libraries"}},
	{
		pkg: "cmd/...",
		own: []string{".", "codegen/...", "gen/...", "internal/libraries", "ir/...", "models/...", "runtime/...", "schedules/..."},
		modules: []string{
			"github.com/alecthomas/kong", "github.com/mattn/go-isatty",
			"github.com/pmezard/go-difflib", "github.com/schollz/progressbar/v3", "golang.org/x/term",
		},
	},
	{pkg: "examples/...", own: []string{".", "gen/...", "runtime/..."}},
	{pkg: "golden/...", own: []string{".", "codegen/...", "ir/...", "models/...", "runtime/...", "schedules/..."}},
	// Helpers of tests: no rule lets other code import them.
	{pkg: "internal/gpu", own: []string{"runtime/plan", "runtime/webgpu"}},
	{pkg: "internal/oracle", own: []string{"models/gguf"}},
	{pkg: "internal/mutants", own: []string{"codegen/mutate"}},
	{pkg: "internal/repotest"},
	{pkg: "internal/randomwgsl"},
	{
		pkg:     "internal/suite",
		own:     []string{"codegen/...", "internal/testgraph", "ir/...", "models/...", "runtime/plan", "schedules"},
		modules: []string{"github.com/x448/float16"},
	},
	{pkg: "internal/testgraph", own: []string{"ir", "models/quant"}, modules: []string{"github.com/x448/float16"}},
	{pkg: "internal/testtext"},
}

// testModules may be imported by every test, and by no other code unless a rule says so.
var testModules = []string{
	"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "golang.org/x/tools", "pgregory.net/rapid",
	"github.com/dlclark/regexp2/v2", "golang.org/x/text", "github.com/pmezard/go-difflib",
	"github.com/x448/float16", "golang.org/x/sys/unix",
}

// unsafePackages lists the packages that may import unsafe: the one that calls C.
var unsafePackages = []string{"runtime/webgpu"}

func TestImports(t *testing.T) {
	for _, file := range goFiles(t, parser.ImportsOnly) {
		at := slices.IndexFunc(rules, func(r rule) bool { return matches(r.pkg, file.pkg) })
		if at < 0 {
			t.Errorf("%s: package %s isn't in the table of imports", file.name, file.pkg)
			continue
		}
		for _, imported := range file.imports {
			if reason := refusal(rules[at], file, imported); reason != "" {
				t.Errorf("%s imports %s: %s", file.name, imported, reason)
			}
		}
	}
}

// refusal tells why a file may not import a package; it is empty when the file may. A test may import every package of
// the module that can import its own: external test packages compare a package with the ones built on it.
func refusal(r rule, file goFile, imported string) string {
	switch {
	case imported == "unsafe":
		if !slices.Contains(unsafePackages, file.pkg) {
			return "unsafe is for " + strings.Join(unsafePackages, ", ")
		}
	case imported == module || strings.HasPrefix(imported, module+"/"):
		if own := path.Clean("./" + strings.TrimPrefix(imported, module)); !file.test && !matchesAny(r.own, own) {
			return "the table allows " + list(r.own)
		}
	case strings.Contains(strings.Split(imported, "/")[0], "."):
		allowed := r.modules
		if file.test {
			allowed = slices.Concat(allowed, testModules)
		}
		if !slices.ContainsFunc(allowed, func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") }) {
			return "the table allows " + list(allowed)
		}
	}
	return ""
}

// matches says whether a pattern names a package: the same folder, or for a pattern ending in /... that folder and
// those below.
func matches(pattern, pkg string) bool {
	folder, below := strings.CutSuffix(pattern, "/...")
	return pkg == folder || below && strings.HasPrefix(pkg, folder+"/")
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, pkg) })
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing of this kind"
	}
	return strings.Join(names, ", ")
}

// TestRefusal checks the check: each case is an import that the table has to refuse or allow.
func TestRefusal(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		test, allowed bool
	}{
		{"runtime", module + "/runtime/plan", false, true},
		{"runtime", module + "/ir", false, false},
		{"runtime", module + "/runtime/webgpu", false, false},
		{"runtime/webgpu", "unsafe", false, true},
		{"runtime/plan", "unsafe", true, false},
		{"runtime/webgpu", "github.com/ebitengine/purego", false, true},
		{"runtime", "github.com/ebitengine/purego", false, false},
		{"ir", "github.com/google/go-cmp/cmp", true, true},
		{"ir", "github.com/google/go-cmp/cmp", false, false},
		{"ir", module + "/codegen", false, false},
		{"codegen", module + "/codegen/wgsl", false, true},
		{"codegen/wgsl", module + "/codegen/bind", false, false},
		{"cmd/kgen", module, false, true},
		{"codegen", module, false, false},
		{"cmd/kgen", "example.org/new", false, false},
		{"models", "encoding/json", false, true},
	} {
		at := slices.IndexFunc(rules, func(r rule) bool { return matches(r.pkg, c.pkg) })
		reason := refusal(rules[at], goFile{pkg: c.pkg, test: c.test}, c.imported)
		if (reason == "") != c.allowed {
			t.Errorf("%s imports %s: refused for %q, want allowed = %t", c.pkg, c.imported, reason, c.allowed)
		}
	}
}
