package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
)

// userMod is what a user's go.mod has beside kgen's own requirements.
const userMod = `
tool github.com/kgen-wgsl/kgen/cmd/kgen

require github.com/kgen-wgsl/kgen v0.0.0

replace github.com/kgen-wgsl/kgen => `

// userModule is a user's module, outside this repository: it has kgen as a tool, generates a package from a model file's header,
// and runs the model through that.
var userModule = map[string]string{
	"tiny/generate.go": `// Package tiny runs the model of tiny.gguf.
package tiny

//go:` + `generate go tool kgen gen --gguf ../tiny.gguf --profile portable,subgroups --ctx 128 --out .
`,
	"main.go": `package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"example.org/user/tiny"
	"github.com/kgen-wgsl/kgen"
)

func main() {
	ctx := context.Background()
	model, err := kgen.Load(ctx, "tiny.gguf", kgen.Options{
		Device: "native", Variants: tiny.Variants(), Exact: true, Log: func(message string) { log.Print(message) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession()
	if err != nil {
		log.Fatal(err)
	}
	var ids []uint32
	for piece, err := range session.GenerateIDs(ctx, []uint32{1, 2, 3}, kgen.Generation{MaxTokens: 16, IgnoreEnd: true}) {
		if err != nil {
			log.Fatal(err)
		}
		ids = append(ids, piece.IDs...)
	}
	json.NewEncoder(os.Stdout).Encode(ids)
}
`,
}

func TestUserModule(t *testing.T) {
	gpu.Adapter(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod = append(bytes.Replace(mod, []byte("module github.com/kgen-wgsl/kgen\n"), []byte("module example.org/user\n"), 1), userMod+root+"\n"...)
	dir := t.TempDir()
	files := map[string][]byte{"tiny.gguf": oracle.Bytes(t, "llama-q4_1.gguf"), "go.sum": sums, "go.mod": mod}
	for name, text := range userModule {
		files[name] = []byte(text)
	}
	if err := os.Mkdir(filepath.Join(dir, "tiny"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) (stdout, stderr string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "NODEVICE_SELECT=1")
		var out, errors bytes.Buffer
		c.Stdout, c.Stderr = &out, &errors
		if err := c.Run(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, errors.String())
		}
		return out.String(), errors.String()
	}
	command("generate", "./...")
	command("vet", "./...")
	out, log := command("run", ".")
	if !strings.Contains(log, "variant portable_exact_f32") && !strings.Contains(log, "variant subgroups_exact_f32") {
		t.Errorf("no generated variant was used: %s", log)
	}
	var got []uint32
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}

	var stdout, stderr bytes.Buffer
	args := []string{
		"run", filepath.Join(dir, "tiny.gguf"), "--device", "cpu", "--exact", "--ids", "1,2,3", "--temp", "0", "--ignore-eos", "--max-tokens", "16", "--json",
	}
	if status := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); status != exitDone {
		t.Fatalf("the evaluator: status %d: %s", status, stderr.String())
	}
	var want struct{ IDs []uint32 }
	if err := json.Unmarshal(stdout.Bytes(), &want); err != nil {
		t.Fatal(err)
	}
	if len(got) != 16 || !slices.Equal(got, want.IDs) {
		t.Errorf("the user's program generates %v, the evaluator %v", got, want.IDs)
	}
}
