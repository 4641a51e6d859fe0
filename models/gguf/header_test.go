package gguf

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func start(tensors, keys uint64) *writer { return (&writer{}).head(3, tensors, keys) }

// Files that are wrong in one way each, by the class and the field that the error must name. Offsets are those of the field at fault.
func TestStructure(t *testing.T) {
	for _, c := range []struct {
		what  string
		w     *writer
		class Class
		field string
		text  string // part of the message
	}{
		{"version 0", (&writer{}).head(0, 0, 0), ClassUnsupportedVersion, "version", "version 0"},
		{"version 1", (&writer{}).head(1, 0, 0), ClassUnsupportedVersion, "version", "version 1"},
		{"version 4", (&writer{}).head(4, 0, 0), ClassUnsupportedVersion, "version", "version 4"},
		{"big-endian", (&writer{}).head(3<<24, 0, 0), ClassUnsupportedVersion, "version", "big-endian file"},
		{"magic only", func() *writer { w := &writer{}; w.WriteString("GGUF"); return w }(), ClassUnexpectedEOF, "version", "4 bytes wanted, 0 left"},
		{"negative tensor count", start(1<<64-1, 0), ClassCountTooLarge, "tensor_count", "18446744073709551615"},
		{"negative key count", start(0, 1<<64-1), ClassCountTooLarge, "kv_count", "18446744073709551615"},
		{"more keys than bytes", start(0, 60000), ClassUnexpectedEOF, "key 0", ""},
		{"more tensors than bytes", start(60000, 0), ClassUnexpectedEOF, "tensor 0", ""},
		{"empty key", start(0, 1).key("", Uint8).u8(0), ClassStringLength, "key 0", "0 bytes"},
		{"long key", start(0, 1).key(strings.Repeat("k", 65536), Uint8).u8(0), ClassStringLength, "key 0", "65536"},
		{"key of 2^63 bytes", start(0, 1).u64(1 << 63), ClassStringLength, "key 0", "9223372036854775808"},
		{"key beyond the end", start(0, 1).u64(30).u64(0), ClassUnexpectedEOF, "key 0", "30 bytes wanted, 8 left"},
		{"string of 2^64-1 bytes", start(0, 1).key("k", String).u64(1<<64 - 1), ClassStringLength, "k", "18446744073709551615"},
		{"string beyond the end", start(0, 1).key("k", String).u64(9).u64(0), ClassUnexpectedEOF, "k", ""},
		{"value type 13", start(0, 1).key("k", 13).u64(0), ClassBadValueType, "k", "value type 13"},
		{"value type 2^32-1", start(0, 1).key("k", 1<<32-1).u64(0), ClassBadValueType, "k", ""},
		{"element type 13", start(0, 1).array("k", 13, 1).u64(0), ClassBadValueType, "k", ""},
		{"array of arrays", start(0, 1).array("k", Array, 1).u32(4).u64(0), ClassBadValueType, "k", "arrays of arrays"},
		{"array of 2^64-1", start(0, 1).array("k", Uint8, 1<<64-1), ClassCountTooLarge, "k", ""},
		{"array of 2^61 strings", start(0, 1).array("k", String, 1<<61), ClassCountTooLarge, "k", "2305843009213693952"},
		{"array whose bytes wrap", start(0, 1).array("k", Uint64, 1<<61+1), ClassCountTooLarge, "k", ""},
		{"array beyond the end", start(0, 1).array("k", Uint64, 2).u64(0), ClassUnexpectedEOF, "k", "16 bytes wanted, 8 left"},
		{"strings whose lengths alone are beyond the end", start(0, 1).array("k", String, 4).u64(0).u64(0).u64(0), ClassUnexpectedEOF, "k", "4 strings wanted, 24 bytes left"},
		{"strings beyond the end", start(0, 1).array("k", String, 2).text("a").text("b").cut(1), ClassUnexpectedEOF, "k", ""},
		{"string in array too long", start(0, 1).array("k", String, 2).text("a").u64(1 << 40), ClassStringLength, "k", ""},
		{"equal keys", start(0, 2).key("k", Uint8).u8(1).key("k", Uint8).u8(1), ClassDuplicateKey, "k", "twice"},
		{"different values of a key", start(0, 2).key("k", Uint8).u8(1).key("k", String).text("x"), ClassDuplicateKey, "k", "twice"},
		{"control characters in a key", start(0, 1).key("a\x1b[2J\n", 99), ClassBadValueType, `"a\x1b[2J\n"`, ""},
		{"alignment as u64", start(0, 1).key("general.alignment", Uint64).u64(32), ClassBadAlignment, "general.alignment", "u64"},
		{"alignment as string", start(0, 1).key("general.alignment", String).text("32"), ClassBadAlignment, "general.alignment", "string"},
		{"alignment as array", start(0, 1).array("general.alignment", Uint32, 1).u32(32), ClassBadAlignment, "general.alignment", "array"},
		{"split model", start(0, 1).key("split.count", Uint16).u16(3), ClassSplitFile, "split.count", "3 files, which"},
		{"second part of a model", start(0, 2).key("split.no", Uint16).u16(1).key("split.count", Uint16).u16(3), ClassSplitFile, "split.count", "3 files, of which this is number 2"},
		{"part beyond the parts", start(0, 2).key("split.no", Uint16).u16(3).key("split.count", Uint16).u16(3), ClassSplitFile, "split.count", "3 files, which"},
		{"split count as string", start(0, 1).key("split.count", String).text("3"), ClassWrongType, "split.count", ""},
		{"empty tensor name", start(1, 0).tensor("", 0, 0, 1).data(32, 4), ClassStringLength, "tensor 0", ""},
		{"tensor name of 65 bytes", start(1, 0).tensor(strings.Repeat("t", 65), 0, 0, 1).data(32, 4), ClassStringLength, "tensor 0", "65"},
		{"2^32-1 dimensions", start(1, 0).text("t").u32(1<<32 - 1), ClassBadNDims, "t", "4294967295"},
		{"dimension 2^63", start(1, 0).tensor("t", 0, 0, 1<<63), ClassDimsOverflow, "t", ""},
		{"dimensions 2^63 and 2", start(1, 0).tensor("t", 0, 0, 1<<63, 2), ClassDimsOverflow, "t", ""},
		{"dimensions 2^31 four times", start(1, 0).tensor("t", 0, 0, 1<<31, 1<<31, 1<<31, 1<<31), ClassDimsOverflow, "t", ""},
		{"overflow behind a 0", start(1, 0).tensor("t", 0, 0, 0, 1<<40, 1<<40), ClassDimsOverflow, "t", ""},
		{"large: bytes that wrap", start(1, 0).tensor("t", 0, 0, 1<<31, 1<<31), ClassDimsOverflow, "t", "size in bytes"},
		{"large: bytes that wrap to the 4 MiB there are", start(1, 0).tensor("t", 0, 0, 1<<42+1, 1<<20).data(32, 1<<22), ClassDimsOverflow, "t", "size in bytes"},
		{"large: sizes whose sum wraps", start(4, 0).tensor("a", 0, 0, 1<<60).tensor("b", 0, 1<<62, 1<<60).tensor("c", 0, 1<<63, 1<<60).tensor("d", 0, 3<<62, 1<<60), ClassTensorOutOfBounds, "c", ""},
		{"large: sizes whose sum wraps, at one offset", start(4, 0).tensor("a", 0, 0, 1<<60).tensor("b", 0, 0, 1<<60).tensor("c", 0, 0, 1<<60).tensor("d", 0, 0, 1<<60), ClassTensorOutOfBounds, "a", ""},
		{"offset aligned for another key", start(2, 1).key("general.alignment", Uint32).u32(64).tensor("a", 0, 0, 2).tensor("b", 0, 32, 2).data(64, 64), ClassTensorAlignment, "b", "multiple of the alignment, 64"},
		{"9 dimensions", start(1, 0).tensor("t", 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1), ClassBadNDims, "t", "9 dimensions"},
		{"10^6 dimensions", start(1, 0).text("t").u32(1e6), ClassBadNDims, "t", "1000000"},
		{"large: dimension 2^42+1", start(1, 0).tensor("t", 0, 0, 1<<42+1), ClassTensorOutOfBounds, "t", ""},
		{"partial block", start(1, 0).tensor("t", 8, 0, 48, 2).data(32, 200), ClassPartialBlock, "t", "48 columns"},
		{"scalar of blocks", start(1, 0).tensor("t", 2, 0).data(32, 200), ClassPartialBlock, "t", "1 columns"},
		{"offset 2^64-32", start(1, 0).tensor("t", 0, 1<<64-32, 1).data(32, 4), ClassTensorOutOfBounds, "t", "18446744073709551584"},
		{"offset 2^63-32", start(1, 0).tensor("t", 0, 1<<63-32, 1).data(32, 4), ClassTensorOutOfBounds, "t", ""},
		{"offset of an unknown type", start(1, 0).tensor("t", 99, 64, 1).data(32, 4), ClassTensorOutOfBounds, "t", ""},
		{"one byte short", start(1, 0).tensor("t", 0, 0, 2).data(32, 7), ClassTensorOutOfBounds, "t", "8 bytes wanted at offset 0, the file has 7"},
		{"no data", start(1, 0).tensor("t", 0, 0, 2), ClassTensorOutOfBounds, "t", "the file has 0"},
		{"offset 4", start(1, 0).tensor("t", 0, 4, 2).data(32, 32), ClassTensorAlignment, "t", "4 is no multiple"},
		{"two at one place", start(2, 0).tensor("a", 0, 0, 2).tensor("b", 0, 0, 1).data(32, 8), ClassTensorOverlap, "b", "that of a"},
		{"gap 2 bytes short", start(2, 0).tensor("b", 8, 32, 32).tensor("a", 8, 0, 32).data(32, 66), ClassTensorOverlap, "b", "that of a"},
		{"equal names", start(2, 0).tensor("a", 0, 0, 2).tensor("a", 0, 32, 1).data(32, 36), ClassDuplicateTensor, "a", "twice"},
	} {
		if strings.HasPrefix(c.what, "large: ") && math.MaxInt == math.MaxInt32 {
			c.class, c.text = ClassDimsOverflow, "" // the first dimensions alone are too much for a 32-bit host
			c.field = string(c.w.Bytes()[32:33])
		}
		var err error
		spent := allocated(func() { _, err = c.w.parse() })
		wantClass(t, c.what, err, c.class, c.field)
		if err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %q does not say %q", c.what, err, c.text)
		}
		if spent > 1<<20 {
			t.Errorf("%s: %d bytes allocated", c.what, spent)
		}
	}
}

func TestRemovedTypes(t *testing.T) {
	for typ, name := range map[uint32]string{
		4: "Q4_2", 5: "Q4_3", 31: "Q4_0_4_4", 32: "Q4_0_4_8", 33: "Q4_0_8_8", 36: "IQ4_NL_4_4", 37: "IQ4_NL_4_8", 38: "IQ4_NL_8_8",
	} {
		_, err := start(1, 0).tensor("t", typ, 0, 256).data(32, 400).parse()
		wantClass(t, "removed type", err, ClassBadTensorType, "t")
		if err != nil && !strings.Contains(err.Error(), "type "+name+" was removed") {
			t.Errorf("type %d: %v does not say %s", typ, err, name)
		}
	}
	for _, typ := range []uint32{43, 9999, 1<<32 - 1} {
		f, err := start(1, 0).tensor("t", typ, 0, 256).data(32, 400).parse()
		if err != nil {
			t.Fatalf("type %d: %v", typ, err)
		}
		_, err = f.Bytes("t")
		wantClass(t, "unknown type", err, ClassBadTensorType, "t")
	}
}

// One part of a split model may say that it is the only one.
func TestSplitInOne(t *testing.T) {
	if _, err := start(0, 1).key("split.count", Uint16).u16(1).parse(); err != nil {
		t.Error(err)
	}
}

// zeros is an endless file of zero bytes behind a head.
type zeros struct{ head []byte }

func (z zeros) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at < int64(len(z.head)) {
		copy(p, z.head[at:])
	}
	return len(p), nil
}

// A file of a pebibyte that takes nothing on disk does not take more memory than the limit on headers allows.
func TestHeaderLimit(t *testing.T) {
	for _, w := range []*writer{
		start(0, 1).array("k", String, maxElements),
		start(0, 1).array("k", Uint64, maxElements),
		start(0, 1).key("k", String).u64(1 << 49),
	} {
		var err error
		spent := allocated(func() { _, err = Parse(zeros{w.Bytes()}, 1<<50) })
		wantClass(t, "huge file", err, ClassCountTooLarge, "k")
		if spent > maxMemory {
			t.Errorf("%d bytes allocated", spent)
		}
	}
}

// The header is read in pieces; what a file says must not depend on where they end.
func TestReadInPieces(t *testing.T) {
	w := start(0, 1).array("k", String, 50000)
	for i := range 50000 {
		w.text(strings.Repeat("x", i%7))
	}
	f, err := w.parse()
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Strings("k")
	if err != nil || len(got) != 50000 {
		t.Fatal(len(got), err)
	}
	for i, s := range got {
		if len(s) != i%7 {
			t.Fatalf("string %d: %q", i, s)
		}
	}
}

func TestErrorUnwraps(t *testing.T) {
	err := error(&Error{Class: ClassRead, Field: "x", Offset: 3, Detail: "cannot be read", Err: io.ErrUnexpectedEOF})
	if !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != "gguf: x: cannot be read: unexpected EOF (at byte 3)" {
		t.Error(err)
	}
}
