package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// simFile is a file that gets what a binding holds after the run.
type simFile struct {
	path  string
	input int
	data  []byte
}

// outputFiles reads BINDING=PATH. That a file can't be written is said before the run, as far as it can be known.
func (b *simBindings) outputFiles(flags []string) ([]simFile, error) {
	var files []simFile
	for _, flag := range flags {
		binding, path, ok := strings.Cut(flag, "=")
		if !ok || binding == "" || path == "" {
			return nil, usagef("--out: %q is not of the form BINDING=PATH", flag)
		}
		at, err := b.find("--out "+flag, binding)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(files, func(f simFile) bool { return filepath.Clean(f.path) == filepath.Clean(path) }) {
			return nil, usagef("--out %s: %s is written already", flag, path)
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return nil, usagef("--out %s: %s is a folder", flag, path)
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return nil, usagef("--out %s: %s is no folder", flag, filepath.Dir(path))
		}
		files = append(files, simFile{path: path, input: at})
	}
	return files, nil
}

// writeFiles writes all files, or none where the folder of one of them takes no file. Data is nil where nothing was run.
func (s *simulation) writeFiles() error {
	staged := make([]string, len(s.files))
	defer func() {
		for _, name := range staged {
			os.Remove(name) // those that weren't renamed
		}
	}()
	for i, f := range s.files {
		if f.data == nil || special(f.path) {
			continue
		}
		t, err := os.CreateTemp(filepath.Dir(target(f.path)), ".kgen-*")
		if err != nil {
			return plainError{fmt.Errorf("--out: %w", err)}
		}
		staged[i] = t.Name()
		_, err = t.Write(f.data)
		if err = errors.Join(err, t.Chmod(0o644), t.Close()); err != nil {
			return plainError{fmt.Errorf("--out: %w", err)}
		}
	}
	for i, f := range s.files {
		var err error
		switch {
		case staged[i] != "":
			err = os.Rename(staged[i], target(f.path))
		case f.data != nil:
			err = os.WriteFile(f.path, f.data, 0o644)
		}
		if err != nil {
			return plainError{fmt.Errorf("--out: %w", err)}
		}
	}
	return nil
}

// special reports whether a path is a device or a pipe, which is written to and not replaced.
func special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// target follows links.
func target(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
