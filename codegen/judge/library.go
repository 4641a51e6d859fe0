package judge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Library is a WebGPU library that judges in a child process.
type Library struct {
	path    string
	spawn   Spawn
	timeout time.Duration
	driver  []string // of the child's environment
	hello   hello
}

// Spawn makes the command that runs Serve for the library at a path, "" for the list of libraries. It isn't started.
type Spawn func(ctx context.Context, library string) *exec.Cmd

// known are the libraries that a complete judgement takes.
var known = []struct{ name, get string }{
	{"wgpu-native", "kgen lib install wgpu-native"},
	{"Dawn", "kgen lib install dawn"},
}

// Libraries looks for WebGPU libraries where runtime/webgpu does, and opens each in a child process to see whether it can
// judge here. Each text may take a library as long as timeout.
func Libraries(ctx context.Context, spawn Spawn, timeout time.Duration) (found []Validator, missing []Missing) {
	list, err := candidates(ctx, spawn, timeout)
	if err != nil {
		return nil, []Missing{{Name: "WebGPU libraries", Why: err.Error(), Get: "kgen doctor tells more"}}
	}
	seen := map[string]bool{}
	for _, c := range list {
		switch {
		case c.Error != "":
			missing = append(missing, Missing{Name: c.Path, Why: c.Error})
		case !seen[c.Name]:
			seen[c.Name] = true
			l := &Library{path: c.Path, spawn: spawn, timeout: timeout}
			if err := l.open(ctx); err != nil {
				missing = append(missing, Missing{Name: c.Name, Why: err.Error(), Get: "kgen doctor tells more"})
				continue
			}
			found = append(found, l)
		}
	}
	for _, k := range known {
		any := false
		for name := range seen {
			any = any || strings.HasPrefix(name, k.name+" ")
		}
		if any {
			continue
		}
		m := Missing{Name: k.name, Why: "no library of it was found", Get: k.get}
		if os.Getenv("KGEN_WEBGPU_LIB") != "" {
			m.Why, m.Get = "KGEN_WEBGPU_LIB names another library, and no other is used then", "unset it"
		}
		missing = append(missing, m)
	}
	return found, missing
}

func candidates(ctx context.Context, spawn Spawn, timeout time.Duration) ([]candidate, error) {
	c, err := startChild(spawn(ctx, ""), max(timeout, openTimeout))
	if err != nil {
		return nil, err
	}
	defer c.stop()
	var list []candidate
	return list, c.read(&list)
}

// Name is the library's name and version.
func (l *Library) Name() string { return l.hello.Name }

// Kind is "library".
func (l *Library) Kind() string { return "library" }

// Place is the library's file.
func (l *Library) Place() string { return l.path }

// Adapter is the name of the adapter that it compiles for.
func (l *Library) Adapter() string { return l.hello.Adapter }

// Judge asks one child for one text after the other, and takes a new child when one ended.
func (l *Library) Judge(ctx context.Context, texts []Text, report func(int, Verdict)) error {
	var c *child
	var failed error
	silent := 0
	for at, text := range texts {
		if c == nil && failed == nil && silent < patience {
			if c, failed = l.start(ctx); failed != nil && c != nil {
				c.stop()
				c = nil
			}
		}
		v := givenUp()
		switch {
		case silent >= patience:
		case failed != nil:
			v.Message = "the library could not be opened again: " + printable(failed.Error())
		default:
			v = l.one(c, text)
		}
		if v.Outcome == Ended || v.Outcome == NoAnswer {
			c.stop()
			c = nil
		}
		if v.Outcome == NoAnswer {
			silent++
		}
		if ctx.Err() != nil {
			break
		}
		_, v.Mapped = dialect(text.WGSL, l.hello.Naga)
		report(at, v)
	}
	if c != nil {
		c.stop()
	}
	return ctx.Err()
}

func (l *Library) one(c *child, text Text) Verdict {
	q := question{Name: text.Name, WGSL: text.WGSL}
	if text.Kernel != nil {
		k := *text.Kernel
		k.Text = ""
		q.Kernel = &k
	}
	c.errors.forget() // what it said before is about something else
	var a answer
	err := c.write(q)
	if err == nil {
		err = c.read(&a)
	}
	var silence silenceError
	switch {
	case errors.As(err, &silence):
		return Verdict{Outcome: NoAnswer, Message: err.Error()}
	case err != nil:
		return Verdict{Outcome: Ended, Message: printable(err.Error()), Detail: c.errors.text()}
	case a.Outcome == Refused:
		return refusal(a.Said)
	}
	return Verdict{Outcome: a.Outcome, Message: printable(a.Said), Detail: a.Said}
}

// open sees whether the library can judge: with the drivers that it finds, or else with SwiftShader if set-up has put it into
// the cache. Dawn takes no lavapipe before Mesa 23, for one.
func (l *Library) open(ctx context.Context) error {
	c, err := l.start(ctx)
	if c != nil && c.hello.NoAdapter {
		if l.driver = swiftShader(); l.driver != nil {
			c.stop()
			c, err = l.start(ctx)
		}
	}
	if c == nil {
		return err
	}
	defer c.stop()
	l.hello = c.hello
	return err
}

// swiftShader is what the environment has to say for Vulkan to take the driver in the cache, nil where it isn't there or the
// environment names drivers.
func swiftShader() []string {
	cache := os.Getenv("KGEN_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		cache = filepath.Join(user, "kgen")
	}
	file := filepath.Join(cache, "driver", "swiftshader", "vk_swiftshader_icd.json")
	if _, err := os.Stat(file); err != nil || os.Getenv("VK_DRIVER_FILES") != "" || os.Getenv("VK_ICD_FILENAMES") != "" {
		return nil
	}
	return []string{"VK_DRIVER_FILES=" + file, "VK_ICD_FILENAMES=" + file} // the second for loaders before 1.3.207
}

// start runs a child and waits until the library is open. It returns the child with the error when the library is there, but
// can't judge.
func (l *Library) start(ctx context.Context) (*child, error) {
	cmd := l.spawn(ctx, l.path)
	cmd.Env = append(cmd.Environ(), l.driver...)
	c, err := startChild(cmd, max(l.timeout, openTimeout))
	if err != nil {
		return nil, err
	}
	if err := c.read(&c.hello); err != nil {
		c.stop()
		return nil, err
	}
	c.timeout = l.timeout
	if c.hello.Error != "" {
		return c, errors.New(c.hello.Error)
	}
	return c, nil
}

// openTimeout is the least time that a library gets to open an adapter: drivers may be slow at that.
const openTimeout = 30 * time.Second

// child is a process that runs Serve.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	errors  *tail
	timeout time.Duration
	hello   hello
	ended   bool
}

func startChild(cmd *exec.Cmd, timeout time.Duration) (*child, error) {
	c := &child{cmd: cmd, errors: &tail{}, timeout: timeout}
	cmd.Stderr = c.errors
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, json.NewDecoder(bufio.NewReader(out))
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run a child process: %w", err)
	}
	return c, nil
}

// silenceError says that an answer did not come in time.
type silenceError time.Duration

func (e silenceError) Error() string { return "it gave no answer within " + time.Duration(e).String() }

// within does what a child may never finish; it is killed if it takes longer than the time-out. An answer that comes as it is killed
// is none: the next text would be held against a child that is gone.
func (c *child) within(f func() error) error {
	stopped := time.AfterFunc(c.timeout, func() { c.cmd.Process.Kill() })
	err := f()
	if !stopped.Stop() {
		return silenceError(c.timeout)
	}
	return err
}

// write asks.
func (c *child) write(q question) error {
	return c.explain(c.within(func() error { return json.NewEncoder(c.in).Encode(q) }))
}

// read reads what the child says next.
func (c *child) read(to any) error {
	return c.explain(c.within(func() error { return c.out.Decode(to) }))
}

// explain replaces an error in talking to the child by how the child ended.
func (c *child) explain(err error) error {
	var silence silenceError
	if err == nil || errors.As(err, &silence) {
		return err
	}
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	how := ""
	if errors.As(err, &syntax) || errors.As(err, &mistyped) {
		how = "it answered with what is no answer (" + err.Error() + ")"
	} else {
		c.within(func() error { c.ended = true; return c.cmd.Wait() }) // by itself
		how = "it crashed, " + c.cmd.ProcessState.String()
		if c.cmd.ProcessState.Success() {
			how = "it ended without an answer"
		}
	}
	c.stop()
	if said := c.errors.summary(); said != "" {
		how += ": " + said
	}
	return errors.New(how)
}

// stop ends the child.
func (c *child) stop() {
	if c.ended {
		return
	}
	c.ended = true
	c.in.Close()
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

// tail keeps what a child printed on stderr since it was last forgotten.
type tail struct {
	lock sync.Mutex
	kept capped
}

func (t *tail) Write(p []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.kept.most = outputBytes
	return t.kept.Write(p)
}

func (t *tail) forget() {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.kept.kept = nil
}

func (t *tail) text() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return strings.TrimSpace(string(t.kept.kept))
}

// summary is what the library said before it aborted, two lines, or the signal that Go reports: addresses follow it.
func (t *tail) summary() string {
	lines := strings.SplitN(t.text(), "\n", 3)
	if len(lines) < 2 || strings.HasPrefix(lines[0], "SIG") {
		return printable(lines[0])
	}
	return printable(lines[0] + " " + lines[1])
}
