package gguf

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kgen-wgsl/kgen/models/quant"
)

func TestEmptyFileIsValid(t *testing.T) {
	for _, version := range []uint32{2, 3} {
		f, err := (&writer{}).head(version, 0, 0).parse()
		if err != nil || len(f.Entries()) != 0 || len(f.Tensors()) != 0 || f.Version != int(version) {
			t.Errorf("version %d: %+v, %v", version, f, err)
		}
	}
}

// hasTensors writes a file whose tensors have gaps and lie in another order than the table's.
func hasTensors() *writer {
	w := (&writer{}).head(3, 5, 1)
	w.key("general.alignment", Uint32).u32(64)
	w.tensor("b", 8, 128, 64, 2) // Q8_0: 4 blocks of 34 bytes
	w.tensor("a", 0, 0, 3)
	w.tensor("scalar", 0, 64)
	w.tensor("nothing", 0, 128, 0, 7)
	w.tensor("unknown", 43, 0, 32)
	return w.data(64, 264)
}

func TestTensors(t *testing.T) {
	w := hasTensors()
	f, err := w.parse()
	if err != nil {
		t.Fatal(err)
	}
	if f.Trailing != 0 {
		t.Errorf("%d trailing bytes", f.Trailing)
	}
	start := int64(w.Len() - 264)
	for i, want := range []struct {
		Tensor
		rows, columns int
	}{
		{Tensor{"b", quant.Q8_0, []int{64, 2}, start + 128, 136}, 2, 64},
		{Tensor{"a", quant.F32, []int{3}, start, 12}, 1, 3},
		{Tensor{"scalar", quant.F32, []int{}, start + 64, 4}, 1, 1},
		{Tensor{"nothing", quant.F32, []int{0, 7}, start + 128, 0}, 7, 0},
	} {
		got := &f.Tensors()[i]
		if got.Name != want.Name || got.Type != want.Type || len(got.Dims) != len(want.Dims) || got.Offset != want.Offset || got.Size != want.Size {
			t.Errorf("%+v, want %+v", *got, want.Tensor)
		}
		if got.Rows() != want.rows || got.Columns() != want.columns || got.Elements() != want.rows*want.columns {
			t.Errorf("%s: %d rows of %d", got.Name, got.Rows(), got.Columns())
		}
		data, err := f.Bytes(want.Name)
		if err != nil || !bytes.Equal(data, w.Bytes()[want.Offset:want.Offset+want.Size]) {
			t.Errorf("%s: %v, %v", want.Name, data, err)
		}
	}
	_, err = f.Tensor("absent")
	wantClass(t, "absent", err, ClassMissingTensor, "absent")
	if !IsMissing(err) {
		t.Error("IsMissing of a missing tensor is false")
	}
	_, err = f.Bytes("unknown")
	wantClass(t, "unknown", err, ClassBadTensorType, "unknown")
	wantClass(t, "unknown", f.ReadTensor("unknown", 0, nil), ClassBadTensorType, "unknown")
}

func TestReadTensor(t *testing.T) {
	w := hasTensors()
	f, err := w.parse()
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 34)
	if err := f.ReadTensor("b", 102, p); err != nil || p[0] != 128+102 || p[33] != byte(128+102+33-256) {
		t.Errorf("last block: %v, %v", p, err)
	}
	wantClass(t, "past the end", f.ReadTensor("b", 103, p), ClassBadRange, "b")
	wantClass(t, "before the start", f.ReadTensor("b", -1, p), ClassBadRange, "b")
	wantClass(t, "far past the end", f.ReadTensor("b", 1<<62, nil), ClassBadRange, "b")
	if err := f.ReadTensor("b", 136, nil); err != nil {
		t.Error(err)
	}
}

func TestTrailingBytes(t *testing.T) {
	for extra, want := range map[int]int64{0: 0, 20: 0, 24: 0, 25: 1, 1000: 976} {
		w := (&writer{}).head(3, 1, 0).tensor("a", 0, 0, 2).data(32, 8+extra)
		f, err := w.parse()
		if err != nil || f.Trailing != want {
			t.Errorf("%d extra: %d, %v, want %d", extra, f.Trailing, err, want)
		}
	}
}

func write(t *testing.T, w *writer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestClose(t *testing.T) {
	f, err := Open(write(t, hasTensors()))
	if err != nil {
		t.Fatal(err)
	}
	if f.backing.mapping == nil && runtime.GOOS != "js" {
		t.Error("the file is not mapped")
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if n, err := f.Int("general.alignment"); n != 64 || err != nil {
		t.Errorf("after Close: %d, %v", n, err)
	}
	_, err = f.Bytes("a")
	wantClass(t, "Bytes", err, ClassClosed, "a")
	wantClass(t, "ReadTensor", f.ReadTensor("a", 0, nil), ClassClosed, "a")
}

// A file that becomes shorter while open gives errors, not a fault.
func TestShortenedWhileOpen(t *testing.T) {
	w := hasTensors()
	path := write(t, w)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, int64(w.Len()-100)); err != nil {
		t.Skip(err) // Windows refuses to shorten a mapped file
	}
	_, err = f.Bytes("b")
	wantClass(t, "Bytes", err, ClassRead, "b")
	wantClass(t, "ReadTensor", f.ReadTensor("b", 0, make([]byte, 136)), ClassRead, "b")
	if _, err := f.Bytes("a"); err != nil {
		t.Error(err)
	}
}

func TestOpenFailures(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	dir := t.TempDir()
	_, err := Open(dir)
	wantClass(t, "folder", err, ClassRead, filepath.Base(dir))
}

// failing reads n bytes and then fails.
type failing struct {
	data []byte
	n    int64
}

var errDisk = errors.New("disk on fire")

func (r failing) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > r.n {
		return 0, errDisk
	}
	return bytes.NewReader(r.data).ReadAt(p, at)
}

func TestReadErrors(t *testing.T) {
	w := hasTensors()
	_, err := Parse(failing{w.Bytes(), 0}, int64(w.Len()))
	wantClass(t, "header", err, ClassRead, "header")
	if !errors.Is(err, errDisk) {
		t.Errorf("%v hides the cause", err)
	}
	// A size that promises more than there is must not pass for success.
	_, err = Parse(bytes.NewReader(w.Bytes()[:40]), int64(w.Len()))
	wantClass(t, "short file", err, ClassRead, "header")
	if !errors.Is(err, io.EOF) {
		t.Errorf("%v hides the cause", err)
	}
	if _, err := Parse(bytes.NewReader(nil), -5); err == nil {
		t.Error("negative size accepted")
	}
}
