package golang

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/scanner"
	"os"
	"path/filepath"
	"strings"

	"github.com/dave/jennifer/jen"
)

// BrokenError says that a generated file is no valid Go. It holds the text, so that one can look at it.
type BrokenError struct {
	File string
	Line int
	Text []byte
	Err  error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s.broken:%d: %v", e.File, e.Line, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// Write puts the text beside the file that it should have become, as NAME.broken, and returns the path of that.
func (e *BrokenError) Write(dir string) (string, error) {
	path := filepath.Join(dir, e.File+".broken")
	return path, os.WriteFile(path, e.Text, 0o644)
}

// render prints and formats a file.
func render(name string, f *jen.File) ([]byte, error) {
	var raw bytes.Buffer
	if err := f.Render(&raw); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return formatted(name, groupImports(raw.Bytes()))
}

func formatted(name string, source []byte) ([]byte, error) {
	text, err := format.Source(source)
	if err == nil {
		return text, nil
	}
	broken := &BrokenError{File: name, Text: source, Err: err}
	if list := (scanner.ErrorList)(nil); errors.As(err, &list) && len(list) > 0 {
		broken.Line, broken.Err = list[0].Pos.Line, errors.New(list[0].Msg)
	}
	return nil, broken
}

// groupImports puts an empty line between the standard library and the rest, which jennifer doesn't.
func groupImports(source []byte) []byte {
	before, rest, found := strings.Cut(string(source), "\nimport (\n")
	block, after, closed := strings.Cut(rest, "\n)")
	if !found || !closed {
		return source
	}
	var standard, others []string
	for _, line := range strings.Split(block, "\n") {
		path, _, _ := strings.Cut(line[strings.IndexByte(line, '"')+1:], "/")
		if strings.Contains(path, ".") {
			others = append(others, line)
		} else {
			standard = append(standard, line)
		}
	}
	if len(standard) > 0 && len(others) > 0 {
		standard = append(standard, "")
	}
	return []byte(before + "\nimport (\n" + strings.Join(append(standard, others...), "\n") + "\n)" + after)
}
