package golang

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Files are the files of a generated package by their names, with slashes.
type Files map[string][]byte

// Names returns the names in order.
func (f Files) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Difference is how a folder differs from the files that should be there, by name, each list in order.
type Difference struct {
	Missing []string // the folder lacks it
	Extra   []string // the folder has it by its manifest, and it is no longer made
	Changed []string // the folder has it with other contents
}

// Empty reports whether there is no difference.
func (d Difference) Empty() bool { return len(d.Missing)+len(d.Extra)+len(d.Changed) == 0 }

// Compare tells how a folder differs from f. A folder that is not there lacks everything.
func (f Files) Compare(dir string) (Difference, error) {
	var d Difference
	for _, name := range f.Names() {
		have, err := read(dir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			d.Missing = append(d.Missing, name)
		case err != nil:
			return d, err
		case !bytes.Equal(have, f[name]):
			d.Changed = append(d.Changed, name)
		}
	}
	known, err := known(dir)
	if err != nil {
		return d, err
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if _, ok := f[name]; ok {
			continue
		}
		if _, err := os.Lstat(at(dir, name)); err == nil {
			d.Extra = append(d.Extra, name)
		}
	}
	return d, nil
}

// Diff returns a unified diff from the folder's files to f, empty when there is no difference. A kernel that gets another name,
// as its text changed, is compared with the one that it replaces. The manifest, which has hashes alone, is left out unless
// nothing else differs.
func (f Files) Diff(dir string) (string, error) {
	d, err := f.Compare(dir)
	if err != nil {
		return "", err
	}
	renamed := d.renamed()
	names := slices.Concat(d.Missing, d.Extra, d.Changed)
	slices.Sort(names)
	if len(names) > 1 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == ManifestName })
	}
	var b strings.Builder
	for _, name := range names {
		if _, ok := renamed[name]; ok {
			continue // shown with what it became
		}
		from := name
		for old, now := range renamed {
			if now == name {
				from = old
			}
		}
		text, err := f.diffFile(dir, from, name)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// renamed pairs kernels that are gone with those that came: the only ones of their shape. It has the new names by the old ones.
func (d Difference) renamed() map[string]string {
	pairs := map[string]string{}
	shapes := func(names []string) map[string][]string {
		all := map[string][]string{}
		for _, name := range names {
			if strings.HasSuffix(name, ".wgsl") {
				shape, _ := splitHash(name)
				all[shape] = append(all[shape], name)
			}
		}
		return all
	}
	came := shapes(d.Missing)
	for shape, gone := range shapes(d.Extra) {
		if now := came[shape]; len(gone) == 1 && len(now) == 1 {
			pairs[gone[0]] = now[0]
		}
	}
	return pairs
}

// diffFile compares a file of the folder with one of f; either may be absent.
func (f Files) diffFile(dir, from, to string) (string, error) {
	u := difflib.UnifiedDiff{FromFile: "/dev/null", ToFile: "/dev/null", Context: 3}
	have, err := read(dir, from)
	switch {
	case err == nil:
		u.A, u.FromFile = splitLines(have), "a/"+from
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if now, ok := f[to]; ok {
		u.B, u.ToFile = splitLines(now), "b/"+to
	}
	return difflib.GetUnifiedDiffString(u)
}

// splitLines returns the lines with their ends. A last one without gets an end and a remark, as in other diffs.
func splitLines(text []byte) []string {
	lines := slices.Collect(strings.Lines(string(text)))
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n\\ No newline at end of file\n"
	}
	return lines
}

func at(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }

// read reads a file, which must be a regular one: another could block for ever.
func read(dir, name string) ([]byte, error) {
	info, err := os.Stat(at(dir, name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: at(dir, name), Err: errors.New("it is no regular file")}
	}
	return os.ReadFile(at(dir, name))
}

// known returns the generated files of a folder with their hashes, by its manifest; none when it has no manifest.
func known(dir string) (map[string]string, error) {
	data, err := read(dir, ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	files, err := manifestFiles(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return files, nil
}

// EditedError says that a file is no longer made, but was edited since it was, so that Commit doesn't remove it.
type EditedError struct{ Path string }

func (e *EditedError) Error() string {
	return e.Path + " is no longer made, and was edited since it was: keep your changes elsewhere and remove it"
}

// Commit makes the folder hold f: it writes what differs, and removes what its manifest lists and f has not. It returns the
// difference that there was. Contents go into files beside the final ones first, which then get their names one by one, the
// manifest last; nothing has changed when an error comes before that.
func (f Files) Commit(dir string) (Difference, error) {
	d, err := f.Check(dir)
	if err != nil || d.Empty() {
		return d, err
	}
	staged, err := f.stage(dir, slices.Concat(d.Missing, d.Changed))
	defer func() {
		for _, temporary := range staged {
			os.Remove(temporary) // gone already when it got its name
		}
	}()
	if err != nil {
		return d, err
	}
	for _, name := range slices.Sorted(maps.Keys(staged)) {
		if name == ManifestName {
			continue
		}
		if err := os.Rename(staged[name], at(dir, name)); err != nil {
			return d, err
		}
	}
	for _, name := range d.Extra {
		if err := os.Remove(at(dir, name)); err != nil {
			return d, err
		}
	}
	if temporary, ok := staged[ManifestName]; ok {
		return d, os.Rename(temporary, at(dir, ManifestName))
	}
	return d, nil
}

// Check is Commit without the writing: it returns the difference, and the error that would come before anything is written.
func (f Files) Check(dir string) (Difference, error) {
	d, err := f.Compare(dir)
	if err == nil {
		err = f.checkOwn(dir, d)
	}
	return d, err
}

// ForeignError says that a file that would be overwritten was not generated.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string {
	return e.Path + " is in the way and was not made by kgen: generate into another folder, or remove it"
}

// checkOwn refuses to overwrite files that were not generated, and to remove those that were edited. Generated files say so in
// the first line, kernels are known by the manifest.
func (f Files) checkOwn(dir string, d Difference) error {
	hashes, err := known(dir)
	if err != nil {
		return err
	}
	for _, name := range d.Changed {
		data, err := read(dir, name)
		if err != nil {
			return err
		}
		_, listed := hashes[name]
		if !listed && name != ManifestName && !bytes.HasPrefix(data, []byte("// Code generated by kgen ")) {
			return &ForeignError{at(dir, name)}
		}
	}
	for _, name := range d.Extra {
		data, err := read(dir, name)
		if err != nil {
			return err
		}
		if hash(data) != hashes[name] {
			return &EditedError{at(dir, name)}
		}
	}
	return nil
}

// stage writes files under temporary names in the folders where they will be, and returns these by their final names.
func (f Files) stage(dir string, names []string) (map[string]string, error) {
	staged := map[string]string{}
	for _, name := range names {
		folder := filepath.Dir(at(dir, name))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return staged, err
		}
		if info, err := os.Lstat(at(dir, name)); err == nil && info.IsDir() {
			return staged, &fs.PathError{Op: "write", Path: at(dir, name), Err: errors.New("it is a folder")}
		}
		t, err := os.CreateTemp(folder, ".kgen-*")
		if err != nil {
			return staged, err
		}
		staged[name] = t.Name()
		_, err = t.Write(f[name])
		if err = errors.Join(err, t.Chmod(0o644), t.Close()); err != nil {
			return staged, err
		}
	}
	return staged, nil
}
