package sim_test

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/internal/randomwgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// FuzzRun changes programs and runs what still parses on small buffers: nothing panics, takes memory without bound, or goes on after
// its context ended. An edit is three bytes: what to do, where, and from where.
func FuzzRun(f *testing.F) {
	for _, text := range seedPrograms(f) {
		f.Add(text, []byte{})
		f.Add(text, []byte{0, 80, 20, 1, 120, 160, 2, 200, 0})
	}
	f.Fuzz(func(t *testing.T, text string, edits []byte) {
		if len(text) > 1<<14 {
			return
		}
		text = edited(text, edits)
		file, err := wgsl.Parse("fuzz.wgsl", text)
		if err != nil {
			return
		}
		runBriefly(t, file, text)
	})
}

// seedPrograms returns the programs that every compiler takes, of the verdicts and of the generator.
func seedPrograms(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "wgsl", "testdata", "verdicts", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no verdicts: %v", err)
	}
	var texts []string
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range archive.Files {
			if strings.HasPrefix(a.Name, "both/") {
				texts = append(texts, string(a.Data))
			}
		}
	}
	for seed := range uint64(10) {
		texts = append(texts, randomwgsl.New(seed, randomwgsl.Options{Subgroup: 8, F16: true}).Text)
	}
	return texts
}

var tokens = regexp.MustCompile(`\w+|\s+|//[^\n]*|[^\w\s]`)

// edited returns a text in which tokens were replaced by others of the text, put in front of others, or left out.
func edited(text string, edits []byte) string {
	list := tokens.FindAllString(text, -1)
	for ; len(edits) >= 3 && len(list) > 0; edits = edits[3:] {
		at, from := int(edits[1])*len(list)/256, int(edits[2])*len(list)/256
		switch edits[0] % 4 {
		case 0:
			list[at] = list[from]
		case 1:
			list[at], list[from] = list[from], list[at]
		case 2:
			list[at] = ""
		case 3:
			list[at] = list[from] + list[at]
		}
	}
	return strings.Join(list, "")
}

const (
	fuzzBytes = 512 << 20 // what one input may allocate
	fuzzTime  = 200 * time.Millisecond
)

func runBriefly(t *testing.T, file *wgsl.File, text string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	program, err := sim.Compile(file, "")
	if err != nil {
		var place *wgsl.Error
		var kernel *plan.KernelError
		if !errors.As(err, &place) && !errors.As(err, &kernel) {
			t.Fatalf("%q: an error of another type: %v", text, err)
		}
		return
	}
	var bindings []sim.Binding
	for _, d := range program.Bindings() {
		if d.Bytes > 1<<20 {
			return
		}
		bytes := max(d.Bytes, 4)
		if d.Runtime {
			bytes += 64
		}
		b := sim.NewBuffer(d.Name, bytes, d.Binding%2 == 0)
		data := make([]byte, b.Size())
		for i := range data {
			data[i] = byte(i * 37 >> (i % 5))
		}
		if d.Binding%2 == 0 {
			b.Write(0, data)
		}
		bindings = append(bindings, sim.Binding{Group: d.Group, Binding: d.Binding, Buffer: b, Bytes: b.Size()})
	}
	ctx, cancel := context.WithTimeout(t.Context(), fuzzTime)
	defer cancel()
	result, err := program.Run(ctx, [3]int{2, 1, 1}, bindings, sim.Options{SubgroupSize: 8, LoopTrips: 1000, Workers: 2})
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > fuzzBytes {
		t.Fatalf("%q takes %d bytes", text, used)
	}
	var refused *plan.PlanError
	switch {
	case err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &refused):
		t.Fatalf("%q: an error of another type: %v", text, err)
	case err == nil:
		for _, found := range result.Findings {
			if found.String() == "" || found.Kind == "" {
				t.Fatalf("%q: an empty finding", text)
			}
		}
	}
}
