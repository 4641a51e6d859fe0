package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// A kernel whose file was edited, or that is over a limit, is found; a profile that gets no variant is named.
func TestAudit(t *testing.T) {
	const text = "@group(0) @binding(0) var<storage, read_write> a: array<u32, 4>;\n\n@compute @workgroup_size(64)\nfn main() {\n}\n"
	portable, err := schedules.Lookup("portable")
	if err != nil {
		t.Fatal(err)
	}
	for about, c := range map[string]struct {
		edit                  func(v *golang.ReadVariant)
		over, fault, unserved string
	}{
		"nothing": {func(*golang.ReadVariant) {}, "", "", ""},
		"another array": {func(v *golang.ReadVariant) {
			v.Kernels[0].Text = text + strings.Replace(text, "binding(0)", "binding(1)", 1)
		}, "", "declares 2 storage", ""},
		"another form":   {func(v *golang.ReadVariant) { v.Kernels[0].Text = "  " + text }, "", "declares 0 storage and 0 uniform bindings, 1 in all", ""},
		"a uniform":      {func(v *golang.ReadVariant) { v.Kernels[0].Bindings[0].Access = plan.Uniform }, "", "declares 1 storage", ""},
		"threads":        {func(v *golang.ReadVariant) { v.Kernels[0].Workgroup[0] = 32 }, "", "not the one workgroup size of the Go code, 32", ""},
		"more threads":   {func(v *golang.ReadVariant) { v.Kernels[0].Workgroup[1] = 8 }, "Invocations", "not the one workgroup size of the Go code, 64, 8", ""},
		"memory":         {func(v *golang.ReadVariant) { v.Kernels[0].WorkgroupBytes = 20000 }, "StorageSize 20000, the limit is 16384", "", ""},
		"large bindings": {func(v *golang.ReadVariant) { v.Kernels[0].Bindings[0].Bytes = 1 << 30 }, "maxStorageBufferBindingSize", "", ""},
		"no device":      {func(v *golang.ReadVariant) { v.Requires.StorageBuffers = 9 }, "", "", "needs maxStorageBuffersPerShaderStage 9"},
	} {
		v := golang.ReadVariant{Name: "v", Profile: "portable", Activations: "exact", KV: "f16", Kernels: []plan.Kernel{
			{Name: "k", Text: text, Bindings: []plan.Binding{{Name: "a", Access: plan.ReadWrite, Bytes: 16}}, Workgroup: [3]int{64, 1, 1}},
		}}
		c.edit(&v)
		var r auditReport
		r.add("dir", []golang.ReadVariant{v}, portable)
		var row auditRow
		var why string
		if len(r.Kernels) > 0 {
			row = r.Kernels[0]
		}
		if len(r.Unserved) > 0 {
			why = r.Unserved[0].Why
		}
		for _, pair := range [][2]string{{row.Over, c.over}, {row.Fault, c.fault}, {why, c.unserved}} {
			if !strings.Contains(pair[0], pair[1]) || pair[1] == "" && pair[0] != "" {
				t.Errorf("%s: got %q, want %q", about, pair[0], pair[1])
			}
		}
	}
}

// A model library: kernels in the data of a WebAssembly module, one of them over the limit of most devices, one twice, one a template, one
// put together when it runs.
func TestAuditModule(t *testing.T) {
	attend := &strings.Builder{}
	sum := "0.0"
	for i := range 9 {
		fmt.Fprintf(attend, "@group(0) @binding(%d) var<storage, read> b%d: array<f32>;\n", i, i)
		sum += fmt.Sprintf(" + b%d[0]", i)
	}
	fmt.Fprintf(attend, "@group(0) @binding(9) var<storage, read_write> o: array<f32>;\n@compute @workgroup_size(64)\nfn attend() {\n  o[0] = %s;\n}\n", sum)
	const add = "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n@compute @workgroup_size(32)\nfn add() {\n  a[0] += 1;\n}\n"
	strung := strings.Join([]string{"names", attend.String(), add, add, "#ifdef F16\n" + add, "@compute @workgroup_size(", strings.Replace(add, "32", "LANES", 1)}, "\x00")
	path := filepath.Join(t.TempDir(), "library.wasm")
	if err := os.WriteFile(path, wasmOf(strung), 0o644); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "unreachable.txt")
	if err := os.WriteFile(list, []byte("att*d # with pages\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		over   int
	}{
		{[]string{"--profile", "portable,firefox-metal,chrome"}, exitFailure, 2},
		{[]string{"--profile", "chrome"}, exitDone, 0},
		{[]string{"--profile", "portable,firefox-metal", "--unreachable", list}, exitDone, 0},
	} {
		var stdout, stderr bytes.Buffer
		status := run(t.Context(), append([]string{"audit", path, "--json"}, c.args...), strings.NewReader(""), &stdout, &stderr)
		var r auditReport
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || stderr.Len() > 0 {
			t.Fatalf("%v: %v, %s", c.args, err, stderr.String())
		}
		profiles := len(strings.Split(c.args[1], ","))
		if status != c.status || r.Over != c.over || len(r.Kernels) != 3*profiles || len(r.NotJudged) != 2 || len(r.Mistakes) != 0 || r.Incomplete != 1 {
			t.Errorf("%v: status %d, %+v", c.args, status, r)
			continue
		}
		for i, want := range []struct {
			kernel, text string
			storage      int
			line         int
		}{{"attend", attend.String(), 10, 12}, {"add", add, 1, 3}, {"add", strings.Replace(add, "32", "LANES", 1), 1, 3}} {
			row := r.Kernels[i]
			file := fmt.Sprintf("%s#%d", path, strings.Index(string(wasmOf(strung)), want.text))
			if row.Kernel != want.kernel || row.Storage != want.storage || row.File != file || row.Line != want.line || row.Unreachable != (i == 0 && len(c.args) > 2) {
				t.Errorf("%v: row %d is %+v, want %+v in %s", c.args, i, row, want, file)
			}
		}
	}
}

// wasmOf is a WebAssembly module with one passive data segment.
func wasmOf(data string) []byte {
	segment := append(binary.AppendUvarint([]byte{1, 1}, uint64(len(data))), data...)
	return append(binary.AppendUvarint([]byte("\x00asm\x01\x00\x00\x00\x0b"), uint64(len(segment))), segment...)
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "abc", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abc", true}, {"a*c", "ac", true},
		{"ab*bc", "abc", false}, {"a*b*c", "axbxc", true}, {"a*b*c", "acb", false}, {"a**c", "abc", true}, {"*b*", "abc", true}, {"*x*", "abc", false}, {"[a]", "a", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%s, %s: got %v", c.pattern, c.name, got)
		}
	}
}
