package wgsl_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// languageWords are words that WGSL, or one of the languages it is translated to, has for itself, a list for each, taken from their
// specifications apart from the one in this package.
var languageWords = map[string]string{
	"WGSL keywords": `alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let loop
		override requires return struct switch true var while`,
	"WGSL reserved": `NULL Self abstract active alignas as asm async attribute auto await become cast catch class co_await common compile
		concept const_cast consteval constexpr constinit crate debugger decltype delete do dynamic_cast enum explicit export extends extern
		external fallthrough filter final finally friend from get goto groupshared highp impl implements import inline instanceof interface
		layout lowp macro match mediump meta mod module move mut mutable namespace new nil noexcept noinline nointerpolation null nullptr of
		operator package packoffset partition pass patch precise precision premerge priv protected pub public readonly ref regardless register
		reinterpret_cast require resource restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super
		target template this thread_local throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use using
		varying virtual volatile wgsl where with writeonly yield`,
	"WGSL types and functions": `bool f32 f16 i32 u32 vec2 vec3 vec4 vec4f mat4x4 mat4x4f mat2x3h array atomic ptr sampler texture_2d abs clamp dot exp fma
		max min select sqrt unpack2x16float workgroupBarrier subgroupAdd bitcast`,
	"GLSL": `attribute varying uniform buffer shared coherent volatile restrict centroid flat smooth noperspective sample in out inout invariant
		precise void double dvec2 ivec2 uvec4 bvec3 mat2 packed input output superp half fixed unsigned long short`,
	"HLSL": `cbuffer tbuffer groupshared vector matrix string dword half float2 float4 int4 uint2 linear centroid sample point line triangle
		row_major column_major packoffset register technique pixelshader vertexshader StructuredBuffer RWBuffer ByteAddressBuffer Texture2D unorm`,
	"MSL and C++": `kernel vertex fragment device constant thread threadgroup metal packed_float3 half2 bfloat char short long int uint float
		double size_t ptrdiff_t class namespace template and or not xor bitand compl signed unsigned nullptr`,
	"what printers make of odd numbers": `inf nan`,
	"the entry point":                   `main`,
}

// Words of other languages are refused as names, and so are names that no WGSL has; a prefix makes any of them one of ours.
func TestReservedNames(t *testing.T) {
	for language, words := range languageWords {
		for _, word := range strings.Fields(words) {
			if n := accepted(word); n != 0 {
				t.Errorf("%s: %d of 4 things may be called %s", language, n, word)
			}
			if n := accepted("t_" + word); n != 4 {
				t.Errorf("%s: %d of 4 things may be called t_%s", language, n, word)
			}
		}
	}
	for _, name := range []string{"__x", "_", "", "größe", "blk.0.attn_q.weight", "token_embd.weight", "a-b", "a b", "1x", "x;", "a\nb", "ffn_gate/up", "x\x00"} {
		if n := accepted(name); n != 0 {
			t.Errorf("%d of 4 things may be called %q", n, name)
		}
	}
}

// accepted counts the kinds of things, of four, that may have a name: a binding, an operand, a local and a function.
func accepted(name string) (n int) {
	for _, build := range []func(m *wgsl.Module){
		func(m *wgsl.Module) { m.Read(name, "f32", 4) },
		func(m *wgsl.Module) { m.Read("all_of_it", "f32", 4); m.Alias(name, "all_of_it", "f32", 0) },
		func(m *wgsl.Module) { m.Compute(1, "", func() { m.Let(name, "1u") }) },
		func(m *wgsl.Module) { m.Func(name, "", "", func() {}) },
	} {
		m := wgsl.New()
		build(m)
		if _, err := m.Text(); err == nil {
			n++
		}
	}
	return n
}

// Two names are never one in the text: a name is taken as it is or refused, and a second one of the same letters is refused.
func TestNamesAreKept(t *testing.T) {
	m := wgsl.New()
	names := []string{"attn_q", "attn_Q", "attn__q", "attn_q_", "attnq", "x1", "x_1", "x01"}
	for _, name := range names {
		m.Read(name, "f32", 4)
	}
	text := mustText(t, m)
	for _, name := range names {
		if strings.Count(text, " "+name+":") != 1 {
			t.Errorf("%s is not declared once in\n%s", name, text)
		}
	}
}
