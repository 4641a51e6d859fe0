package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kgen-wgsl/kgen/internal/libraries"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

type libVerb struct {
	Install libInstallVerb `cmd:"" help:"Fetch a WebGPU library into the cache, checked against pinned hashes."`
	List    libListVerb    `cmd:"" help:"Show where libraries are looked for, what is there, and what can be installed."`
}

type libInstallVerb struct {
	flags
	Library string `arg:"" optional:"" default:"wgpu-native" help:"wgpu-native (the default) or dawn."`
	From    string `placeholder:"FILE" help:"Take this wheel, fetched elsewhere, instead of asking the network."`
	Source  string `placeholder:"NAME" help:"Take this source alone; without it, the first that can be had."`
	Check   bool   `help:"Install nothing: say whether the library is there and right, by status 0 or 1."`
}

func (libInstallVerb) Help() string {
	return `The wheel comes from the Python package index that PIP_INDEX_URL names, or pypi.org; HTTPS_PROXY and SSL_CERT_FILE are heeded. One
library file is taken out of it; no Python is installed or run. What is there and right is left alone. dawn is for Linux, and takes a C
compiler: it builds a small library that opens Dawn without Python. Examples:

  kgen lib install
  kgen lib install dawn
  kgen lib install --from wgpu-0.32.0-py3-none-manylinux_2_28_x86_64.whl`
}

// libInstalled is what install prints.
type libInstalled struct {
	Library       string `json:"library"`
	Version       string `json:"version"`
	Source        string `json:"source"`
	SourceVersion string `json:"source_version"`
	Tried         string `json:"tried"`
	File          string `json:"file"`
	There         bool   `json:"there"` // it was there before
	Licence       string `json:"licence"`
	LicenceNote   string `json:"licence_note"`
}

func (v *libInstallVerb) Run(ctx context.Context, t *terminal) error {
	v.apply(t)
	library, err := libraries.Lookup(v.Library)
	if err != nil {
		return usagef("%v", err)
	}
	folder, err := libraryFolder()
	if err != nil {
		return plainError{err}
	}
	o := libraries.Options{
		Library: library, OS: runtime.GOOS, Arch: runtime.GOARCH, Source: v.Source, From: v.From, Folder: folder,
		Index: os.Getenv("PIP_INDEX_URL"), Log: func(s string) { t.note("%s", s) }, Progress: fetchProgress(t),
	}
	var done *libraries.Installed
	if v.Check {
		if done, err = libraries.Find(o); err == nil && done == nil {
			err = fmt.Errorf("%s is not in %s, or not as it should be", v.Library, folder)
		}
	} else {
		done, err = libraries.Install(ctx, o)
	}
	if none := (*libraries.NoBuildError)(nil); errors.As(err, &none) && len(none.Known) > 0 {
		return usagef("--source: %v", err)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return plainError{err}
	}
	return v.print(t, done)
}

func (v *libInstallVerb) print(t *terminal, done *libraries.Installed) error {
	library, source := done.Library, done.Build.Source
	if v.JSON {
		return t.printJSON(libInstalled{
			library.Name, source.Version, source.Name, source.Project, string(done.Build.Wheel.Tried), done.File, done.There, library.Licence, library.About,
		})
	}
	how := "installed"
	if done.There {
		how = "there already"
	}
	_, err := fmt.Fprintf(t.stdout, "%s %s, of %s %s (%s), %s: %s\nlicence: %s; %s\n",
		library.Name, source.Version, source.Name, source.Project, done.Build.Wheel.Tried, how, done.File, library.Licence, library.About)
	return err
}

// fetchProgress shows how a wheel comes in.
func fetchProgress(t *terminal) func(done, total int64) {
	show := t.progress()
	return func(done, total int64) {
		if show != nil {
			show(kgenrt.Progress{Stage: fetchStage, Done: done, Total: total})
		}
	}
}

// libraryFolder is where libraries are kept: lib in the cache.
func libraryFolder() (string, error) {
	cache := os.Getenv("KGEN_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder to keep libraries in: %w; KGEN_CACHE names one", err)
		}
		cache = filepath.Join(user, "kgen")
	}
	return filepath.Abs(filepath.Join(cache, "lib"))
}

type libListVerb struct {
	flags
}

func (libListVerb) Help() string {
	return `The places are in the order in which a library is looked for; the first that can be used is. With KGEN_WEBGPU_LIB that file is the only
place. Example:

  kgen lib list`
}

// libList is what list prints.
type libList struct {
	Places  []libPlace  `json:"places"`
	Sources []libSource `json:"sources"` // what this platform can install
}

// libPlace is a place where a library is looked for.
type libPlace struct {
	Path   string `json:"path"`
	Name   string `json:"library,omitempty"` // name and version of the one there
	Pinned bool   `json:"pinned"`            // its hash is one that kgen pins
	Status string `json:"status,omitempty"`  // what is known of the file
	SHA256 string `json:"sha256,omitempty"`
	Error  string `json:"error,omitempty"` // why there is none
	Chosen bool   `json:"chosen"`
}

// libSource is something to install.
type libSource struct {
	Library string `json:"library"`
	Version string `json:"version"`
	Source  string `json:"source"`
	Project string `json:"source_version"`
	Bytes   int64  `json:"bytes"`
	Tried   string `json:"tried"`
	Licence string `json:"licence"`
}

func (v *libListVerb) Run(t *terminal) error {
	v.apply(t)
	all := libraries.All()
	places, chosen := surveyLibraries(all, webgpu.Options{})
	if chosen != nil {
		defer chosen.Close()
	}
	list := libList{Places: places, Sources: []libSource{}}
	for _, l := range all {
		builds, _ := l.Builds(runtime.GOOS, runtime.GOARCH, "") // none is no entry
		for _, b := range builds {
			list.Sources = append(list.Sources, libSource{l.Name, b.Source.Version, b.Source.Name, b.Source.Project, b.Wheel.Bytes, string(b.Wheel.Tried), l.Licence})
		}
	}
	if v.JSON {
		return t.printJSON(list)
	}
	for _, p := range list.Places {
		p.print(t)
	}
	fmt.Fprintf(t.stdout, "\nto install on %s/%s, with kgen lib install LIBRARY --source SOURCE\n", runtime.GOOS, runtime.GOARCH)
	for _, s := range list.Sources {
		fmt.Fprintf(t.stdout, "  %-12s %-10s source %-10s %-9s %4.1f MB  %-15s %s\n", s.Library, s.Version, s.Source, s.Project, float64(s.Bytes)/1e6, s.Tried, s.Licence)
	}
	return nil
}

// surveyLibraries says of each place what is there, and returns the library that would be used, to be closed, or nil.
func surveyLibraries(all []libraries.Library, o webgpu.Options) ([]libPlace, *webgpu.Library) {
	var places []libPlace
	var chosen *webgpu.Library
	for _, c := range webgpu.Survey(o) {
		p := libPlace{Path: c.Path}
		if c.Err != nil {
			p.Error = strings.TrimPrefix(c.Err.Error(), c.Path+": ")
		}
		if c.Library != nil {
			p.Name, p.Chosen = c.Library.Name(), chosen == nil
			status := libraries.Inspect(all, c.Path)
			p.Pinned, p.Status, p.SHA256 = status.Pinned, status.Text, status.SHA256
			if filepath.Base(c.Path) == c.Path { // a plain name
				p.Status = "found by the system's loader, in a file that isn't known"
			}
			if p.Chosen {
				chosen = c.Library
			} else {
				c.Library.Close()
			}
		}
		places = append(places, p)
	}
	return places, chosen
}

func (p libPlace) print(t *terminal) {
	switch {
	case p.Path == "": // a build without the binding looks nowhere
		fmt.Fprintf(t.stdout, "  %s\n", p.Error)
	case p.Name == "":
		fmt.Fprintf(t.stdout, "  %s: %s\n", p.Path, p.Error)
	case p.Chosen:
		fmt.Fprintf(t.stdout, "* %s: %s, %s\n", p.Path, p.Name, p.hash())
	default:
		fmt.Fprintf(t.stdout, "  %s: %s, %s\n", p.Path, p.Name, p.hash())
	}
}

// hash says what is known of the file, with the start of its hash.
func (p libPlace) hash() string {
	if p.SHA256 == "" {
		return p.Status
	}
	return "sha256 " + p.SHA256[:8] + ", " + p.Status
}
