package judge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"runtime/debug"

	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
)

// What parent and child say to each other, one JSON value after the other.
type (
	// hello is what a child says first.
	hello struct {
		Name    string `json:"name,omitempty"`
		Adapter string `json:"adapter,omitempty"`
		Naga    bool   `json:"naga,omitempty"`
		// Error is why it can't judge; nothing follows.
		Error     string `json:"error,omitempty"`
		NoAdapter bool   `json:"no_adapter,omitempty"` // because there is no adapter
	}
	// question is a text to judge.
	question struct {
		Name   string       `json:"name"`
		WGSL   string       `json:"wgsl"`
		Kernel *plan.Kernel `json:"kernel,omitempty"` // without Text
	}
	// answer is what the library says of it. After the outcome Ended the child is of no more use.
	answer struct {
		Outcome Outcome `json:"outcome"`
		Said    string  `json:"said,omitempty"`
	}
	// candidate is a library that was found, or a file that can't be used as one.
	candidate struct {
		Path  string `json:"path"`
		Name  string `json:"name,omitempty"`
		Error string `json:"error,omitempty"`
	}
)

// Serve is the child process: with no library it lists those found, else it judges the texts that come in with the library at
// that path, until the input ends. Whatever the library does to the process, the parent goes on.
func Serve(ctx context.Context, library string, in io.Reader, out io.Writer) error {
	debug.SetTraceback("none") // when the library aborts, its own words count, not Go's stacks
	answers := json.NewEncoder(out)
	if library == "" {
		return answers.Encode(survey())
	}
	l, d, err := open(ctx, library)
	if err != nil {
		var fault *plan.DeviceError
		return answers.Encode(hello{Error: err.Error(), NoAdapter: errors.As(err, &fault) && fault.Fault == plan.NoAdapter})
	}
	defer l.Close()
	defer d.Close()
	device := d.Device()
	if err := answers.Encode(hello{Name: l.Name(), Adapter: device.Name, Naga: l.Naga()}); err != nil {
		return err
	}
	questions := json.NewDecoder(bufio.NewReader(in))
	for {
		var q question
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a := ask(d, device, q)
		if err := answers.Encode(a); err != nil || a.Outcome == Ended {
			return err
		}
	}
}

// survey lists the libraries that were found, and the files that are none.
func survey() []candidate {
	forced := os.Getenv("KGEN_WEBGPU_LIB") != ""
	list := []candidate{}
	for _, c := range webgpu.Survey(webgpu.Options{}) {
		if c.Library != nil {
			list = append(list, candidate{Path: c.Path, Name: c.Library.Name()})
			c.Library.Close()
		} else if _, err := os.Stat(c.Path); err == nil || forced || c.Path == "" {
			list = append(list, candidate{Path: c.Path, Error: c.Err.Error()})
		}
	}
	return list
}

// open opens the best adapter of a library that can be opened.
func open(ctx context.Context, library string) (*webgpu.Library, *webgpu.Device, error) {
	l, err := load(library)
	if err != nil {
		return nil, nil, err
	}
	adapters, err := l.Adapters()
	var d *webgpu.Device
	for _, a := range adapters {
		if d, err = a.OpenWhole(ctx); err == nil {
			return l, d, nil
		}
	}
	l.Close()
	return nil, nil, err
}

// load loads a library that survey listed: from its file, or for a bare name by way of the system's loader again.
func load(library string) (l *webgpu.Library, err error) {
	if _, missing := os.Stat(library); missing == nil {
		return webgpu.Find(webgpu.Options{Library: library})
	}
	err = errors.New("it is gone")
	for _, c := range webgpu.Survey(webgpu.Options{}) {
		switch {
		case l == nil && c.Library != nil && c.Path == library:
			l, err = c.Library, nil
		case c.Library != nil:
			c.Library.Close()
		}
	}
	return l, err
}

// ask has the library judge a text.
func ask(d *webgpu.Device, device plan.Device, q question) answer {
	if feature := lacks(device, q.WGSL); feature != "" {
		return answer{NotJudged, "the adapter " + device.Name + " lacks " + feature}
	}
	var err error
	if q.Kernel == nil {
		err = d.JudgeText(q.Name, q.WGSL)
	} else {
		k := *q.Kernel
		k.Text = q.WGSL
		err = d.JudgeKernel(&k, true)
	}
	var (
		refused *plan.KernelError
		limit   *plan.LimitError
		fault   *plan.DeviceError
	)
	switch {
	case err == nil:
		return answer{Outcome: Passed}
	case errors.As(err, &refused):
		return answer{Refused, refused.Detail}
	case errors.As(err, &limit):
		return answer{NotJudged, "the adapter " + device.Name + " has less than it needs: " + limit.Error()}
	case errors.As(err, &fault):
		return answer{Ended, fault.Error()}
	}
	return answer{Refused, err.Error()}
}

// lacks names a feature that a text needs and a device has not, "" if there is none. Only features that kgen opens devices with are
// known: a library refuses a text that needs another one.
func lacks(d plan.Device, text string) string {
	text = comments.ReplaceAllString(text, " ")
	switch {
	case !d.F16 && usesF16.MatchString(text):
		return "shader-f16"
	case !d.Subgroups && usesSubgroups.MatchString(text):
		return "subgroups"
	}
	return ""
}

// What a text uses. Block comments that are nested may leave a word too many; then a text is said not to be judged.
var (
	comments      = regexp.MustCompile(`//[^\n]*|(?s:/\*.*?\*/)`)
	usesF16       = regexp.MustCompile(`\benable\b[^;]*\bf16\b`)
	usesSubgroups = regexp.MustCompile(`\benable\b[^;]*\bsubgroups\b|\bsubgroup[A-Z]\w*\s*\(|\bsubgroup_(id|size|invocation_id)\b|\bnum_subgroups\b|\bquad(Broadcast|Swap[XYD]\w*)\s*\(`)
)
