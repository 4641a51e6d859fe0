package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are those that kgen is built for.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// module is one that is linked into the command.
type module struct {
	path, version string
	licences      []licence
}

// licence is a licence text of a module: at its top, or in the folder of a package that is linked.
type licence struct {
	dir  string // empty at the top
	text string
}

// goPackage is what go list tells of a package.
type goPackage struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// linkedModules lists them in order of their paths, after the standard library.
func linkedModules(root string) ([]module, error) {
	byPath := map[string]*module{}
	seen := map[string]bool{}
	for _, platform := range platforms {
		packages, err := dependencies(root, platform)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			if p.Module == nil || p.Module.Main {
				continue
			}
			m := byPath[p.Module.Path]
			if m == nil {
				m = &module{path: p.Module.Path, version: p.Module.Version}
				byPath[m.path] = m
			}
			below, err := filepath.Rel(p.Module.Dir, p.Dir)
			if err != nil {
				return nil, err
			}
			for _, dir := range upwards(filepath.ToSlash(below)) {
				if key := m.path + " " + dir; !seen[key] {
					seen[key] = true
					found, err := licencesIn(p.Module.Dir, dir)
					if err != nil {
						return nil, err
					}
					m.licences = append(m.licences, found...)
				}
			}
		}
	}
	// The standard library has no folder that is the same wherever Go came from. Its licence is that of golang.org/x.
	sys := byPath["golang.org/x/sys"]
	if sys == nil {
		return nil, errors.New("golang.org/x/sys isn't linked, which has the standard library's licence")
	}
	modules := []module{{path: "The Go standard library", licences: sys.licences}}
	for _, m := range byPath {
		if len(m.licences) == 0 {
			return nil, fmt.Errorf("%s has no licence file", m.path)
		}
		slices.SortFunc(m.licences, func(a, b licence) int { return cmp.Compare(a.dir, b.dir) })
		modules = append(modules, *m)
	}
	slices.SortFunc(modules[1:], func(a, b module) int { return cmp.Compare(a.path, b.path) })
	return modules, nil
}

// dependencies lists the packages that the command has on a platform.
func dependencies(root, platform string) ([]goPackage, error) {
	goos, goarch, _ := strings.Cut(platform, "/")
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module", "./cmd/kgen")
	list.Dir = root
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOOS="+goos, "GOARCH="+goarch)
	list.Stderr = os.Stderr
	pipe, err := list.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := list.Start(); err != nil {
		return nil, err
	}
	var packages []goPackage
	for decoder := json.NewDecoder(pipe); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, list.Wait())
		}
		packages = append(packages, p)
	}
	if err := list.Wait(); err != nil {
		return nil, fmt.Errorf("go list for %s: %w", platform, err)
	}
	return packages, nil
}

// upwards lists a folder and those above it, "" for the top.
func upwards(dir string) []string {
	list := []string{""}
	if dir == "." {
		return list
	}
	parts := strings.Split(dir, "/")
	for i := range parts {
		list = append(list, strings.Join(parts[:i+1], "/"))
	}
	return list
}

var licenceName = regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE)([-.][A-Za-z0-9.-]*)?$`)

// licencesIn reads the licence files of one folder of a module.
func licencesIn(root, dir string) ([]licence, error) {
	folder := filepath.Join(root, filepath.FromSlash(dir))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []licence
	for _, e := range entries {
		if e.IsDir() || !licenceName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		found = append(found, licence{dir, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))})
	}
	return found, nil
}
