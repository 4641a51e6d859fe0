package judge

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// outputBytes is how much of what a command or a child prints is kept.
const outputBytes = 64 << 10

// Command is a compiler that is a command: one process judges one text.
type Command struct {
	name    string
	path    string
	version string
	args    []string
	naga    bool
	timeout time.Duration
}

// tools are the commands that judge WGSL.
var tools = []struct {
	name    string
	args    []string
	version string // the flag that prints it; tint has none
	naga    bool
	get     string
}{
	{name: "tint", args: []string{"--format", "wgsl"}, get: "it is built from https://dawn.googlesource.com/dawn: cmake with -DTINT_BUILD_CMD_TOOLS=ON, target tint_cmd_tint_cmd"},
	{name: "naga", version: "--version", naga: true, get: "cargo install naga-cli"},
}

// Commands looks for tint and naga on PATH. Each text may take a command as long as timeout.
func Commands(ctx context.Context, timeout time.Duration) (found []Validator, missing []Missing) {
	for _, tool := range tools {
		path, err := exec.LookPath(tool.name)
		if err != nil {
			why := "not on PATH"
			if !errors.Is(err, exec.ErrNotFound) {
				why = err.Error()
			}
			missing = append(missing, Missing{tool.name, why, tool.get})
			continue
		}
		c := &Command{name: tool.name, path: path, args: tool.args, naga: tool.naga, timeout: timeout}
		if tool.version != "" {
			c.version = c.askVersion(ctx, tool.version)
		}
		found = append(found, c)
	}
	return found, missing
}

// askVersion returns the last word of the one line that the command prints, "" if it prints anything else.
func (c *Command) askVersion(ctx context.Context, flag string) string {
	out, _, err := c.run(ctx, flag)
	words := strings.Fields(out)
	if err != nil || len(words) == 0 || strings.Count(strings.TrimSpace(out), "\n") > 0 {
		return ""
	}
	return printable(words[len(words)-1])
}

// Name is the command's name and version.
func (c *Command) Name() string { return strings.TrimSpace(c.name + " " + c.version) }

// Kind is "command".
func (c *Command) Kind() string { return "command" }

// Place is the command's path.
func (c *Command) Place() string { return c.path }

// Adapter is "": a command compiles for no device.
func (c *Command) Adapter() string { return "" }

// Judge runs the command for each text, on all cores.
func (c *Command) Judge(ctx context.Context, texts []Text, report func(int, Verdict)) error {
	dir, err := os.MkdirTemp("", "kgen-judge-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var taken, silent atomic.Int32
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(texts)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				at := int(taken.Add(1)) - 1
				if at >= len(texts) {
					return
				}
				v := givenUp()
				if silent.Load() < patience {
					v = c.one(ctx, filepath.Join(dir, strconv.Itoa(at)+".wgsl"), texts[at])
				}
				if v.Outcome == NoAnswer {
					silent.Add(1)
				}
				if ctx.Err() == nil {
					report(at, v)
				}
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// one judges a text by way of a file.
func (c *Command) one(ctx context.Context, file string, t Text) Verdict {
	text, mapped := dialect(t.WGSL, c.naga)
	v := Verdict{Outcome: Passed}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		v = Verdict{Outcome: NotJudged, Message: printable(err.Error())}
	} else if stdout, stderr, err := c.run(ctx, append(c.args[:len(c.args):len(c.args)], file)...); err != nil {
		v = c.failed(err, stdout, stderr)
		v.Message, v.Detail = strings.ReplaceAll(v.Message, file, t.Name), strings.ReplaceAll(v.Detail, file, t.Name)
	}
	v.Mapped = mapped
	return v
}

// run runs the command and returns what it prints.
func (c *Command) run(ctx context.Context, args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.WaitDelay = time.Second // what the command started may hold its pipes
	out, other := &capped{most: outputBytes}, &capped{most: outputBytes}
	cmd.Stdout, cmd.Stderr = out, other
	err = cmd.Run()
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = ctx.Err()
	}
	return string(out.kept), string(other.kept), err
}

// failed tells a refusal from a crash.
func (c *Command) failed(err error, stdout, stderr string) Verdict {
	if errors.Is(err, context.DeadlineExceeded) {
		return Verdict{Outcome: NoAnswer, Message: "it gave no answer within " + c.timeout.String()}
	}
	said := stderr
	if strings.TrimSpace(said) == "" {
		said = stdout
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && !crashed(exit.ExitCode()) {
		return refusal(said)
	}
	v := Verdict{Outcome: Ended, Message: "it crashed, " + err.Error(), Detail: strings.TrimSpace(said)}
	if line, _, _ := strings.Cut(v.Detail, "\n"); line != "" {
		v.Message += ": " + line
	}
	v.Message = printable(v.Message)
	return v
}

// crashed says whether an exit status is none that a compiler chose: -1 is a signal, 101 a panic of Rust, 126 to 192 what
// shells give for commands that can't run or were ended by a signal, and those of Windows are beyond 255. naga refuses with 255.
func crashed(status int) bool {
	return status == -1 || status == 101 || status >= 126 && status <= 192 || status > 255
}
