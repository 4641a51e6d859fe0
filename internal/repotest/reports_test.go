package repotest

import (
	"go/ast"
	"go/parser"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	reportRow  = regexp.MustCompile(`(?m)^\| ([A-Z]\d\d) \| (.+) \| (.+) \| (.+) \|$`)
	reportTest = regexp.MustCompile("`([a-z0-9_/]+)\\.((?:Test|Fuzz|Benchmark|Example)[A-Za-z0-9]*)(?:/([a-z0-9_]+))?`")
)

// TestReports holds docs/reports.md to the tests that it names: each is there, and each report has one, or a reason why not yet.
func TestReports(t *testing.T) {
	text := readFile(t, "docs/reports.md")
	tests, parts := testNames(t)
	rows := reportRow.FindAllStringSubmatch(text, -1)
	if want := strings.Count(text, "\n| ") - 1; len(rows) != want || want < 30 {
		t.Errorf("%d rows of %d can be read", len(rows), want)
	}
	seen := map[string]bool{}
	for _, row := range rows {
		id, named := row[1], reportTest.FindAllStringSubmatch(row[4], -1)
		if seen[id] {
			t.Errorf("%s is there twice", id)
		}
		seen[id] = true
		if len(named) == 0 && !strings.HasPrefix(row[4], "not yet: ") {
			t.Errorf("%s has no test and no reason", id)
		}
		for _, code := range regexp.MustCompile("`[^`]+`").FindAllString(row[4], -1) {
			if strings.ContainsAny(code, ".") && !reportTest.MatchString(code) {
				t.Errorf("%s: %s is no name of a test", id, code)
			}
		}
		for _, name := range named {
			folder := name[1]
			if folder == "kgen" {
				folder = "."
			}
			if !tests[folder+"."+name[2]] {
				t.Errorf("%s names %s, which %s does not have", id, name[2], folder)
			} else if name[3] != "" && !parts[folder+"."+name[3]] {
				t.Errorf("%s names %s/%s: no test of %s has that part", id, name[2], name[3], folder)
			}
		}
	}
}

// testNames lists the tests of every package by folder and name, and what t.Run is given in so many words.
func testNames(t *testing.T) (tests, parts map[string]bool) {
	t.Helper()
	tests, parts = map[string]bool{}, map[string]bool{}
	for _, file := range goFiles(t, parser.SkipObjectResolution) {
		if !file.test {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					tests[file.pkg+"."+n.Name.Name] = true
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Run" && len(n.Args) == 2 {
					if literal, ok := n.Args[0].(*ast.BasicLit); ok {
						if name, err := strconv.Unquote(literal.Value); err == nil {
							parts[file.pkg+"."+strings.ReplaceAll(name, " ", "_")] = true
						}
					}
				}
			}
			return true
		})
	}
	return tests, parts
}
