package gguf

import (
	"errors"
	"strconv"
)

// Class says what is wrong with a file, or with a question put to it.
type Class string

// Classes of errors in the file's structure, found at open.
const (
	ClassBadMagic           Class = "bad_magic"            // the first four bytes are not GGUF
	ClassUnsupportedVersion Class = "unsupported_version"  // neither version 2 nor 3, or big-endian
	ClassUnexpectedEOF      Class = "unexpected_eof"       // the file ends within the header
	ClassCountTooLarge      Class = "count_too_large"      // more keys, tensors, array elements or header bytes than any model has
	ClassStringLength       Class = "string_length"        // a string longer than the file or than its kind allows, or an empty name
	ClassBadValueType       Class = "bad_value_type"       // a value type that does not exist, or an array of arrays
	ClassDuplicateKey       Class = "duplicate_key"        // two keys of one name
	ClassBadAlignment       Class = "bad_alignment"        // general.alignment is no power of two of type u32
	ClassSplitFile          Class = "split_file"           // one part of a model that is split over files
	ClassBadNDims           Class = "bad_n_dims"           // more than four dimensions
	ClassDimsOverflow       Class = "dims_overflow"        // dimensions or bytes that overflow
	ClassBadTensorType      Class = "bad_tensor_type"      // a removed type; for a tensor in use: an unknown type
	ClassPartialBlock       Class = "partial_block"        // rows that are not whole blocks of their type
	ClassDuplicateTensor    Class = "duplicate_tensor"     // two tensors of one name
	ClassTensorAlignment    Class = "tensor_alignment"     // an offset that is no multiple of the alignment
	ClassTensorOutOfBounds  Class = "tensor_out_of_bounds" // data that reaches past the end of the file
	ClassTensorOverlap      Class = "tensor_overlap"       // two tensors share bytes
	ClassTextMangled        Class = "text_mangled"         // bytes of weights were replaced by EF BF BD
)

// Classes of errors in what the keys say, found by the accessors, by [CheckModel] and [CheckWeights].
const (
	ClassMissingKey        Class = "missing_key"        // no such key
	ClassWrongType         Class = "wrong_type"         // the key has a value of another kind
	ClassOutOfRange        Class = "out_of_range"       // a value that the wanted type cannot hold, or an id beyond the vocabulary
	ClassBadHyperparameter Class = "bad_hyperparameter" // a value no model can have
	ClassVocabMismatch     Class = "vocab_mismatch"     // vocabulary arrays and embedding rows that differ in number
	ClassDuplicateToken    Class = "duplicate_token"    // two tokens of one text
	ClassNaNWeight         Class = "nan_weight"         // a weight that is infinite or NaN, found by CheckWeights
)

// Classes of errors of use.
const (
	ClassMissingTensor Class = "missing_tensor" // no such tensor
	ClassBadRange      Class = "bad_range"      // a part of a tensor that is not within it
	ClassRead          Class = "read"           // the file cannot be read; Err has the cause
	ClassClosed        Class = "closed"         // the file was closed
)

// Error is the error of every function of this package. Open and Parse return no other, except that Open returns what the
// operating system says of a path that cannot be opened.
type Error struct {
	Class  Class
	Field  string // the key or tensor at fault, or the part of the header
	Offset int64  // where in the file, -1 when the error is of no one place
	Detail string // what was found and what was wanted
	Err    error  // the cause, for ClassRead
}

// Error puts the parts into one line.
func (e *Error) Error() string {
	text := "gguf: "
	if e.Field != "" {
		text += e.Field + ": "
	}
	text += e.Detail
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Offset >= 0 {
		text += " (at byte " + strconv.FormatInt(e.Offset, 10) + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsMissing reports whether err says that a key or a tensor is not in the file.
func IsMissing(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Class == ClassMissingKey || e.Class == ClassMissingTensor)
}

// printable quotes a name from a file when it holds anything but plain text, so that it can go to a terminal, and cuts
// names that no file in use has.
func printable(name string) string {
	const most = 200
	if len(name) > most {
		return printable(name[:most]) + "… " + strconv.Itoa(len(name)) + " bytes in all"
	}
	if quoted := strconv.QuoteToASCII(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
