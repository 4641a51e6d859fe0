//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/internal/oracle"
)

// talker is the command in a process of its own, which signals can reach.
type talker struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bufio.Reader
}

func startChat(t *testing.T, args ...string) *talker {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that a failure is not a test that hangs
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "kgen", args...) // testscript.Main puts it on PATH
	c := &talker{t: t, cmd: cmd}
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out, c.stderr = bufio.NewReader(out), bufio.NewReader(stderr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *talker) say(message string) { io.WriteString(c.in, message+"\n") }

func (c *talker) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// line reads up to the line that has the text, and returns that.
func (c *talker) line(r *bufio.Reader, text string) string {
	c.t.Helper()
	seen := ""
	for {
		line, err := r.ReadString('\n')
		if strings.Contains(line, text) {
			return line
		}
		if seen += line; err != nil {
			c.t.Fatalf("%v before %q, after\n%s", err, text, seen)
		}
	}
}

// ends waits for the command and returns its status.
func (c *talker) ends() int {
	io.Copy(io.Discard, c.out)
	io.Copy(io.Discard, c.stderr)
	c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

// talkative returns a model whose answers are thousands of tokens long, so that a signal after the first finds it talking.
func talkative(t *testing.T) string {
	t.Helper()
	data := oracle.Bytes(t, "llama-q4_1.gguf")
	key := []byte("llama.context_length\x04\x00\x00\x00") // and the type, u32
	at := bytes.Index(data, key)
	if at < 0 {
		t.Fatal("the model names no context length")
	}
	binary.LittleEndian.PutUint32(data[at+len(key):], 16384)
	path := filepath.Join(t.TempDir(), "talkative.gguf")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// An interrupt ends an answer and nothing else: the conversation goes on, with what there was of the answer.
func TestChatInterrupt(t *testing.T) {
	c := startChat(t, exactly("chat", talkative(t), "--ctx", "16384", "--temp", "0", "--ignore-eos")...)
	var fed []string
	for _, message := range []string{"hello", "and again"} {
		c.say(message)
		if _, err := c.out.ReadByte(); err != nil { // the answer has begun
			t.Fatal(err)
		}
		c.signal(os.Interrupt)
		fed = append(fed, c.line(c.stderr, "tokens were fed"))
		c.line(c.stderr, "stopped")
		if _, err := c.out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	var prompts [2]int
	for i, note := range fed {
		_, size, _ := strings.Cut(note, "the prompt's ")
		fmt.Sscan(size, &prompts[i])
	}
	if prompts[0] == 0 || prompts[1] < 2*prompts[0] { // each message takes as many as the first, with its template
		t.Errorf("the second answer knows nothing of the first: %q", fed)
	}
	c.in.Close()
	if status := c.ends(); status != exitDone {
		t.Errorf("status %d", status)
	}
}

// SIGTERM ends an answer and the program.
func TestChatTerminate(t *testing.T) {
	c := startChat(t, exactly("chat", talkative(t), "--ctx", "16384", "--temp", "0", "--ignore-eos")...)
	c.say("hello")
	if _, err := c.out.ReadByte(); err != nil {
		t.Fatal(err)
	}
	c.signal(syscall.SIGTERM)
	if status := c.ends(); status != exitFailure {
		t.Errorf("status %d", status)
	}
}
