package sim

import (
	"slices"
	"testing"
)

// Members and elements lie where WGSL's "Alignment and Size" puts them; the offsets here are counted by hand. Each program copies what it
// finds at a place to out, whose words before are their own numbers.
func TestMemoryLayout(t *testing.T) {
	const structs = "struct A { n: u32, v: vec3<u32>, m: u32 }\nstruct B { f: u32, a: array<A, 2>, w: vec2<u32>, tail: array<vec3<u32>> }\n"
	for _, c := range []struct {
		name, declare, copies string
		want                  []uint32
	}{
		{"scalars of structs", "array<u32>", "out[0] = in.f; out[1] = in.a[0].n; out[2] = in.a[0].v.x; out[3] = in.a[0].v.z; out[4] = in.a[0].m; out[5] = in.a[1].n; out[6] = in.a[1].m; out[7] = in.w.y;",
			// B: f 0, a 16 with a stride of 32 (n 0, v 16, m 28), w 80, tail 96 with a stride of 16
			[]uint32{0, 4, 8, 10, 11, 12, 19, 21}},
		{"runtime array of vectors of 3", "array<u32>", "out[0] = in.tail[0].x; out[1] = in.tail[1].x; out[2] = in.tail[i + 1u].z; out[3] = arrayLength(&in.tail); let p = &in.tail[i + 2u]; out[4] = (*p).y; out[5] = in.tail[i][i + 1u];",
			[]uint32{24, 28, 30, 10, 33, 25, 6, 7}},
		{"copies", "array<u32>", "let a = in.a[i + 1u]; var b = in.a; out[0] = a.n; out[1] = a.v.y; out[2] = a.m; out[3] = b[i].v.x; out[4] = b[i + 1u].m; let w = in.w; out[5] = w.x;",
			[]uint32{12, 17, 19, 8, 19, 20, 6, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := structs + "@group(0) @binding(0) var<storage, read> in: B;\n@group(0) @binding(1) var<storage, read_write> out: array<u32>;\n" +
				"@compute @workgroup_size(1)\nfn main(@builtin(local_invocation_index) i: u32) { " + c.copies + " }"
			words := make([]uint32, 64)
			for i := range words {
				words[i] = uint32(i)
			}
			after, findings := run(t, compile(t, text), [3]int{1, 1, 1}, Options{}, words, slices.Clone(words[:8]))
			if !slices.Equal(after[1], c.want) || len(findings) > 0 {
				t.Errorf("got %v, want %v; %v", after[1], c.want, findings)
			}
		})
	}
}

// Halves of words and padding are left alone by stores beside them.
func TestStoresLeaveTheRest(t *testing.T) {
	const text = "enable f16;\nstruct S { h: vec3<f16>, n: u32, g: f16 }\n@group(0) @binding(0) var<storage, read_write> s: array<S>;\n" +
		"@compute @workgroup_size(1)\nfn main(@builtin(local_invocation_index) i: u32) { s[i].h = vec3<f16>(1.0h, 2.0h, 3.0h); s[i + 1u].g = 4.0h; s[i + 1u].n = 7u; s[1].h[i + 1u] = 5.0h; }"
	words := slices.Repeat([]uint32{0xffffffff}, 8)
	after, findings := run(t, compile(t, text), [3]int{1, 1, 1}, Options{}, words)
	// S: h 0 to 6, n 8, g 12, of 16 bytes.
	want := []uint32{0x40003c00, 0xffff4200, 0xffffffff, 0xffffffff, 0x4500ffff, 0xffffffff, 7, 0xffff4400}
	if !slices.Equal(after[0], want) || len(findings) > 0 {
		t.Errorf("got %#x, want %#x; %v", after[0], want, findings)
	}
}
