package ir_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/kgen-wgsl/kgen/ir"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// TestGolden runs the cases of testdata: an archive has the file in, the text of a graph, and the expected answer of
// each file named after what is done: print, a pass, all passes, or errors.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Files) < 2 || archive.Files[0].Name != "in" {
		t.Fatal("a case has a file in, then answers")
	}
	in := string(archive.Files[0].Data)
	for i, f := range archive.Files[1:] {
		got := answer(t, f.Name, in)
		if *update {
			archive.Files[i+1].Data = []byte(got)
		} else if diff := cmp.Diff(string(f.Data), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// passes lists all passes: those that every graph goes through come first.
func passes() []ir.Pass {
	return append(ir.Passes(), ir.Pass{Name: "quantise-activations", Run: ir.QuantiseActivations})
}

func answer(t *testing.T, what, in string) string {
	t.Helper()
	g, err := ir.Parse("in", in)
	if what == "errors" {
		return fmt.Sprintln(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ran := what == "print"
	for i, pass := range passes() {
		if what != pass.Name && (what != "all" || i >= len(ir.Passes())) {
			continue
		}
		ran = true
		pass.Run(g)
		if err := ir.Verify(g); err != nil {
			t.Fatalf("after %s: %v", pass.Name, err)
		}
		once := ir.Print(g)
		if pass.Run(g); ir.Print(g) != once {
			t.Errorf("%s changes the graph again when it is run again", pass.Name)
		}
	}
	if !ran {
		t.Fatalf("%s is no pass", what)
	}
	return ir.Print(g)
}

var asBuilt = cmp.Options{cmpopts.IgnoreTypes(ir.Pos{}), cmpopts.IgnoreFields(ir.Tensor{}, "Def"), cmpopts.EquateEmpty()}

func TestPrintReadsBack(t *testing.T) {
	g, err := block().Graph()
	if err != nil {
		t.Fatal(err)
	}
	g.Nodes[1].Attrs.Eps = float64(float32(1e-5)) // what a file holds: no short number
	text := ir.Print(g)
	back, err := ir.Parse("block", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(g, back, asBuilt); diff != "" {
		t.Errorf("-built +parsed:\n%s", diff)
	}
	if again := ir.Print(back); again != text {
		t.Errorf("printed again:\n%s", cmp.Diff(text, again))
	}
}

func TestClone(t *testing.T) {
	g, err := block().Graph()
	if err != nil {
		t.Fatal(err)
	}
	before := ir.Print(g)
	c := ir.Clone(g)
	if diff := cmp.Diff(g, c, asBuilt); diff != "" {
		t.Errorf("-graph +clone:\n%s", diff)
	}
	for _, pass := range passes() {
		pass.Run(c)
	}
	if err := ir.Verify(c); err != nil {
		t.Error(err)
	}
	if ir.Print(g) != before {
		t.Error("passes on the clone changed the graph")
	}
	if ir.Print(c) == before {
		t.Error("passes changed nothing, so the test shows nothing")
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		if archive, err := txtar.ParseFile(file); err == nil {
			f.Add(string(archive.Files[0].Data))
		}
	}
	f.Fuzz(func(t *testing.T, in string) {
		g, err := ir.Parse("fuzz", in)
		if err != nil {
			return
		}
		text := ir.Print(g)
		back, err := ir.Parse("again", text)
		if err != nil {
			t.Fatalf("what Print wrote does not parse: %v\n%s", err, text)
		}
		if again := ir.Print(back); again != text {
			t.Fatalf("printed again, it differs:\n%s\n%s", text, again)
		}
		for _, pass := range passes() {
			pass.Run(g)
			if err := ir.Verify(g); err != nil {
				t.Fatalf("after %s: %v\n%s", pass.Name, err, text)
			}
		}
	})
}
