package wgsl_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Structs are laid out as the WGSL specification says in its section on memory layout. The offsets are worked out by hand from its table of
// alignments: 4, 8, 16, 16 for f32, vec2f, vec3f, vec4f.
func TestStructLayout(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		offsets     []int
		size, align int
	}{
		{"scalars", "struct S { a: f32, b: u32 }", []int{0, 4}, 8, 4},
		{"padding before vec3", "struct S { a: f32, b: vec3f, c: f32 }", []int{0, 16, 28}, 32, 16},
		{"f16", "enable f16; struct S { a: f16, b: vec2<f16>, c: f16, d: vec3<f16> }", []int{0, 4, 8, 16}, 24, 8},
		{"arrays of vec3", "struct S { a: f32, b: array<vec3f, 2>, c: f32 }", []int{0, 16, 48}, 64, 16},
		{"nested", "struct T { a: f32, b: vec2f } struct S { a: f32, t: T, c: f32 }", []int{0, 8, 24}, 32, 8},
		{"attributes", "struct S { a: f32, @align(16) b: f32, @size(20) c: f32, d: f32 }", []int{0, 16, 20, 40}, 48, 16},
		{"sized at run time", "struct S { n: u32, v: array<vec4f> }", []int{0, 16}, 16, 16},
	} {
		f, err := wgsl.Parse("s.wgsl", c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		s := f.Decls[len(f.Decls)-1].(*wgsl.StructDecl).Type
		var offsets []int
		for _, m := range s.Members {
			offsets = append(offsets, m.Offset)
		}
		if d := cmp.Diff(c.offsets, offsets); d != "" || s.Size != c.size || s.Align != c.align {
			t.Errorf("%s: size %d, alignment %d, want %d and %d; offsets:\n%s", c.name, s.Size, s.Align, c.size, c.align, d)
		}
	}
}
