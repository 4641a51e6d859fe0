package golden

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/schedules"
)

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// The blocks of docs/kernels.md are a line of a case's graph, the schedule of its kernel, the kernel, and the difference that
// one number of the schedule makes.
func TestDocument(t *testing.T) {
	const folder = "cases/q4_0_portable"
	path := filepath.Join("..", "docs", "kernels.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, block := range fence.FindAllStringSubmatch(string(data), -1) {
		blocks[block[1]] = block[2]
	}
	if graph := string(read(t, folder, "graph.ir")); blocks["graph"] == "" || !strings.Contains(graph, blocks["graph"]) {
		t.Errorf("the graph of %s has no line %q", folder, blocks["graph"])
	}
	var s schedules.GEMV
	if err := s.UnmarshalText([]byte(strings.TrimSpace(blocks["schedule"]))); err != nil {
		t.Fatal(err)
	}
	kernel := gemv(t, s)
	if made, err := filepath.Glob(folder + "/gemv_q4_0_64x64_*.wgsl"); err != nil || len(made) != 1 || string(read(t, ".", made[0])) != kernel {
		t.Errorf("the schedule does not give the kernel of %s: %v, %v", folder, made, err)
	}
	changed := s
	changed.Workgroup = 32
	want := map[string]string{"wgsl": kernel, "diff": diff("gemv.wgsl", kernel, gemv(t, changed))}
	text := fence.ReplaceAllStringFunc(string(data), func(block string) string {
		kind := fence.FindStringSubmatch(block)[1]
		if now, ok := want[kind]; ok {
			return "```" + kind + "\n" + now + "```"
		}
		return block
	})
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != string(data) {
		t.Errorf("%s differs from what is made now:\n%s", path, diff(path, string(data), text))
	}
}

// gemv is the text of the product that the document shows.
func gemv(t *testing.T, s schedules.GEMV) string {
	t.Helper()
	profile, err := schedules.Lookup("portable")
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernels.GEMV{Format: quant.Q4_0, Columns: 64, Results: []int{64}, Epilogue: kernels.Store}.Kernel(s, profile)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Plan(k.Name, k.Operands, profile.Limits)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kernels.Emit(k, b)
	if err != nil {
		t.Fatal(err)
	}
	return p.Text
}
