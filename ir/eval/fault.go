package eval

import (
	"fmt"
	"runtime/debug"
)

// SourceError says that bytes of weights, which were there when the machine was made, are gone: they lie in a file that is
// mapped into memory, and another program has shortened it.
type SourceError struct{ Fault error }

// Error gives the fault.
func (e *SourceError) Error() string {
	return fmt.Sprintf("the weights can no longer be read, as their file was changed while in use: %v", e.Fault)
}

// Unwrap returns the fault.
func (e *SourceError) Unwrap() error { return e.Fault }

// guarded runs f, which reads weights, and makes a fault of memory an error. Unguarded, it would end the program.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface { // what package debug promises of faults at an address
			error
			Addr() uintptr
		}:
			err = &SourceError{fault}
		default:
			panic(fault)
		}
	}()
	return f()
}
