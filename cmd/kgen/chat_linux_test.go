package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// window is the command on a terminal of its own: what is written to it are keys.
type window struct {
	t       *testing.T
	cmd     *exec.Cmd
	control *os.File
	before  *term.State
	shown   []byte
}

func openWindow(t *testing.T, kind string, args ...string) *window {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close() })
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(int(control.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that a failure is not a test that hangs
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "kgen", args...) // testscript.Main puts it on PATH
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(os.Environ(), "TERM="+kind, "NO_COLOR=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen.Close() // so that reading from control ends when the command does
	return &window{t: t, cmd: cmd, control: control, before: before}
}

func (w *window) keys(s string) {
	w.t.Helper()
	if _, err := io.WriteString(w.control, s); err != nil {
		w.t.Fatal(err)
	}
}

// shows waits for a text behind those waited for before, and returns what comes up to its end.
func (w *window) shows(text string) string {
	w.t.Helper()
	buffer := make([]byte, 4096)
	for {
		if at := bytes.Index(w.shown, []byte(text)); at >= 0 {
			seen := string(w.shown[:at+len(text)])
			w.shown = w.shown[at+len(text):]
			return seen
		}
		n, err := w.control.Read(buffer)
		if err != nil {
			w.t.Fatalf("%v before %q, after %q", err, text, w.shown)
		}
		w.shown = append(w.shown, buffer[:n]...)
	}
}

func (w *window) ends() int {
	go io.Copy(io.Discard, w.control) // what is left to show must not block it
	w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}

const (
	ctrlA, ctrlC, ctrlD, backspace = "\x01", "\x03", "\x04", "\x7f"
	pasteBegin, pasteEnd           = "\x1b[200~", "\x1b[201~"
)

// The whole of it as somebody has it before them: lines are edited, an answer is stopped with Ctrl-C, text is pasted, and the
// terminal is afterwards as it was before.
func TestChatOnATerminal(t *testing.T) {
	for name, end := range map[string]string{"Ctrl-C": ctrlC, "Ctrl-D": ctrlD, "exit": "/exot" + backspace + backspace + "it\r"} {
		t.Run(name, func(t *testing.T) {
			w := openWindow(t, "xterm", exactly("chat", talkative(t), "--ctx", "16384", "--temp", "0", "--ignore-eos")...)
			w.shows("> ")
			w.keys("llo" + ctrlA + "he\r")
			w.shows("\r\n")
			w.shows(" ") // the answer has begun
			w.keys(ctrlC)
			w.shows("the prompt's 18 tokens") // what hello takes with its template
			w.shows("stopped")

			w.shows("> ")
			w.keys("/claer\r") // which changes nothing, not even the status
			w.shows("there is no command /claer")
			w.shows("> ")
			w.keys("/clear\r")
			w.shows("a new conversation begins")
			w.shows("> ")
			w.keys(pasteBegin + "hello\rhello" + pasteEnd + "\r")
			w.shows("hello\r\n> hello\r\n")
			w.shows(" ")
			w.keys(ctrlC)
			w.shows("the prompt's 22 tokens")
			w.shows("stopped")

			w.shows("> ")
			w.keys(end)
			if status := w.ends(); status != exitDone {
				t.Errorf("status %d", status)
			}
			if after, err := term.GetState(int(w.control.Fd())); err != nil || fmt.Sprint(after) != fmt.Sprint(w.before) {
				t.Errorf("the terminal is left in another state: %v, was %v, %v", after, w.before, err)
			}
		})
	}
}

// Where escapes mean nothing, lines are read as the terminal gives them.
func TestChatOnADumbTerminal(t *testing.T) {
	path, _ := tinyModel(t)
	w := openWindow(t, "dumb", exactly("chat", path, "--temp", "0", "--max-tokens", "2", "--ignore-eos")...)
	w.keys("hello\n")
	if seen := w.shows("tokens were fed"); strings.Contains(seen, "\x1b") {
		t.Errorf("%q", seen)
	}
	w.keys(ctrlD)
	if status := w.ends(); status != exitDone {
		t.Errorf("status %d", status)
	}
}
