package main

import (
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
