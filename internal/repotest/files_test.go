package repotest

import (
	"bytes"
	"errors"
	"go/parser"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxFileBytes keeps clones small; larger test data is cut or fetched by set-up.
const maxFileBytes = 1 << 20

// forbidden texts have no place in any file of the repository. They are written in pieces, so that this file passes.
var forbidden = []struct {
	text *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`/(home|Users)` + `/[A-Za-z0-9_.]{2}`), "the path of one machine"}, // a name of one letter is anybody's
	{regexp.MustCompile(`/work` + `/[A-Za-z0-9_.]`), "the path of one machine"},
	{regexp.MustCompile(`(^|[^a-z])/root` + `/`), "the path of one machine"},
	{regexp.MustCompile(`(index` + `-url|--regis` + `try|GOPROXY` + `=)`), "the address of a package registry"},
	{regexp.MustCompile(`(pythonhosted|registry\.npmjs|proxy\.golang|static\.crates)` + `\.(org|io)`), "the host of a package registry"},
	{regexp.MustCompile(`@late` + `st`), "a version that changes under the reader"},
}

func TestTrackedFiles(t *testing.T) {
	for _, name := range trackedFiles(t) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if len(data) > maxFileBytes {
			t.Errorf("%s has %d bytes, more than %d", name, len(data), maxFileBytes)
		}
		if bytes.IndexByte(data, 0) >= 0 {
			continue // not text
		}
		for number, line := range strings.Split(string(data), "\n") {
			for _, f := range forbidden {
				if found := f.text.FindString(line); found != "" {
					t.Errorf("%s:%d: %q is %s", name, number+1, found, f.why)
				}
			}
		}
	}
}

// TestForbidden makes sure that the patterns match what they are for.
func TestForbidden(t *testing.T) {
	for _, text := range []string{
		"/home" + "/me/kgen", "/Users" + "/me", "/work" + "/x", "in /root" + "/.cache", "--index" + "-url x",
		"files.pythonhosted" + ".org", "go install x@late" + "st",
	} {
		matched := false
		for _, f := range forbidden {
			matched = matched || f.text.MatchString(text)
		}
		if !matched {
			t.Errorf("no pattern matches %q", text)
		}
	}
}

func TestEveryPackageIsDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, file := range goFiles(t, parser.ParseComments|parser.PackageClauseOnly) {
		if file.test {
			continue
		}
		ok := (path.Base(file.name) == "doc.go" || path.Base(file.name) == "doc_kgen.go") && isPackageComment(file)
		documented[file.pkg] = documented[file.pkg] || ok
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("%s has no doc.go with a package comment", pkg)
		}
	}
}

// isPackageComment says whether the file opens with a comment that names its package as go doc wants it.
func isPackageComment(file goFile) bool {
	text, name := file.syntax.Doc.Text(), file.syntax.Name.Name
	if name == "main" {
		return strings.HasPrefix(text, "Command ")
	}
	return strings.HasPrefix(text, "Package "+name+" ")
}
