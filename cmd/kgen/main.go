package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/kgen-wgsl/kgen"
	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// The exit statuses.
const (
	exitDone    = 0
	exitFailure = 1
	exitUsage   = 2
)

// verbs is the command line.
type verbs struct {
	Run      runVerb      `cmd:"" help:"Generate text from a prompt."`
	Chat     chatVerb     `cmd:"" help:"Hold a conversation in a terminal."`
	Logits   logitsVerb   `cmd:"" help:"Print the logits after the last token, or after every one."`
	Score    scoreVerb    `cmd:"" help:"Print how likely a text is."`
	Tokenize tokenizeVerb `cmd:"" help:"Turn text into token ids, or ids into text."`
	Inspect  inspectVerb  `cmd:"" help:"Show a model's header, tensors, graph, kernels and plan."`
	Gen      genVerb      `cmd:"" help:"Generate a Go package for a model: kernels, and the code that dispatches them."`
	Diff     diffVerb     `cmd:"" help:"Show what gen would change."`
	Audit    auditVerb    `cmd:"" help:"Hold the kernels of packages, and the WGSL in any file, to the limits of device profiles."`
	Vet      vetVerb      `cmd:"" help:"Have every WGSL compiler found judge the kernels of packages, or .wgsl files."`
	Sim      simVerb      `cmd:"" help:"Run a kernel without a GPU, and say what is wrong with it."`
	Models   modelsVerb   `cmd:"" help:"List the models that are known without a file."`
	Lib      libVerb      `cmd:"" help:"Install and list WebGPU libraries."`
	Doctor   doctorVerb   `cmd:"" help:"Say what works on this machine, and what to do about what doesn't."`
	Help     helpVerb     `cmd:"" help:"Explain a verb, with an example."`
	Version  versionVerb  `cmd:"" help:"Print the version."`

	VetLibrary vetLibraryVerb `cmd:"" hidden:""`
}

func main() {
	quietDriver()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what the first can't: a read that waits, a call of a driver
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// quietDriver keeps Mesa's device-select layer out of the way where it can't work: without a runtime folder it prints an
// error for every instance. Whoever selects a device through it keeps it.
func quietDriver() {
	if os.Getenv("XDG_RUNTIME_DIR") == "" && os.Getenv("MESA_VK_DEVICE_SELECT") == "" {
		os.Setenv("NODEVICE_SELECT", "1")
	}
}

// run is the whole program: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "help" {
		args = helpArgs(args[1:])
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	var v verbs
	exited := -1
	parser, err := kong.New(&v, kong.Name("kgen"),
		kong.Description("Language models as specialised WGSL kernels, run on WebGPU.\n\nMODEL is a GGUF file."),
		kong.Writers(stdout, stderr), kong.Exit(func(status int) { exited = status; panic(helpShown{}) }),
		kong.Vars{"profiles": profileNames()}, kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(stderr, "kgen:", err)
		return exitUsage
	}
	command, err := parse(parser, args)
	switch {
	case exited >= 0:
		return exited
	case err != nil:
		fmt.Fprintf(stderr, "kgen: %v\n      `kgen help` lists the verbs, `kgen help VERB` the flags of one\n", err)
		return exitUsage
	}
	out := bufio.NewWriter(stdout)
	t := &terminal{stdin: stdin, stdout: out, stderr: stderr, outIsTerminal: isTerminal(stdout)}
	command.BindTo(ctx, (*context.Context)(nil))
	err = command.Run(t)
	if e := out.Flush(); err == nil && e != nil {
		err = plainError{fmt.Errorf("write the output: %w", e)}
	}
	status := report(err, t)
	out.Flush() // the JSON of an error; nothing can be said if it fails
	return status
}

type helpShown struct{}

// parse returns nil and no error when help was printed.
func parse(parser *kong.Kong, args []string) (command *kong.Context, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(helpShown); !ok {
				panic(r)
			}
		}
	}()
	return parser.Parse(args)
}

// helpArgs turns "help VERB" into the verb's own help.
func helpArgs(verb []string) []string { return append(append([]string{}, verb...), "--help") }

// report prints an error as the caller wants it and returns the exit status.
func report(err error, t *terminal) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, errReported) {
		return exitFailure
	}
	var usage usageError
	if errors.As(err, &usage) {
		err = &kgenrt.Error{Code: kgenrt.BadRequest, Message: string(usage)}
	}
	var plain plainError
	if errors.As(err, &plain) {
		if t.json {
			t.printJSON(map[string]any{"error": map[string]string{"message": plain.Error()}})
		}
		fmt.Fprintln(t.stderr, "kgen:", plain.Error())
		return exitFailure
	}
	coded := kgen.AsError("the command failed", err)
	var e *kgenrt.Error
	if !errors.As(coded, &e) {
		fmt.Fprintln(t.stderr, "kgen:", err)
		return exitFailure
	}
	info := e.Code.Info()
	if t.json {
		object := map[string]any{"error": map[string]string{
			"code": string(e.Code), "message": e.Message, "cause": info.Cause, "fix": info.Fix, "detail": e.Detail(),
		}}
		if t.findings != nil {
			object["findings"] = t.findings
		}
		t.printJSON(object)
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(t.stderr, "kgen: interrupted")
		return exitFailure
	}
	fmt.Fprintf(t.stderr, "kgen: %v\n", coded)
	switch e.Code {
	case kgenrt.BadRequest:
		return exitUsage
	case kgenrt.Aborted:
		return exitFailure
	}
	fmt.Fprintf(t.stderr, "      %s: %s\n", e.Code, info.Fix)
	return exitFailure
}

// errReported is a failure that has been reported already.
var errReported = errors.New("reported")

// plainError is a failure whose message says what to do: it is about files, not about models.
type plainError struct{ error }

// usageError is a mistake in the command line that the parser cannot see.
type usageError string

func (e usageError) Error() string { return string(e) }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// helpVerb is here for the list of verbs; run handles it before parsing.
type helpVerb struct {
	Verb string `arg:"" optional:"" help:"The verb to explain."`
}

func (helpVerb) Run() error { return nil }

type versionVerb struct{}

func (versionVerb) Run(t *terminal) error {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				version += " " + s.Value[:min(12, len(s.Value))]
			}
		}
	}
	_, err := fmt.Fprintln(t.stdout, "kgen", version)
	return err
}

// printJSON prints one value on stdout.
func (t *terminal) printJSON(v any) error {
	e := json.NewEncoder(t.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// parseIDs reads token ids separated by commas.
func parseIDs(s string) ([]uint32, error) {
	var ids []uint32
	for _, field := range strings.Split(s, ",") {
		id, err := strconv.ParseUint(strings.TrimSpace(field), 10, 32)
		if err != nil {
			return nil, usagef("--ids: %q is not a token id", field)
		}
		ids = append(ids, uint32(id))
	}
	return ids, nil
}
