package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/golang"
)

// packageDirs lists the folders of generated packages that arguments name.
func packageDirs(paths []string) ([]string, error) {
	var dirs []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return nil, usagef("%s is a file: audit takes the folders of generated packages", path)
		}
		root, below := strings.CutSuffix(filepath.ToSlash(path), "/...")
		if !below {
			dirs = append(dirs, path)
			continue
		}
		found, err := golang.Packages(root)
		if err != nil {
			return nil, usagef("look for packages below %s: %v", root, err)
		}
		if len(found) == 0 {
			return nil, usagef("below %s is no generated package", root)
		}
		dirs = append(dirs, found...)
	}
	return dirs, nil
}

// readPackage reads a generated package; a folder that is none is wrong usage.
func readPackage(dir string) (*golang.ReadPackage, error) {
	p, err := golang.Read(dir)
	if none := (*golang.NoPackageError)(nil); errors.As(err, &none) {
		return nil, usagef("%v", err)
	}
	if err != nil {
		return nil, plainError{fmt.Errorf("read the package %s: %w", dir, err)}
	}
	return p, nil
}
