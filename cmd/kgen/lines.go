package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// messageReader returns a function that reads the next message from standard input, with a line editor on a terminal, and
// one that leaves the terminal as it was. Messages end with io.EOF.
func messageReader(t *terminal) (read func() (string, error), restore func()) {
	line, restore := editedLines(t)
	if line == nil {
		line, restore = plainLines(t.stdin), func() {}
	}
	return func() (string, error) { return continued(line) }, restore
}

// continued reads lines up to the first that doesn't end in \.
func continued(line func() (string, error)) (string, error) {
	message := ""
	for {
		text, err := line()
		if err != nil && message != "" {
			return message, nil // the error comes again
		}
		rest, more := strings.CutSuffix(text, `\`)
		if message += rest; !more || err != nil {
			return message, err
		}
		message += "\n"
	}
}

// plainLines reads lines as they are. The last one needs no line feed.
func plainLines(r io.Reader) func() (string, error) {
	buffered := bufio.NewReader(r)
	return func() (string, error) {
		text, err := buffered.ReadString('\n')
		if text != "" && errors.Is(err, io.EOF) {
			err = nil
		}
		return strings.TrimRight(text, "\r\n"), err
	}
}

// editedLines reads lines with an editor that has a history, and takes what is pasted as one line. The function is nil without
// a terminal for input and messages. The terminal is in raw mode only while a line is read, so that Ctrl-C is a signal otherwise.
func editedLines(t *terminal) (line func() (string, error), restore func()) {
	in, ok := t.stdin.(*os.File)
	if !ok || !isTerminal(in) || !isTerminal(t.stderr) || os.Getenv("TERM") == "dumb" {
		return nil, nil
	}
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil, nil
	}
	editor := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, t.stderr}, "> ")
	line = func() (string, error) {
		if _, err := term.MakeRaw(fd); err != nil {
			return "", err
		}
		defer term.Restore(fd, before)
		if width, height, err := term.GetSize(fd); err == nil && width > 0 {
			editor.SetSize(width, height)
		}
		editor.SetBracketedPasteMode(true)
		text, err := pasted(editor)
		editor.SetBracketedPasteMode(false)
		if err != nil {
			io.WriteString(t.stderr, "\r\n") // what follows begins a line
		}
		return text, err
	}
	return line, func() { term.Restore(fd, before) }
}

// pasted reads a line, and with it the lines that were pasted before its end.
func pasted(editor *term.Terminal) (string, error) {
	text := ""
	for {
		line, err := editor.ReadLine()
		text += line
		if !errors.Is(err, term.ErrPasteIndicator) {
			return text, err
		}
		text += "\n"
	}
}
