package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/x448/float16"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

func TestParseGrid(t *testing.T) {
	for text, want := range map[string][3]int{"7": {7, 1, 1}, "7,8": {7, 8, 1}, "7, 8,9": {7, 8, 9}, "65536": {65536, 1, 1}} {
		if got, err := parseGrid(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "1,0", "1,2,3,4", "-1", "x", "1,", "4294967296", "65535,65535,65535", "1.5"} {
		if got, err := parseGrid(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestParseSubgroup(t *testing.T) {
	for text, want := range map[string][]int{"4": {4}, "128": {128}, "all": {32, 4, 8, 16, 64, 128}} {
		if got, err := parseSubgroup(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "2", "24", "256", "all,4"} {
		if got, err := parseSubgroup(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestParseBuffer(t *testing.T) {
	for flag, want := range map[string]bufferRequest{
		"0=16":                  {binding: "0", bytes: 16},
		"1.2=16:seed=7":         {binding: "1.2", bytes: 16, seeded: true, seed: 7},
		"x=:seed=0":             {binding: "x", seeded: true},
		"x=:file=a=b:c,d.bin":   {binding: "x", path: "a=b:c,d.bin"},
		"x=1024:file=/tmp/x":    {binding: "x", bytes: 1024, path: "/tmp/x"},
		"y=:as=x":               {binding: "y", as: "x"},
		"y=":                    {binding: "y"},
		"0=9223372036854775804": {binding: "0", bytes: 9223372036854775804},
	} {
		want.flag = flag
		if got, err := parseBuffer(flag); err != nil || got != want {
			t.Errorf("%q: %+v, %v", flag, got, err)
		}
	}
	for flag, want := range map[string]string{
		"":                       "not of the form",
		"16":                     "not of the form",
		"=16":                    "not of the form",
		"0=x":                    `"x" is no number of bytes`,
		"0=-4":                   "is no number of bytes",
		"0=0":                    "positive multiple of 4",
		"0=6":                    "positive multiple of 4",
		"0=99999999999999999999": "is no number of bytes",
		"0=16:":                  "not seed=N",
		"0=16:seed=":             "not seed=N",
		"0=16:seed=x":            "is no number from 0",
		"0=16:file=":             "not seed=N",
		"0=16:zero=1":            "not seed=N",
	} {
		if got, err := parseBuffer(flag); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", flag, got, err)
		}
	}
}

// declared are bindings of all sorts: as many bytes of a runtime-sized array as an element of it needs.
func declared(t *testing.T) *simBindings {
	t.Helper()
	const text = `enable f16;
struct Head { n: u32, at: vec3<f32>, rest: array<vec3<f32>> }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>, 8>;
@group(0) @binding(2) var<storage, read_write> head: Head;
@group(1) @binding(0) var<uniform> size: vec3<u32>;
@group(0) @binding(3) var<storage, read> h: array<f16, 3>;
@group(0) @binding(4) var<storage, read> large: array<u32, 67108864>;
`
	file, err := wgsl.Parse("k.wgsl", text)
	if err != nil {
		t.Fatal(err)
	}
	b := &simBindings{file: file}
	access := map[string]plan.Access{"size": plan.Uniform, "y": plan.ReadWrite, "head": plan.ReadWrite}
	bytes := map[string]uint64{"x": 4, "y": 128, "head": 48, "size": 12, "h": 6, "large": 256 << 20}
	for _, d := range file.Decls {
		if v, ok := d.(*wgsl.Var); ok {
			a := access[v.Symbol.Name]
			if a == 0 {
				a = plan.Read
			}
			b.used = append(b.used, sim.Declared{
				Group: v.Group, Binding: v.Binding, Name: v.Symbol.Name, Access: a, Type: v.Symbol.Type, Bytes: bytes[v.Symbol.Name],
				Runtime: v.Symbol.Name == "x" || v.Symbol.Name == "head",
			})
		}
	}
	return b
}

func TestInputs(t *testing.T) {
	b := declared(t)
	b.used = b.used[:5]
	dir := t.TempDir()
	write := func(name string, bytes int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, bytes), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	eight, six, none := write("eight", 8), write("six", 6), write("none", 0)
	for _, c := range []struct {
		flags []string
		bytes []uint64 // of x, y, head, size, h
		err   string
	}{
		{[]string{"0=16", "head=64"}, []uint64{16, 128, 64, 12, 8}, ""},
		{[]string{"x=:file=" + eight, "2=48", "1.0=:seed=1", "y=256"}, []uint64{8, 256, 48, 12, 8}, ""},
		{[]string{"0.0=16:file=" + eight, "2=48", "1.0=16", "h=:seed=1"}, []uint64{16, 128, 48, 16, 8}, ""},
		{[]string{"0=134217728", "2=:as=x"}, []uint64{128 << 20, 128, 128 << 20, 12, 8}, ""},
		{[]string{"0=16", "2=48:as=y"}, []uint64{16, 128, 48, 12, 8}, ""},
		{[]string{"0=16", "2=48", "4=4", "0.4=4", "large=8"}, []uint64{16, 128, 48, 12, 8}, ""}, // the entry point doesn't use it
		{nil, nil, "binding 0, x, has no size in the text: give --buffer 0=BYTES, at least 4"},
		{[]string{"0=16"}, nil, "binding 2, head, has no size in the text: give --buffer 2=BYTES, at least 48"},
		{[]string{"0=:seed=1"}, nil, "x has no size in the text"},
		{[]string{"0=16", "2=44"}, nil, "44 bytes are too few for head, which needs 48"},
		{[]string{"0=16", "2=48", "y=64"}, nil, "64 bytes are too few for y, which needs 128"},
		{[]string{"0=134217732", "2=48"}, nil, "134217732 bytes are more than maxStorageBufferBindingSize, 134217728"},
		{[]string{"0=9223372036854775804", "2=48"}, nil, "more than maxStorageBufferBindingSize"},
		{[]string{"0=9223372036854775804:file=" + eight, "2=48"}, nil, "more than maxStorageBufferBindingSize"},
		{[]string{"0=4", "2=48", "size=65540"}, nil, "more than maxUniformBufferBindingSize"},
		{[]string{"0=4", "0.0=8"}, nil, "binding 0.0 is 0=4 already"},
		{[]string{"9=4"}, nil, "uses no binding 9; it uses 0 (x), 1 (y), 2 (head), 1.0 (size), 3 (h)"},
		{[]string{"0=4:file=" + eight}, nil, "larger than the size given, 4 bytes"},
		{[]string{"0=:file=" + six}, nil, "six has 6 bytes, and the size of a binding is a multiple of 4"},
		{[]string{"0=:file=" + none}, nil, "none is empty"},
		{[]string{"0=:file=" + filepath.Join(dir, "absent")}, nil, "no such file"},
		{[]string{"0=:file=" + dir}, nil, "is a directory"},
		{[]string{"0=4", "2=:as=2"}, nil, "binding 2 has no buffer of its own"},
		{[]string{"0=4", "2=:as=0"}, nil, "4 bytes are too few for head"},
		{[]string{"0=48", "2=96:as=0"}, nil, "binding 0 has 48 bytes"},
		{[]string{"0=4", "2=:as=z"}, nil, "uses no binding z"},
	} {
		requests, err := parseBuffers(c.flags)
		var inputs []simInput
		if err == nil {
			inputs, err = b.inputs(requests)
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: %v, want %q", c.flags, err, c.err)
			} else if _, ok := err.(usageError); !ok {
				t.Errorf("%v: %T", c.flags, err)
			}
			continue
		}
		var bytes []uint64
		for _, in := range inputs {
			bytes = append(bytes, in.bytes)
		}
		if err != nil || !slices.Equal(bytes, c.bytes) {
			t.Errorf("%v: %v, %v", c.flags, bytes, err)
		}
	}
}

// What is read and gets no flag is told, as a kernel that takes its sizes from there does nothing.
func TestZeros(t *testing.T) {
	for flags, want := range map[string]string{"0=16 2=48": "size h", "0=16 2=48 h=:seed=1": "size", "0=16 2=48 h=8 1.0=:as=0": "", "0=16 2=48 y=128 size=12": "h"} {
		b := declared(t)
		b.used = b.used[:5]
		requests, err := parseBuffers(strings.Fields(flags))
		if err == nil {
			_, err = b.inputs(requests)
		}
		if got := strings.Join(b.zeros, " "); err != nil || got != want {
			t.Errorf("%s: %q and %v, want %q", flags, got, err, want)
		}
	}
}

// Together buffers have a limit, too, whatever the profile says.
func TestInputsTogether(t *testing.T) {
	b := declared(t)
	b.used = b.used[:3]
	b.limits.BindingBytes = 4 << 30
	requests, err := parseBuffers([]string{"0=2147483648", "2=48"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.inputs(requests); err == nil || !strings.Contains(err.Error(), "all buffers together have more than 2048 MiB") {
		t.Error(err)
	}
}

// A variable larger than any binding is a finding at its declaration, and needs no memory.
func TestOverLimit(t *testing.T) {
	got := declared(t).overLimit()
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	want := "k.wgsl:8:42: limit: large: its type has 268435456 bytes, maxStorageBufferBindingSize is 134217728; it was not run"
	if got[0].String() != want {
		t.Errorf("%s, want %s", got[0], want)
	}
}

// Memory that is a file, numbers of a seed, or another binding's.
func TestMakeBuffers(t *testing.T) {
	b := declared(t)
	b.used = b.used[:5]
	path := filepath.Join(t.TempDir(), "y")
	if err := os.WriteFile(path, []byte{1, 2, 3, 4, 5}, 0o644); err != nil {
		t.Fatal(err)
	}
	requests, err := parseBuffers([]string{"x=64:seed=3", "y=128:file=" + path, "head=:as=x"})
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := b.inputs(requests)
	if err != nil {
		t.Fatal(err)
	}
	buffers := makeBuffers(inputs)
	if buffers[2] != buffers[0] || buffers[0].Size() != 64 {
		t.Error("head has not the buffer of x")
	}
	if got := buffers[1].Read(0, 8); !slices.Equal(got, []byte{1, 2, 3, 4, 5, 0, 0, 0}) {
		t.Errorf("y starts with %v", got)
	}
	if got := bind(inputs, buffers)[3]; got.Group != 1 || got.Binding != 0 || got.Bytes != 12 {
		t.Errorf("size gets %+v", got)
	}
	if again := makeBuffers(inputs); !slices.Equal(buffers[0].Read(0, 64), again[0].Read(0, 64)) {
		t.Error("one seed gives two sequences")
	}
}

func TestRandomData(t *testing.T) {
	head := declared(t).used[2].Type
	const bytes = 32 + 16*1000
	data := randomData(head, bytes, 5)
	values := simValues{head, data}
	sum, n := 0.0, 0
	values.each(func(s wgsl.Scalar, x float64) bool {
		if n++; s == wgsl.F32 {
			if x < -1 || x >= 1 {
				t.Errorf("%g is not in [-1, 1)", x)
			}
			sum += x
		}
		return true
	})
	if mean := sum / float64(n); n != 1+3+3000 || math.Abs(mean) > 0.05 {
		t.Errorf("%d values, their mean is %g", n, mean)
	}
	for at := 4; at < bytes; at++ {
		padding := at < 16 || at%16 >= 12
		if padding && data[at] != 0 {
			t.Fatalf("byte %d lies between members and is %d", at, data[at])
		}
	}
	if slices.Equal(data, randomData(head, bytes, 6)) {
		t.Error("two seeds give the same numbers")
	}
}

// Halves of all bits, judged by another implementation.
func TestHalves(t *testing.T) {
	for bits := range 1 << 16 {
		want, got := float64(float16.Frombits(uint16(bits)).Float32()), halfValue(uint16(bits))
		if math.Float64bits(want) != math.Float64bits(got) && !(math.IsNaN(want) && math.IsNaN(got)) {
			t.Fatalf("%#x: %g, want %g", bits, got, want)
		}
	}
	for n := -1024; n < 1024; n++ {
		if got, want := halfBits(n), float16.Fromfloat32(float32(n)/1024).Bits(); got != want {
			t.Fatalf("%d/1024: %#x, want %#x", n, got, want)
		}
	}
}

func TestValues(t *testing.T) {
	floats := simValues{wgsl.Array{Elem: wgsl.F32}, nil}
	for _, x := range []float32{0, -1.5, 0.1, 1e30, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		bits := math.Float32bits(x)
		floats.Data = append(floats.Data, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
	}
	halves := simValues{wgsl.Vector{Elem: wgsl.F16, Width: 2}, []byte{0, 0x3c, 1, 0}}
	ints := simValues{wgsl.Array{Elem: wgsl.Vector{Elem: wgsl.I32, Width: 3}, Len: 2}, slices.Repeat([]byte{255, 255, 255, 255}, 8)}
	atomic := simValues{wgsl.Atomic{Elem: wgsl.U32}, []byte{255, 255, 255, 255}}
	for _, c := range []struct {
		values simValues
		want   string
	}{
		{floats, `0,-1.5,0.1,1e+30,"NaN","Infinity","-Infinity"`},
		{halves, `1,5.9604645e-08`},
		{ints, `-1,-1,-1,-1,-1,-1`},
		{atomic, `4294967295`},
		{simValues{wgsl.Array{Elem: wgsl.F32}, nil}, ``},
	} {
		var got bytes.Buffer
		w := bufio.NewWriter(&got)
		if c.values.write(w); w.Flush() != nil || got.String() != c.want {
			t.Errorf("%s, want %s", got.String(), c.want)
		}
	}
	if text, n := ints.first(2); text != " -1 -1" || n != 6 {
		t.Errorf("the first two are %q of %d", text, n)
	}
}

// Findings of several sizes are one; what compilers refuse joins what the run showed in the same line.
func TestMergeFindings(t *testing.T) {
	s := simulation{sizes: []int{32, 4, 8}}
	race := sim.Finding{Kind: sim.Race, File: "k", Line: 9, Column: 2, Variable: "x", Index: 3, Detail: "race", Count: 1}
	barrier := sim.Finding{Kind: sim.Divergent, File: "k", Line: 4, Column: 2, Index: -1, Detail: "1 of 2", Count: 1}
	s.addFindings([]sim.Finding{race}, 32)
	s.addFindings([]sim.Finding{race, barrier}, 4)
	s.addFindings([]sim.Finding{race, barrier}, 8)
	at := func(line int) *wgsl.Error {
		return &wgsl.Error{Pos: wgsl.Pos{File: "k", Line: line, Column: 5, InFile: true}, Message: "it varies"}
	}
	s.divergent = []*wgsl.Error{at(4), at(6)}
	s.addDivergent()
	var got []string
	for _, f := range s.findings {
		got = append(got, f.String()+s.seenWith(f))
	}
	want := []string{
		"k:4:2: divergent: 1 of 2; compilers refuse it: it varies, with subgroups of 4, 8",
		"k:6:5: divergent: compilers refuse it: it varies",
		"k:9:2: race: x[3]: race",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestDifferenceOf(t *testing.T) {
	values := func(bits ...uint32) simValues {
		v := simValues{wgsl.Array{Elem: wgsl.F32}, nil}
		for _, b := range bits {
			v.Data = append(v.Data, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
		}
		return v
	}
	const one, two, nan, inf = 0x3f800000, 0x40000000, 0x7fc00000, 0x7f800000
	a, b := values(one, one, nan, one, one, nan), values(one, two, nan, inf, nan, nan+1)
	d := differenceOf(a, b)
	if d.Values != 3 || d.Largest != 1 || d.Strange != 2 {
		t.Errorf("%+v", d)
	}
	if text := d.text(); text != "3 values differ, by up to 1, 2 as NaN or infinity on one side" {
		t.Error(text)
	}
	if text := differenceOf(values(inf), values(one)).text(); text != "1 value differs, 1 as NaN or infinity on one side" {
		t.Error(text)
	}
}

// Files are written whole or not at all.
func TestWriteFiles(t *testing.T) {
	dir := t.TempDir()
	b := declared(t)
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "folder", "bad")
	for _, flags := range [][]string{
		{"y"}, {"=" + good}, {"y="}, {"z=" + good}, {"y=" + dir}, {"y=" + bad}, {"y=" + good, "x=" + filepath.Join(dir, ".", "good")},
	} {
		if _, err := b.outputFiles(flags); err == nil {
			t.Errorf("%v is taken", flags)
		}
	}
	files, err := b.outputFiles([]string{"1=" + good})
	if err != nil || len(files) != 1 || files[0].input != 1 {
		t.Fatalf("%+v, %v", files, err)
	}
	files[0].data = []byte("first")
	s := simulation{files: files}
	if err := s.writeFiles(); err != nil {
		t.Fatal(err)
	}
	files[0].data = []byte("second")
	s.files = append(files, simFile{path: bad, data: []byte("x")})
	if err := s.writeFiles(); err == nil {
		t.Error("a file was written into a folder that is not there")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	if data, err := os.ReadFile(good); err != nil || string(data) != "first" {
		t.Errorf("%q, %v", data, err)
	}
}

// The status is 0 without findings, 1 with some or for a text that is no WGSL, 2 for flags that are wrong.
func TestSimStatus(t *testing.T) {
	const kernel = `@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = 1u; }
`
	for _, c := range []struct {
		text, flags string
		status      int
	}{
		{kernel, "--grid 1 --buffer y=256", exitDone},
		{kernel, "--grid 2 --buffer y=256", exitFailure},
		{kernel, "--grid 1", exitUsage},
		{kernel, "--grid 1,1,1,1 --buffer y=256", exitUsage},
		{kernel, "--grid 1 --buffer y=134217732", exitUsage},
		{kernel, "--grid 1 --buffer y=256 --buffer z=4", exitUsage},
		{kernel, "--grid 1 --buffer y=256 --subgroup 5", exitUsage},
		{kernel, "--grid 1 --buffer y=256 --const m=1", exitUsage},
		{kernel + "override n: u32;", "--grid 1 --buffer y=256 --const n=1.5", exitUsage},
		{kernel + "fn f() { return 1; }", "--grid 1 --buffer y=256", exitFailure},
		{kernel + "override n: u32;", "--grid 1 --buffer y=256", exitDone}, // nothing uses it
		{strings.ReplaceAll(kernel, "= 1u", "= n") + "override n: u32;", "--grid 1 --buffer y=256", exitFailure},
		{strings.ReplaceAll(kernel, "64", "257"), "--grid 1 --buffer y=1028", exitFailure},
		{strings.ReplaceAll(kernel, "array<u32>", "array<u32, 33554433>"), "--grid 1", exitFailure},
	} {
		path := filepath.Join(t.TempDir(), "k.wgsl")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		args := append([]string{"sim", path}, strings.Fields(c.flags)...)
		if status := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); status != c.status {
			t.Errorf("%s: status %d, want %d: %s%s", c.flags, status, c.status, stdout.String(), stderr.String())
		}
	}
}

// Each output has its own values, whatever the order of names, and whatever names say.
func TestSimJSON(t *testing.T) {
	const kernel = `@group(0) @binding(0) var<storage, read_write> z: array<u32, 2>;
@group(0) @binding(1) var<storage, read_write> m: array<f32, 1>;
@group(1) @binding(0) var<storage, read_write> a: array<u32, 3>;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
  z[i] = 7u; a[min(i, 2u)] = 8u; m[0] = 1.0 / f32(z[0] - 7u);
}
`
	path := filepath.Join(t.TempDir(), `"values":[.wgsl`)
	if err := os.WriteFile(path, []byte(kernel), 0o644); err != nil {
		t.Skipf("no file can be called %s: %v", path, err)
	}
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), []string{"sim", path, "--grid", "1", "--json", "--subgroup", "all"}, strings.NewReader(""), &stdout, &stderr)
	var r struct {
		Findings []findingJSON
		Outputs  map[string]struct {
			Group, Binding, Bytes int
			Values                []any
		}
	}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || status != exitFailure {
		t.Fatalf("status %d, %v\n%s%s", status, err, stdout.String(), stderr.String())
	}
	if len(r.Findings) == 0 || r.Findings[0].File != path || len(r.Findings[0].Subgroups) != 6 {
		t.Errorf("%+v", r.Findings)
	}
	got := fmt.Sprint(r.Outputs)
	if want := "map[a:{1 0 12 [8 8 8]} m:{0 1 4 [Infinity]} z:{0 0 8 [7 7]}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An interrupt ends a run, and nothing is printed of it.
func TestSimInterrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.wgsl")
	const kernel = `@group(0) @binding(0) var<storage, read_write> y: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { loop { y[i] = 0u; if (y[i] == 1u) { break; } } }
`
	if err := os.WriteFile(path, []byte(kernel), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &stopAfter{stop: cancel}
	var stdout bytes.Buffer
	status := run(ctx, []string{"sim", path, "--grid", "65535", "--loop-trips", "0"}, strings.NewReader(""), &stdout, stderr)
	if status != exitFailure || stdout.Len() > 0 || stderr.writes != 2 {
		t.Errorf("status %d after %d lines: %s", status, stderr.writes, stdout.String())
	}
}
