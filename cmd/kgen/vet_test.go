package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// disputed is what compilers or their versions disagree about, or what silences them.
var disputed = regexp.MustCompile(`\b(enable|requires|diagnostic|override|inf|nan)\b|\bptr<|&\w+\[`)

// Every kernel of every generated package passes every compiler at hand, in both dialects. KGEN_REQUIRE=1 requires the libraries.
func TestVetGenerated(t *testing.T) {
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), []string{"vet", "../../gen/...", "--json", "--timeout", "5m"}, strings.NewReader(""), &stdout, &stderr)
	var r vetReport
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s\n%s", err, stdout.String(), stderr.String())
	}
	files, err := filepath.Glob("../../gen/*/kernels/*.wgsl")
	if err != nil || len(files) == 0 || r.Kernels != len(files) {
		t.Errorf("%d kernels were judged, there are %d (%v)", r.Kernels, len(files), err)
	}
	subgroups := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rest, enabled := bytes.CutPrefix(text, []byte(plan.EnableSubgroups))
		if enabled {
			subgroups++
		}
		if at := disputed.Find(rest); at != nil {
			t.Errorf("%s: compilers disagree about %q", file, at)
		}
	}
	for _, v := range r.Validators {
		t.Logf("%s on %q: %d passed, %d mapped", v.Name, v.Adapter, v.Passed, v.Mapped)
		naga := strings.HasPrefix(v.Name, "naga") || strings.HasPrefix(v.Name, "wgpu-native")
		if v.Passed != r.Kernels || naga && v.Mapped != subgroups || !naga && v.Mapped != 0 {
			t.Errorf("%+v: of %d kernels, %d use subgroups", v, r.Kernels, subgroups)
		}
	}
	for _, m := range r.Missing {
		t.Logf("missing: %s: %s", m.Name, m.Why)
		if m.Name != "tint" && m.Name != "naga" && os.Getenv("KGEN_REQUIRE") == "1" {
			t.Errorf("missing: %s: %s; run: make setup", m.Name, m.Why)
		}
	}
	for _, f := range r.Findings {
		t.Errorf("%+v", f)
	}
	if len(r.Validators) == 0 {
		t.Skip("no compiler of WGSL was found; run: make setup")
	}
	if status != exitDone {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}

func TestReadWGSL(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		data string
		want vetFinding
	}{
		"text":         {"// größe\nfn main() {}\n", vetFinding{}},
		"five MB":      {strings.Repeat("// 5\n", 1<<20), vetFinding{}},
		"nothing":      {"", vetFinding{Message: "it is empty"}},
		"white space":  {" \n\t\r\n", vetFinding{Message: "it is empty"}},
		"a NUL":        {"fn\nmain\x00() {}", vetFinding{Line: 2, Column: 5, Message: "a NUL, which WGSL does not allow"}},
		"Latin 1":      {"fn main() {}\n// gr\xf6\xdfe\n", vetFinding{Line: 2, Column: 6, Message: "it is not UTF-8"}},
		"cut UTF-8":    {"// gr\xc3", vetFinding{Line: 1, Column: 6, Message: "it is not UTF-8"}},
		"a picture":    {"\x89PNG\r\n\x1a\n\x00\x00", vetFinding{Line: 3, Column: 1, Message: "a NUL, which WGSL does not allow"}},
		"more than 16": {strings.Repeat("// 16 \n", 1<<21+1<<19), vetFinding{Message: "it has more than 16 MiB; no validator was asked"}},
	} {
		path := filepath.Join(dir, name+".wgsl")
		if err := os.WriteFile(path, []byte(c.data), 0o644); err != nil {
			t.Fatal(err)
		}
		want := c.want
		if want.Message != "" {
			want.File, want.Validator, want.Outcome = path, "kgen", judge.Refused
		}
		data, err := readWGSL(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want.Message == "" && string(data) != c.data {
			t.Errorf("%s: read %d bytes of %d", name, len(data), len(c.data))
		}
		r := vetReport{}
		texts := r.add(nil, judge.Text{Name: path, WGSL: string(data)})
		var got vetFinding
		if len(r.Findings) > 0 {
			got = r.Findings[0]
		}
		if asked := len(texts) == 1; asked != (want.Message == "") || r.Kernels != 1 {
			t.Errorf("%s: %d of %d kernels are judged", name, len(texts), r.Kernels)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	if _, err := readWGSL(dir); err == nil {
		t.Error("a folder was read")
	}
}

// What several kernels share is judged once, unless they are bound otherwise.
func TestDeduplicate(t *testing.T) {
	read := plan.Kernel{Name: "k", Text: "1", Bindings: []plan.Binding{{Name: "a", Access: plan.Read, Bytes: 4}}}
	renamed, written := read, read
	renamed.Name = "other"
	written.Bindings = []plan.Binding{{Name: "a", Access: plan.ReadWrite, Bytes: 4}}
	distinct, of := deduplicate([]judge.Text{
		{Name: "a", WGSL: "1"}, {Name: "b", WGSL: "2"}, {Name: "c", WGSL: "1"},
		{Name: "d", WGSL: "1", Kernel: &read}, {Name: "e", WGSL: "1", Kernel: &renamed}, {Name: "f", WGSL: "1", Kernel: &written},
	})
	if len(distinct) != 4 || !cmp.Equal(of, []int{0, 1, 0, 2, 2, 3}) {
		t.Errorf("got %v, %v", distinct, of)
	}
}
