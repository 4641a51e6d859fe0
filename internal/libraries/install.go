package libraries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options says what Install is to do.
type Options struct {
	Library  Library
	OS, Arch string // as Go calls them
	Source   string // the one source to use; empty means the best that can be had
	From     string // a wheel that is there already; nothing is fetched then
	Folder   string // holds a folder for each library
	Index    string // of Python packages; empty means DefaultIndex
	Log      func(message string)
	Progress func(done, total int64) // bytes of the wheel
}

// Installed is a library in its folder.
type Installed struct {
	Library Library
	Build   Build
	File    string // the file to open
	There   bool   // it was there, and right
}

// Find says which of a library's builds is in its folder, whole and right; with none it returns nil.
func Find(o Options) (*Installed, error) {
	builds, err := o.Library.Builds(o.OS, o.Arch, o.Source)
	if err != nil {
		return nil, err
	}
	return o.find(builds), nil
}

func (o *Options) find(builds []Build) *Installed {
	for _, b := range builds {
		dir := filepath.Join(o.Folder, o.Library.dir(b.Source))
		if err := o.Library.verify(dir, b.Wheel); err == nil {
			return &Installed{Library: o.Library, Build: b, File: filepath.Join(dir, o.Library.File(b.Wheel)), There: true}
		}
	}
	return nil
}

// Install puts a library into its folder. What is there and right is left alone; anything else is replaced as a whole, and
// only by what has the pinned hash. When a source fails the next is tried, unless one was named; the error tells of
// each.
func Install(ctx context.Context, o Options) (*Installed, error) {
	builds, err := o.Library.Builds(o.OS, o.Arch, o.Source)
	if err != nil {
		return nil, err
	}
	if o.From != "" {
		build, err := recognise(o.From, builds)
		if err != nil {
			return nil, err
		}
		builds = []Build{build}
	}
	if found := o.find(builds); found != nil {
		return found, nil
	}
	if o.Library.Stub != "" {
		if err := haveCompiler(); err != nil {
			return nil, err // before megabytes are fetched
		}
	}
	if err := os.MkdirAll(o.Folder, 0o777); err != nil {
		return nil, &WriteError{o.Folder, err}
	}
	removeStale(o.Folder)
	staged, err := os.MkdirTemp(o.Folder, stagingPattern)
	if err != nil {
		return nil, &WriteError{o.Folder, err}
	}
	defer os.RemoveAll(staged)

	if o.From != "" {
		return o.unpack(ctx, o.From, builds[0], staged)
	}
	var failures []error
	for _, build := range builds {
		wheel := filepath.Join(staged, "wheel")
		err := o.fetch(ctx, build, wheel)
		if err == nil {
			return o.unpack(ctx, wheel, build, staged)
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if failures = append(failures, err); len(failures) < len(builds) {
			o.Log(err.Error() + "; trying the next source")
		}
	}
	return nil, errors.Join(failures...)
}

const stagingPattern = ".install-*"

// removeStale removes what installs left that were killed, a day after.
func removeStale(folder string) {
	old, _ := filepath.Glob(filepath.Join(folder, stagingPattern))
	for _, dir := range old {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			os.RemoveAll(dir)
		}
	}
}

// fetch gets the wheel of a build, checked.
func (o *Options) fetch(ctx context.Context, b Build, wheel string) error {
	f := &fetcher{index: o.Index, client: http.DefaultClient, stall: time.Minute}
	if f.index == "" {
		f.index = DefaultIndex
	}
	o.Log(fmt.Sprintf("fetching %s %s (%.1f MB) from %s", b.Source.Name, b.Source.Project, float64(b.Wheel.Bytes)/1e6, redacted(f.index)))
	address, err := f.address(ctx, b.Source, b.Wheel)
	if err != nil {
		return err
	}
	file, err := os.Create(wheel)
	if err != nil {
		return &WriteError{o.Folder, err}
	}
	err = f.download(ctx, address, b.Source, b.Wheel, file, o.Progress)
	if e := file.Close(); err == nil && e != nil {
		err = &WriteError{o.Folder, e}
	}
	if err == nil {
		err = checkHash(wheel, b.Wheel.Name, b.Wheel.SHA256)
	}
	return err
}

// recognise finds the build that a wheel is, by its hash: its name may be anything.
func recognise(wheel string, builds []Build) (Build, error) {
	sum, err := hashFile(wheel)
	if err != nil {
		return Build{}, err
	}
	var want []string
	for _, b := range builds {
		if b.Wheel.SHA256 == sum {
			return b, nil
		}
		want = append(want, fmt.Sprintf("%s (%s)", b.Wheel.SHA256, b.Wheel.Name))
	}
	return Build{}, &MismatchError{File: wheel, What: "SHA-256", Value: sum, Want: want}
}

// unpack makes the library's folder out of a wheel that was checked.
func (o *Options) unpack(ctx context.Context, wheel string, b Build, staged string) (*Installed, error) {
	name := o.Library.dir(b.Source)
	made := filepath.Join(staged, name)
	if err := os.Mkdir(made, 0o777); err != nil {
		return nil, &WriteError{o.Folder, err}
	}
	if err := unpackWheel(ctx, wheel, b, made); err != nil {
		return nil, err
	}
	if o.Library.Stub != "" {
		if err := compile(ctx, o.Library.Stub, b.Source.Version, made); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	final := filepath.Join(o.Folder, name)
	if err := replace(made, final, staged); err != nil {
		return nil, &WriteError{o.Folder, err}
	}
	return &Installed{Library: o.Library, Build: b, File: filepath.Join(final, o.Library.File(b.Wheel))}, nil
}

// replace renames a folder to its final name. What has that name goes to the staging folder, and back if that fails.
func replace(made, final, staged string) error {
	if err := syncDir(made); err != nil {
		return err
	}
	old := filepath.Join(staged, "old")
	err := os.Rename(final, old)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	there := err == nil
	if err := os.Rename(made, final); err != nil {
		if there {
			err = errors.Join(err, os.Rename(old, final))
		}
		return err
	}
	return syncDir(filepath.Dir(final))
}

// verify says why a folder doesn't hold a build, whole and right.
func (l Library) verify(dir string, w Wheel) error {
	err := checkHash(filepath.Join(dir, w.As), w.As, w.Member.SHA256)
	if err == nil && l.Stub != "" {
		err = checkStub(dir, l.Stub)
	}
	return err
}

// Status says what is known of a library file.
type Status struct {
	Pinned bool   // it is, byte for byte, a build of the table
	Text   string // which build, or what is known instead
	SHA256 string // of the file that was compared; empty when it couldn't be read
}

// Inspect compares a library file with the table.
func Inspect(all []Library, file string) Status {
	for _, l := range all { // what a stub opens lies beside it
		if l.Stub == "" || filepath.Base(file) != stubName {
			continue
		}
		inner := l.Sources[0].Wheels[0].As
		sum, err := hashFile(filepath.Join(filepath.Dir(file), inner))
		if err != nil {
			return Status{Text: err.Error()}
		}
		_, build, known := byHash(all, sum)
		if !known {
			return Status{Text: inner + " beside it is no build that kgen pins", SHA256: sum}
		}
		if err := checkStub(filepath.Dir(file), l.Stub); err != nil {
			return Status{Text: err.Error(), SHA256: sum}
		}
		return Status{Pinned: true, Text: build.text(), SHA256: sum}
	}
	sum, err := hashFile(file)
	if err != nil {
		return Status{Text: strings.TrimPrefix(err.Error(), "open "+file+": ")}
	}
	if _, build, known := byHash(all, sum); known {
		return Status{Pinned: true, Text: build.text(), SHA256: sum}
	}
	return Status{Text: "no build that kgen pins", SHA256: sum}
}

// text says which build it is and how far it was tried.
func (b Build) text() string {
	return fmt.Sprintf("as pinned, of %s %s for %s/%s (%s)", b.Source.Name, b.Source.Project, b.Wheel.OS, b.Wheel.Arch, b.Wheel.Tried)
}

// reader ends with the context.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
