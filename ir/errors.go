package ir

import (
	"errors"
	"fmt"
	"strings"
)

// Error is one mistake in a graph: where it is, which node or tensor has it, and what is wrong. Pos is known for graphs
// that came from text; graphs built in memory have Name only.
type Error struct {
	Pos  Pos
	Name string
	Msg  string
}

// Error prints "file:line:column: message", or "name: message" when the position is unknown.
func (e *Error) Error() string {
	switch {
	case e.Pos.Line != 0:
		return e.Pos.String() + ": " + e.Msg
	case e.Name != "":
		return e.Name + ": " + e.Msg
	}
	return e.Msg
}

// maxErrors is how many mistakes are reported at once; a broken line tends to make more of them than a reader wants.
const maxErrors = 10

// errorList collects mistakes.
type errorList struct{ list []error }

func (l *errorList) add(pos Pos, name, format string, args ...any) {
	if !l.full() {
		l.list = append(l.list, &Error{Pos: pos, Name: name, Msg: fmt.Sprintf(format, args...)})
	}
}

func (l *errorList) full() bool { return len(l.list) >= maxErrors }

// err returns what was collected, nil for nothing. Each *Error is found by errors.As.
func (l *errorList) err() error { return errors.Join(l.list...) }

// list prints names the way messages want them: "a, b or c".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
