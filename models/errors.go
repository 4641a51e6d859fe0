package models

import (
	"fmt"
	"strconv"
	"strings"
)

// ArchitectureError says that no graph builder knows the architecture.
type ArchitectureError struct {
	Got       string
	Supported []string
}

// Error lists the supported architectures.
func (e *ArchitectureError) Error() string {
	return fmt.Sprintf("models: architecture %s is not supported; supported are %s", quote(e.Got), strings.Join(e.Supported, ", "))
}

// UnsupportedError says that a file of a supported architecture holds something that no graph builder makes yet. The file
// itself may be right.
type UnsupportedError struct {
	Field     string // "key llama.rope.scaling.type", "tensor blk.2.nextn.eh_proj.weight"
	Got       string
	Supported string // what it may be instead
}

// Error names the key or tensor with what was found and what is supported.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("models: %s: %s is not supported; supported: %s", e.Field, e.Got, e.Supported)
}

// KeyError says that a metadata key is absent or has a value no model can have.
type KeyError struct {
	Key, Want, Got string
}

// Error names the key with what was expected and found.
func (e *KeyError) Error() string {
	return fmt.Sprintf("models: key %s: want %s, got %s", e.Key, e.Want, e.Got)
}

// TensorError says that a tensor is absent or has another shape or type than the architecture needs.
type TensorError struct {
	Name, Want, Got string
}

// Error names the tensor with what was expected and found.
func (e *TensorError) Error() string {
	return fmt.Sprintf("models: tensor %s: want %s, got %s", e.Name, e.Want, e.Got)
}

// quote makes text from a file fit for a message: in one line, and cut where no name in use is that long.
func quote(text string) string {
	const most = 100
	if len(text) > most {
		return strconv.QuoteToASCII(text[:most]) + fmt.Sprintf("… %d bytes in all", len(text))
	}
	return strconv.QuoteToASCII(text)
}
