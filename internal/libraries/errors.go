package libraries

import (
	"fmt"
	"strings"
)

// NoBuildError says that no build of a library is known for a platform, or none of the source that was asked for.
type NoBuildError struct {
	Library, OS, Arch string
	Source            string   // what was asked for
	Known             []string // sources that have one
}

func (e *NoBuildError) Error() string {
	what := fmt.Sprintf("no build of %s for %s/%s is known", e.Library, e.OS, e.Arch)
	if len(e.Known) == 0 {
		return what
	}
	return fmt.Sprintf("%s from %q; the sources are %s", what, e.Source, strings.Join(e.Known, " and "))
}

// MismatchError says that a file is another one than was pinned.
type MismatchError struct {
	File  string
	What  string // "SHA-256" or "size"
	Value string
	Want  []string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s has %s %s; pinned is %s", e.File, e.What, e.Value, strings.Join(e.Want, " or "))
}

// FetchError says what kept a source from being fetched.
type FetchError struct {
	Source string
	URL    string // without a password
	Err    error
}

func (e *FetchError) Error() string {
	return fmt.Sprintf("fetch %s from %s: %v", e.Source, e.URL, e.Err)
}

func (e *FetchError) Unwrap() error { return e.Err }

// ArchiveError says what is wrong with a wheel.
type ArchiveError struct {
	Archive string
	Err     error
}

func (e *ArchiveError) Error() string { return fmt.Sprintf("unpack %s: %v", e.Archive, e.Err) }

func (e *ArchiveError) Unwrap() error { return e.Err }

// CompilerError says that the stub of a library couldn't be compiled.
type CompilerError struct {
	Command string
	Output  string // what the compiler said
	Err     error
}

func (e *CompilerError) Error() string {
	text := fmt.Sprintf("compile the stub that opens the library: %s: %v", e.Command, e.Err)
	if e.Output != "" {
		text += "\n" + e.Output
	}
	return text + "\ninstall a C compiler and the headers of libc (Debian: apt install gcc libc6-dev), or set CC"
}

func (e *CompilerError) Unwrap() error { return e.Err }

// WriteError says that a library can't be written to its folder.
type WriteError struct {
	Folder string
	Err    error
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("write to %s: %v; KGEN_CACHE names another folder for what kgen keeps", e.Folder, e.Err)
}

func (e *WriteError) Unwrap() error { return e.Err }
