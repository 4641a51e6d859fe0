package wgsl

import (
	"fmt"
	"strconv"
)

// Error is a mistake in a piece of kernel text, or in a file.
type Error struct {
	Pos     Pos
	Text    string // the piece; empty when the mistake is in a file, or in no text
	Message string
	Outside bool // it may be WGSL, but not of the subset that Parse reads: textures, matrices, stages of rendering
}

func (e *Error) Error() string {
	if e.Text == "" {
		return e.Pos.String() + ": " + e.Message
	}
	return e.Pos.String() + ": " + e.Message + ", at column " + strconv.Itoa(e.Pos.Column) + " of " + strconv.Quote(e.Text)
}

func errorAt(p Pos, text, format string, args ...any) *Error {
	return &Error{Pos: p, Text: text, Message: fmt.Sprintf(format, args...)}
}
