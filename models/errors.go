package models

import (
	"fmt"
	"strings"
)

// ArchitectureError says that no graph builder knows the architecture.
type ArchitectureError struct {
	Got       string
	Supported []string
}

// Error lists the supported architectures.
func (e *ArchitectureError) Error() string {
	return fmt.Sprintf("models: architecture %q is not supported; supported are %s", e.Got, strings.Join(e.Supported, ", "))
}

// KeyError says that a metadata key is absent or has a value the architecture cannot have.
type KeyError struct {
	Key, Want, Got string
}

// Error names the key with what was expected and found.
func (e *KeyError) Error() string {
	return fmt.Sprintf("models: key %s: want %s, got %s", e.Key, e.Want, e.Got)
}

// TensorError says that a tensor is absent, has another shape or type than the architecture needs, or does not belong.
type TensorError struct {
	Name, Want, Got string
}

// Error names the tensor with what was expected and found.
func (e *TensorError) Error() string {
	return fmt.Sprintf("models: tensor %s: want %s, got %s", e.Name, e.Want, e.Got)
}
