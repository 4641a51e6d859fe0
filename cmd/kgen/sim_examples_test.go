package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/codegen/judge"
)

// simulate runs the verb and returns its JSON.
func simulate(t *testing.T, args ...string) (r struct {
	Findings []findingJSON
	Outputs  map[string]struct {
		Values      []float64
		Differences []simDifference
	}
}) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), append([]string{"sim", "--json"}, args...), strings.NewReader(""), &stdout, &stderr)
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || status != exitDone {
		t.Fatalf("%v: status %d, %v\n%s%s", args, status, err, stdout.String(), stderr.String())
	}
	return r
}

// floatsFile writes small integers as f32: sums and products of them are exact, in whatever order.
func floatsFile(t *testing.T, n, step int) (path string, values []float64) {
	t.Helper()
	var data []byte
	for i := range n {
		x := float64(i*step%17 - 8)
		values = append(values, x)
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
	}
	path = filepath.Join(t.TempDir(), "floats")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path, values
}

// The reduction is right with subgroups of every size, for a last workgroup that is full, short, or has one value.
func TestReduceExample(t *testing.T) {
	for _, n := range []int{1, 1024, 1025, 3000, 4096} {
		path, values := floatsFile(t, n, 5)
		groups := (n + 1023) / 1024
		want := make([]float64, groups)
		for i, x := range values {
			want[i/1024] += x
		}
		r := simulate(t, "../../examples/kernels/reduce.wgsl", "--grid", fmt.Sprint(groups), "--subgroup", "all",
			"--buffer", "values=:file="+path, "--buffer", fmt.Sprintf("sums=%d", 4*groups))
		got := r.Outputs["sums"]
		if len(r.Findings) > 0 || len(got.Differences) > 0 || fmt.Sprint(got.Values) != fmt.Sprint(want) {
			t.Errorf("%d values: %v, want %v; %+v", n, got, want, r.Findings)
		}
	}
}

// The tiled product equals the plain one.
func TestMatmulExample(t *testing.T) {
	const rows, inner, columns = 37, 50, 29
	aPath, a := floatsFile(t, rows*inner, 7)
	bPath, b := floatsFile(t, inner*columns, 11)
	r := simulate(t, "../../examples/kernels/matmul.wgsl", "--grid", "2,3", "--buffer", "a=:file="+aPath, "--buffer", "1=:file="+bPath)
	got := r.Outputs["c"].Values
	if len(r.Findings) > 0 || len(got) != rows*columns {
		t.Fatalf("%d values, %+v", len(got), r.Findings)
	}
	for row := range rows {
		for column := range columns {
			want := 0.0
			for k := range inner {
				want += a[row*inner+k] * b[k*columns+column]
			}
			if x := got[row*columns+column]; x != want {
				t.Fatalf("row %d, column %d: %g, want %g", row, column, x, want)
			}
		}
	}
}

// Both examples, and the kernels of docs/simulator.md that a compiler should take, pass the compilers on PATH.
func TestCompilersTakeExamples(t *testing.T) {
	var texts []judge.Text
	paths, err := filepath.Glob("../../examples/kernels/*.wgsl")
	if err != nil || len(paths) != 2 {
		t.Fatalf("the examples are %v, %v", paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, judge.Text{Name: path, WGSL: string(data)})
	}
	_, blocks := docBlocks(t, filepath.Join("..", "..", "docs", "simulator.md"))
	for _, block := range blocks {
		if name := docName.FindStringSubmatch(block[2]); name != nil && name[1] != "divergent.wgsl" {
			texts = append(texts, judge.Text{Name: name[1], WGSL: block[2]})
		}
	}
	compilers, _ := judge.Commands(t.Context(), time.Minute)
	for _, c := range compilers {
		err := c.Judge(t.Context(), texts, func(at int, v judge.Verdict) {
			if v.Outcome != judge.Passed {
				t.Errorf("%s, %s: %s: %s", texts[at].Name, c.Name(), v.Outcome, v.Message)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
