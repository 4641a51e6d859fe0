package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// terminal is where a verb reads and writes.
type terminal struct {
	stdin          io.Reader
	stdout         *bufio.Writer // run flushes it at the end, and whoever streams in between
	stderr         io.Writer
	quiet, noColor bool
	outIsTerminal  bool
	json           bool
	findings       *[]modelFinding // what the simulator found, for the JSON of an error
}

// flags are what every verb accepts.
type flags struct {
	JSON    bool `help:"Print one JSON value."`
	Quiet   bool `short:"q" help:"Print nothing on stderr but errors."`
	NoColor bool `help:"Print no colours; NO_COLOR does the same."`
}

// apply tells the terminal what the flags say.
func (f flags) apply(t *terminal) {
	t.quiet, t.json = f.Quiet, f.JSON
	t.noColor = f.NoColor || os.Getenv("NO_COLOR") != "" || !isTerminal(t.stderr)
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// largestInput is more text than any context holds; devices and pipes may have no end.
const largestInput = 64 << 20

// readText reads a file that a flag names, or standard input for -.
func (t *terminal) readText(flag, path string) (string, error) {
	from := t.stdin
	if path == "-" {
		path = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return "", usagef("%s: %v", flag, err)
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, largestInput+1))
	switch {
	case err != nil:
		return "", usagef("%s: %v", flag, err)
	case len(text) > largestInput:
		return "", usagef("%s: %s has more than %d MiB", flag, path, largestInput>>20)
	}
	return string(text), nil
}

// note prints a line for people on stderr.
func (t *terminal) note(format string, args ...any) {
	if t.quiet {
		return
	}
	line := fmt.Sprintf(format, args...)
	if !t.noColor {
		line = "\x1b[2m" + line + "\x1b[0m"
	}
	fmt.Fprintln(t.stderr, line)
}

// fetchStage is the stage in which a file comes over the network, counted in bytes as weights are.
const fetchStage = "fetching"

// progress shows how loading gets on, and feeding a prompt: a bar with the time left on a terminal, nothing elsewhere. It appears only when a
// stage takes longer than a moment.
func (t *terminal) progress() func(kgenrt.Progress) {
	if t.quiet || !isTerminal(t.stderr) {
		return nil
	}
	const moment = 300 * time.Millisecond
	var bar *progressbar.ProgressBar
	last, began := kgenrt.Progress{}, time.Time{}
	return func(p kgenrt.Progress) {
		if p.Stage != last.Stage || p.Done <= last.Done { // another stage, or the next prompt
			began, bar = time.Now(), nil
		}
		last = p
		if bar == nil && time.Since(began) > moment && p.Done < p.Total {
			bar = progressbar.NewOptions64(p.Total, progressbar.OptionSetWriter(t.stderr),
				progressbar.OptionSetDescription(p.Stage), progressbar.OptionShowBytes(p.Stage == "weights" || p.Stage == fetchStage),
				progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
		}
		if bar != nil {
			bar.Set64(p.Done)
		}
	}
}
