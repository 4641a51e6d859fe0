package repotest

import (
	"go/ast"
	"go/parser"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestLicense(t *testing.T) {
	text := readFile(t, "LICENSE")
	for _, want := range []string{"Apache License", "Version 2.0, January 2004", "END OF TERMS AND CONDITIONS"} {
		if !strings.Contains(text, want) {
			t.Errorf("LICENSE lacks %q", want)
		}
	}
}

// TestModulesAreCredited wants every module of go.mod in the README, whose last section tells their licences.
func TestModulesAreCredited(t *testing.T) {
	readme := readFile(t, "README.md")
	required := regexp.MustCompile(`(?m)^\t([^ ]+/[^ ]+) v`).FindAllStringSubmatch(readFile(t, "go.mod"), -1)
	if len(required) == 0 {
		t.Error("go.mod requires nothing that this test can see")
	}
	for _, match := range required {
		name := path.Base(regexp.MustCompile(`/v[0-9]+$`).ReplaceAllString(match[1], ""))
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(readme) {
			t.Errorf("README names no licence of %s", match[1])
		}
	}
}

// TestReadmeShowsTheExample keeps the program in the README the one that is built and tested.
func TestReadmeShowsTheExample(t *testing.T) {
	if !strings.Contains(readFile(t, "README.md"), "```go\n"+readFile(t, "examples/chat/main.go")+"```\n") {
		t.Error("README doesn't show examples/chat/main.go as it is")
	}
}

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	codeBlock  = regexp.MustCompile("(?ms)^```(?:sh|console)\n(.*?)^```")
)

// TestDocumentedCommands holds every command of the documents against the Makefile and the verbs of the command.
func TestDocumentedCommands(t *testing.T) {
	var targets []string
	for _, match := range makeTarget.FindAllStringSubmatch(readFile(t, "Makefile"), -1) {
		targets = append(targets, match[1])
	}
	verbs := append(kgenVerbs(t), "help", "--help", "--version")
	commands := 0
	for _, name := range trackedFiles(t) {
		if !strings.HasSuffix(name, ".md") || strings.Contains(name, "testdata/") {
			continue
		}
		for _, block := range codeBlock.FindAllStringSubmatch(readFile(t, name), -1) {
			for line := range strings.Lines(block[1]) {
				commands++
				if reason := unknownCommand(line, targets, verbs); reason != "" {
					t.Errorf("%s: %q: %s", name, strings.TrimSpace(line), reason)
				}
			}
		}
	}
	if commands == 0 {
		t.Error("no document holds a command")
	}
}

// unknownCommand tells what is wrong with a line of a command block: a make target or a verb of kgen that isn't there.
func unknownCommand(line string, targets, verbs []string) string {
	words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:] // variables before the command
	}
	switch {
	case len(words) > 1 && words[0] == "make":
		for _, word := range words[1:] {
			if word == "#" {
				break
			}
			if !strings.Contains(word, "=") && !slices.Contains(targets, word) {
				return "the Makefile has no target " + word
			}
		}
	case len(words) > 3 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/kgen":
		if !slices.Contains(verbs, words[3]) {
			return "kgen has no verb " + words[3]
		}
	case len(words) > 1 && words[0] == "kgen":
		if !slices.Contains(verbs, words[1]) {
			return "kgen has no verb " + words[1]
		}
	}
	return ""
}

func TestUnknownCommand(t *testing.T) {
	targets, verbs := []string{"test", "demo"}, []string{"run"}
	for line, known := range map[string]bool{
		"make test":                            true,
		"$ make demo MODEL=x.gguf # with text": true,
		"make tset":                            false,
		"A=1 make tset":                        false,
		"kgen run x.gguf":                      true,
		"kgen rum x.gguf":                      false,
		"go run ./cmd/kgen run x.gguf":         true,
		"go run ./cmd/kgen rum x.gguf":         false,
		"output of make":                       true,
	} {
		if reason := unknownCommand(line, targets, verbs); (reason == "") != known {
			t.Errorf("%q: %q, want known = %t", line, reason, known)
		}
	}
}

// kgenVerbs reads the verbs off the command's source: the struct fields that kong takes as commands.
func kgenVerbs(t *testing.T) []string {
	t.Helper()
	var verbs []string
	for _, file := range goFiles(t, parser.SkipObjectResolution) {
		if file.pkg != "cmd/kgen" || file.test {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			field, ok := node.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
			if _, ok := tag.Lookup("cmd"); !ok {
				return true
			}
			if name := tag.Get("name"); name != "" {
				verbs = append(verbs, name)
				return true
			}
			for _, name := range field.Names {
				verbs = append(verbs, strings.ToLower(name.Name))
			}
			return true
		})
	}
	return verbs
}
