package golang

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// ManifestName is the file of a generated package that lists the others.
const ManifestName = "kgen.manifest"

// manifestHead is the first line of a manifest; the number is its format.
const manifestHead = "kgen manifest 1"

// manifest lists what the package was made from and the files, each line a kind, then a hash where there is one, then names.
func (g *generator) manifest(files Files) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, manifestHead)
	fmt.Fprintln(&b, "command", g.Command)
	for _, in := range g.Inputs {
		fmt.Fprintln(&b, "input", hash([]byte(in.Text)), in.Kind, in.Name)
	}
	for _, v := range g.Variants {
		fmt.Fprintln(&b, "variant", v.Name())
	}
	for _, name := range files.Names() {
		fmt.Fprintln(&b, "file", hash(files[name]), name)
	}
	return b.Bytes()
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ManifestError says that a manifest can't be trusted to tell which files are generated.
type ManifestError struct {
	Line   int
	Detail string
}

func (e *ManifestError) Error() string {
	return fmt.Sprintf("%s:%d: %s", ManifestName, e.Line, e.Detail)
}

// manifestFiles reads the files and their hashes from a manifest. It accepts only names that Generate gives to files: what a
// manifest lists may be removed.
func manifestFiles(data []byte) (map[string]string, error) {
	files := map[string]string{}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		kind, rest, _ := strings.Cut(line, " ")
		switch {
		case number == 1 && line != manifestHead:
			return nil, &ManifestError{1, fmt.Sprintf("it starts with %q, not with %q", line, manifestHead)}
		case number == 1 || kind != "file":
			continue
		}
		sum, name, _ := strings.Cut(rest, " ")
		if len(sum) != 2*sha256.Size || !isGenerated(name) {
			return nil, &ManifestError{number, fmt.Sprintf("%q is no hash and name of a generated file", rest)}
		}
		files[name] = sum
	}
	if number == 0 {
		return nil, &ManifestError{1, "it is empty"}
	}
	return files, nil
}

// manifestVariants reads the names of the variants from a manifest, in order.
func manifestVariants(data []byte) []string {
	var names []string
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "variant "); ok {
			names = append(names, name)
		}
	}
	return names
}

// isGenerated reports whether a name is one that Generate gives to files.
func isGenerated(name string) bool {
	if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name || strings.Contains(name, `\`) {
		return false
	}
	dir, base := path.Split(name)
	return dir == "" && (strings.HasSuffix(base, "_kgen.go") || base == ManifestName) ||
		dir == "kernels/" && strings.HasSuffix(base, ".wgsl")
}
