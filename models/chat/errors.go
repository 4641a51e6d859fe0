package chat

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Class is the kind of an error.
type Class string

// The classes of errors. The first four arise in Compile, ClassUnsupported and the others in Render.
const (
	ClassTooLarge    Class = "too_large"   // the template's text is above the limit
	ClassSyntax      Class = "syntax"      // not a Jinja template
	ClassUnsupported Class = "unsupported" // a construct that this package refuses
	ClassRecursion   Class = "recursion"   // a macro that calls itself, directly or through others
	ClassMessage     Class = "message"     // a message or option that cannot be given to a template
	ClassRaised      Class = "raised"      // the template called raise_exception; Detail is its message
	ClassLimit       Class = "limit"       // rendering was stopped at a bound
	ClassRender      Class = "render"      // rendering failed
)

// Error is the error of this package.
type Error struct {
	Class  Class
	Line   int // of the template, from 1; 0 when unknown
	Detail string
}

// Error gives class, line and detail in one line.
func (e *Error) Error() string {
	where := ""
	if e.Line > 0 {
		where = " line " + strconv.Itoa(e.Line)
	}
	return "chat template" + where + ": " + string(e.Class) + ": " + e.Detail
}

func errorf(class Class, line int, format string, args ...any) *Error {
	return &Error{class, line, fmt.Sprintf(format, args...)}
}

// asError gives an error of the engine its class.
func asError(err error, class Class) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	detail := strings.TrimPrefix(err.Error(), "jinja parse: ")
	return &Error{Class: class, Detail: strings.TrimPrefix(detail, "line 1: ")}
}
