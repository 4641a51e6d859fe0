package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// TestNoticesAreCurrent fails after a change of go.mod, or of the table of libraries, that the file doesn't show.
func TestNoticesAreCurrent(t *testing.T) {
	want, err := notices(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY_NOTICES.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("THIRD_PARTY_NOTICES.md is not current; run `make notices`")
	}
	for _, module := range []string{"github.com/ebitengine/purego", "golang.org/x/sys", "github.com/alecthomas/kong"} {
		if !bytes.Contains(got, []byte("### "+module+" v")) {
			t.Errorf("%s isn't in it, and is linked", module)
		}
	}
	for _, module := range []string{"pgregory.net/rapid", "github.com/google/go-cmp"} {
		if bytes.Contains(got, []byte(module)) {
			t.Errorf("%s is in it, and is for tests alone", module)
		}
	}
}

// TestLicencesIn takes licence files and no others.
func TestLicencesIn(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"LICENSE", "LICENSE-MIT", "License.txt", "NOTICE", "COPYING.LIB", "licence.go", "README.md", "LICENSES.md", "notices.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name+"\r\n\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := licencesIn(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range found {
		names = append(names, l.text)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "COPYING.LIB LICENSE LICENSE-MIT License.txt NOTICE" {
		t.Errorf("found %s", got)
	}
}

func TestUpwards(t *testing.T) {
	for dir, want := range map[string]string{".": "", "a": " a", "a/b/c": " a a/b a/b/c"} {
		if got := strings.Join(upwards(dir), " "); got != want {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
}

// TestSharedText writes one text for all modules that have it.
func TestSharedText(t *testing.T) {
	var out bytes.Buffer
	writeModules(&out, []module{
		{"a", "v1", []licence{{"", "MIT"}}}, {"b", "v2", []licence{{"", "BSD"}, {"inner", "MIT"}}},
	})
	text := out.String()
	for _, want := range []string{"\n### a v1\n### b v2, folder inner\n\n````text\nMIT\n````\n", "\n### b v2\n\n````text\nBSD\n````\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
}
