package bind_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/internal/testtext"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// portable holds the limits that the tests plan for: WebGPU's defaults.
var portable = plan.Limits{StorageBuffers: 8, UniformBuffers: 12, BindingBytes: 128 << 20, UniformBytes: 64 << 10, OffsetAlignment: 256}

// compat allows half the storage bindings.
var compat = plan.Limits{StorageBuffers: 4, UniformBuffers: 12, BindingBytes: 128 << 20, UniformBytes: 64 << 10, OffsetAlignment: 256}

func Example() {
	b, err := bind.Plan("scale", []bind.Operand{
		{Name: "first", Elem: "u32", Count: 4, Access: plan.Read, Class: bind.Metadata},
		{Name: "count", Elem: "u32", Count: 4, Access: plan.Read, Class: bind.Metadata},
		{Name: "x", Elem: "f32", Count: 64, Access: plan.ReadWrite},
	}, plan.Limits{StorageBuffers: 8, UniformBuffers: 12, BindingBytes: 1 << 20, UniformBytes: 1 << 10})
	if err != nil {
		panic(err)
	}
	fmt.Print(b)
	// Output:
	// scale: 2 of 8 storage bindings, 0 uniform
	//   packed 2 metadata arrays into one of u32: first, count
	//   0 read       metadata: array<u32, 8> = first u32[4] at 0, count u32[4] at 4
	//   1 read_write x: array<f32, 64>
}

// ragged lists what a paged prefill attention over sequences of different lengths uses.
func ragged() []bind.Operand {
	meta := func(name string, n int) bind.Operand {
		return bind.Operand{Name: name, Elem: "i32", Count: n, Access: plan.Read, Class: bind.Metadata}
	}
	return []bind.Operand{
		{Name: "q", Elem: "f32", Count: 128 * 9 * 64, Access: plan.Read},
		meta("q_indptr", 5),
		{Name: "pages", Elem: "f32", Count: 2 * 64 * 32 * 3 * 64, Access: plan.Read},
		meta("page_indptr", 5), meta("page_values", 64), meta("length_info", 4), meta("k_rope_pos_offset", 4), meta("q_rope_position", 128),
		{Name: "output", Elem: "f32", Count: 128 * 9 * 64, Access: plan.ReadWrite},
		{Name: "lse", Elem: "f32", Count: 128 * 9, Access: plan.ReadWrite},
	}
}

// at places an operand.
func at(name, elem string, n int, access plan.Access, buffer int, offset uint64) bind.Operand {
	o := bind.Operand{Name: name, Elem: elem, Count: n, Access: access}
	o.Place = plan.Range{Buffer: buffer, Offset: offset, Bytes: uint64(n) * 4}
	switch {
	case strings.HasPrefix(elem, "vec2"):
		o.Place.Bytes *= 2
	case strings.HasPrefix(elem, "vec4"):
		o.Place.Bytes *= 4
	}
	return o
}

func vector(o bind.Operand) bind.Operand { o.Class = bind.Vector; return o }

func metadata(o bind.Operand) bind.Operand { o.Class = bind.Metadata; return o }

var (
	read  = plan.Read
	write = plan.ReadWrite
)

var goldens = []struct {
	name     string
	operands []bind.Operand
	limits   plan.Limits
}{
	{"attention_prefill_ragged", ragged(), portable},
	{"rope_kv", []bind.Operand{
		at("params", "u32", 300, read, 0, 0), at("table", "vec2<f32>", 1024, read, 1, 0),
		at("q", "f32", 576, write, 2, 256), at("k", "f32", 192, write, 2, 256+2304), at("v", "f32", 190, read, 2, 256+3072),
		at("kv", "f32", 4096, write, 3, 0),
	}, compat},
	{"stacked_outputs_with_gaps", []bind.Operand{
		at("x", "vec4<f32>", 8, read, 0, 0),
		at("y1", "f32", 10, write, 1, 256), at("y0", "f32", 7, write, 1, 0), at("y2", "f32", 3, write, 1, 1024),
	}, compat},
	{"placed_metadata", []bind.Operand{
		metadata(at("lengths", "i32", 3, read, 0, 512)), metadata(at("indices", "u32", 40, read, 0, 256)),
		at("x", "f32", 8, write, 1, 0),
	}, compat},
	{"bias_to_uniform", []bind.Operand{
		at("codes", "vec4<u32>", 64, read, 0, 0), at("scales", "u32", 64, read, 1, 0),
		vector(at("norm", "vec4<f32>", 32, read, 2, 0)), vector(at("bias", "vec4<f32>", 16, read, 3, 0)),
		at("x", "vec4<f32>", 8, read, 4, 0), at("y", "f32", 8, write, 5, 0),
	}, plan.Limits{StorageBuffers: 5, UniformBuffers: 1, BindingBytes: 1 << 20, UniformBytes: 1 << 10, OffsetAlignment: 256}},
}

func TestGoldens(t *testing.T) {
	for _, c := range goldens {
		b, err := bind.Plan(c.name, c.operands, c.limits)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		golden(t, c.name+".txt", b.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs at %s; got:\n%s", path, testtext.Difference(string(want), got), got)
	}
}

func TestRaggedPrefillIsTenInFiveOut(t *testing.T) {
	in := ragged()
	b, err := bind.Plan("attention", in, portable)
	if err != nil {
		t.Fatal(err)
	}
	if len(in) != 10 || b.Storage() != 5 || len(b.List) != 5 {
		t.Errorf("%d in, %d out", len(in), b.Storage())
	}
	_, err = bind.Plan("attention", in, compat)
	var limit *plan.LimitError
	if !errors.As(err, &limit) || limit.Need != 5 || limit.Have != 4 || limit.Limit != "maxStorageBuffersPerShaderStage" {
		t.Errorf("got %v", err)
	}
}

func TestRefusals(t *testing.T) {
	small := plan.Limits{StorageBuffers: 2, UniformBuffers: 0, BindingBytes: 1 << 10, UniformBytes: 64, OffsetAlignment: 256}
	for _, c := range []struct {
		name     string
		operands []bind.Operand
		want     string
	}{
		{"nothing", nil, "no operands"},
		{"two of a name", []bind.Operand{at("x", "f32", 4, read, 0, 0), at("x", "f32", 4, read, 1, 0)}, "two operands are called x"},
		{"vec3", []bind.Operand{at("x", "vec3<f32>", 4, read, 0, 0)}, `x: element type "vec3<f32>"`},
		{"empty", []bind.Operand{at("x", "f32", 0, read, 0, 0)}, "x: 0 elements"},
		{"no access", []bind.Operand{at("x", "f32", 4, 0, 0, 0)}, "x: has no access"},
		{"offset", []bind.Operand{at("x", "f32", 4, read, 0, 128)}, "x: offset 128 is not a multiple of 256"},
		{"too short", []bind.Operand{{Name: "x", Elem: "f32", Count: 4, Access: read, Place: plan.Range{Bytes: 12}}}, "x: 12 bytes at its place, 16 needed"},
		{"half placed", []bind.Operand{at("x", "f32", 4, read, 0, 0), {Name: "y", Elem: "f32", Count: 4, Access: write}}, "x and y: one has a place"},
		{"written metadata", []bind.Operand{metadata(at("x", "u32", 4, write, 0, 0))}, "x: metadata is"},
		{"float metadata", []bind.Operand{metadata(at("x", "f32", 4, read, 0, 0))}, "x: metadata is"},
		{"written vector", []bind.Operand{vector(at("x", "f32", 4, write, 0, 0))}, "x: a vector"},
		{"metadata apart", []bind.Operand{metadata(at("a", "u32", 4, read, 0, 0)), metadata(at("b", "u32", 4, read, 1, 0))}, "b does not follow a"},
		{"metadata over each other", []bind.Operand{metadata(at("a", "u32", 100, read, 0, 0)), metadata(at("b", "u32", 4, read, 0, 256))}, "b does not follow a"},
		{"overlap", []bind.Operand{at("x", "f32", 100, read, 0, 0), at("y", "f32", 4, write, 0, 256)}, "x (read) and y (read_write) overlap"},
		{"written twice", []bind.Operand{at("x", "f32", 4, write, 0, 0), at("y", "f32", 4, write, 0, 0)}, "x (read_write) and y (read_write) overlap"},
		{"read and written", []bind.Operand{at("x", "f32", 4, read, 0, 0), at("y", "f32", 4, write, 0, 512)}, "x (read) and y (read_write) lie in buffer 0"},
		{"types differ", []bind.Operand{at("x", "u32", 4, read, 0, 0), at("y", "f32", 4, write, 0, 256)}, "lie in buffer 0"},
		{"binding too big", []bind.Operand{at("x", "f32", 1000, read, 0, 0)}, "x needs 4000 bytes, the largest read binding has 1024"},
		{"joined too big", []bind.Operand{at("x", "f32", 192, read, 0, 0), at("y", "f32", 192, write, 0, 768)}, "x, y needs 1536 bytes"},
		{"no uniform", []bind.Operand{at("x", "vec4<f32>", 1, plan.Uniform, 0, 0)}, "1 uniform bindings, the limit is 0"},
		{"uniform of f32", []bind.Operand{at("x", "f32", 4, plan.Uniform, 0, 0)}, "x: a uniform array has elements of 16 bytes"},
		{"uniform and written", []bind.Operand{at("x", "vec4<f32>", 4, plan.Uniform, 0, 0), at("y", "f32", 4, write, 0, 512)}, "x (uniform) and y (read_write) lie in buffer 0"},
		{"too many", []bind.Operand{at("x", "f32", 4, read, 0, 0), vector(at("y", "vec4<f32>", 4, read, 1, 0)), at("z", "f32", 4, write, 2, 0)},
			"3 storage bindings, the limit is 2: x (read f32), y (read vec4<f32>), z (read_write f32); tried: no more vectors"},
	} {
		_, err := bind.Plan("k", c.operands, small)
		var refusal *bind.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

// What would be too long as one binding stays apart where it may.
func TestLargeNeighboursStayApart(t *testing.T) {
	limits := plan.Limits{StorageBuffers: 2, BindingBytes: 1 << 10, UniformBytes: 64, OffsetAlignment: 256}
	for bytes, want := range map[int]int{512: 1, 516: 2} {
		b, err := bind.Plan("k", []bind.Operand{at("x", "f32", 128, read, 0, 0), at("y", "f32", bytes/4, read, 0, 512)}, limits)
		if err != nil || len(b.List) != want {
			t.Errorf("512 and %d bytes within 1024: got %v, %v, want %d bindings", bytes, b, err, want)
		}
	}
}

// Whatever the operands, a plan is refused or obeys the rules: every operand in one binding, at its own bytes, within the
// limits, and no clash.
func TestPlansObeyTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "operands")
		var operands []bind.Operand
		for i := range n {
			elem := rapid.SampledFrom([]string{"f32", "u32", "vec4<f32>"}).Draw(t, "elem")
			access := rapid.SampledFrom([]plan.Access{read, write}).Draw(t, "access")
			o := at(fmt.Sprint("o", i), elem, rapid.IntRange(1, 80).Draw(t, "count"), access,
				rapid.IntRange(0, 2).Draw(t, "buffer"), 256*uint64(rapid.IntRange(0, 8).Draw(t, "offset")))
			if access == read && elem == "u32" && rapid.Bool().Draw(t, "metadata") {
				o.Class = bind.Metadata
			}
			operands = append(operands, o)
		}
		b, err := bind.Plan("k", operands, compat)
		if err != nil {
			return
		}
		if b.Storage() > compat.StorageBuffers {
			t.Fatalf("%d storage bindings", b.Storage())
		}
		found := map[string]plan.Range{}
		for _, e := range b.List {
			for _, m := range e.Members {
				size := e.Range.Bytes / uint64(e.Count)
				found[m.Operand] = plan.Range{Buffer: e.Range.Buffer, Offset: e.Range.Offset + uint64(m.Offset)*size, Bytes: uint64(m.Count) * size}
			}
		}
		for _, o := range operands {
			if found[o.Name] != o.Place {
				t.Fatalf("%s lies at %+v, bound at %+v", o.Name, o.Place, found[o.Name])
			}
		}
		for i, x := range b.List {
			for _, y := range b.List[i+1:] {
				if x.Range.Buffer == y.Range.Buffer && x.Access != y.Access {
					t.Fatalf("%s and %s clash", x.Name, y.Name)
				}
				overlap := x.Range.Offset < y.Range.Offset+y.Range.Bytes && y.Range.Offset < x.Range.Offset+x.Range.Bytes
				if x.Range.Buffer == y.Range.Buffer && overlap && x.Access == write {
					t.Fatalf("%s and %s overlap", x.Name, y.Name)
				}
			}
		}
	})
}
