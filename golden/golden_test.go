package golden

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/internal/testtext"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/schedules"
	"github.com/pmezard/go-difflib/difflib"
)

var update = flag.Bool("update", false, "rewrite the outputs of all cases")

// options is case.json.
type options struct {
	Profile  string   `json:"profile"`
	Subgroup int      `json:"subgroup,omitempty"` // the measured size, for profiles that leave it open
	Context  int      `json:"context"`
	Ring     int      `json:"ring,omitempty"`
	Keep     []string `json:"keep,omitempty"`
	Fast     bool     `json:"fast,omitempty"`
}

// inputs are the files of a case that the test never writes.
var inputs = []string{"case.json", "graph.ir"}

func TestCases(t *testing.T) {
	folders, err := filepath.Glob("cases/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			got := compile(t, folder)
			if *update {
				rewrite(t, folder, got)
			}
			compare(t, folder, got)
		})
	}
}

// The outputs do not depend on how many processors there are.
func TestProcessors(t *testing.T) {
	folders, _ := filepath.Glob("cases/*")
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	for _, folder := range folders {
		runtime.GOMAXPROCS(1)
		one := compile(t, folder)
		runtime.GOMAXPROCS(8)
		if eight := compile(t, folder); !maps.Equal(one, eight) {
			t.Errorf("%s: 1 and 8 processors give different outputs", folder)
		}
	}
}

// compile returns the outputs of a case by file name.
func compile(t *testing.T, folder string) map[string]string {
	t.Helper()
	var o options
	d := json.NewDecoder(bytes.NewReader(read(t, folder, "case.json")))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%s/case.json: %v", folder, err)
	}
	g, err := ir.Parse(filepath.Join(folder, "graph.ir"), string(read(t, folder, "graph.ir")))
	if err != nil {
		t.Fatal(err)
	}
	profile, err := schedules.Lookup(o.Profile)
	if err != nil {
		t.Fatal(err)
	}
	if o.Subgroup != 0 {
		profile.SubgroupSize = o.Subgroup
	}
	r, err := codegen.Compile(g, codegen.Options{Profile: profile, Context: o.Context, Ring: o.Ring, Keep: o.Keep, Fast: o.Fast})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"graph.out.ir": ir.Print(r.Graph), "plan.txt": codegen.PlanText(r.Plan)}
	for _, k := range r.Plan.Kernels {
		out[k.Name+".wgsl"] = k.Text
	}
	return out
}

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// outputs lists the files of a folder that are not inputs.
func outputs(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !slices.Contains(inputs, e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

func compare(t *testing.T, folder string, got map[string]string) {
	t.Helper()
	for _, name := range outputs(t, folder) {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: the folder has it, the compiler does not make it", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		want, err := os.ReadFile(filepath.Join(folder, name))
		switch {
		case os.IsNotExist(err):
			t.Errorf("%s: the compiler makes it, the folder lacks it", name)
		case err != nil:
			t.Error(err)
		case string(want) != got[name]:
			t.Errorf("%s differs at %s\n%s", name, testtext.Difference(string(want), got[name]), diff(name, string(want), got[name]))
		}
	}
}

func diff(name, want, got string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(want), B: difflib.SplitLines(got), FromFile: name, ToFile: "made now", Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	return text
}

func rewrite(t *testing.T, folder string, got map[string]string) {
	t.Helper()
	for _, name := range outputs(t, folder) {
		if _, ok := got[name]; !ok {
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range got {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
