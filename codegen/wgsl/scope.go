package wgsl

import (
	"sort"
	"strings"
)

// scope holds the names declared in one block.
type scope struct {
	outer *scope
	names map[string]*Symbol
	lazy  func(name string) *Symbol // finds what is declared further on, at module scope
}

func newScope(outer *scope) *scope { return &scope{outer: outer, names: map[string]*Symbol{}} }

func (s *scope) find(name string) *Symbol {
	for ; s != nil; s = s.outer {
		if symbol := s.names[name]; symbol != nil {
			return symbol
		}
		if s.lazy != nil {
			return s.lazy(name)
		}
	}
	return nil
}

// nearest returns up to three visible names and functions that are spelled much like name.
func (s *scope) nearest(name string) []string {
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	seen := map[string]bool{}
	consider := func(other string) {
		far := distance(name, other)
		if far <= max(1, len(name)/3) && !seen[other] {
			seen[other] = true
			found = append(found, candidate{other, far})
		}
	}
	for ; s != nil; s = s.outer {
		for other := range s.names {
			consider(other)
		}
	}
	for other := range builtins {
		consider(other)
	}
	sort.Slice(found, func(i, j int) bool {
		if found[i].far != found[j].far {
			return found[i].far < found[j].far
		}
		return found[i].name < found[j].name
	})
	var names []string
	for _, c := range found[:min(3, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// distance is the number of edits, of one letter each, between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// unusable returns why a name can't be declared, or "".
func unusable(name string) string {
	switch {
	case name == "" || name == "_":
		return "a name is missing"
	case strings.HasPrefix(name, "__"):
		return "names that start with __ are reserved"
	case typeName(name) || name == "bitcast":
		return name + " is a type or built-in function of WGSL"
	case builtins[name] != "":
		return name + " is a built-in function of WGSL"
	case reserved[name]:
		return name + " is reserved in WGSL or in a language that WGSL is translated to"
	}
	for i := range len(name) {
		if c := name[i]; c != '_' && !letter(c) && (i == 0 || !digit(c)) {
			return name + " is not an ASCII identifier"
		}
	}
	return ""
}

// refusedName returns why a file can't declare a name, or "".
func refusedName(name string) string {
	switch {
	case name == "_":
		return "a name is missing"
	case strings.HasPrefix(name, "__"):
		return "names that start with __ are reserved"
	case keywords[name]:
		return name + " is a keyword or reserved word of WGSL"
	case typeName(name) || name == "bitcast" || name == "ptr" || outside(name) != "":
		return name + " is a type or built-in function of WGSL: kgen doesn't read files that give it another meaning"
	}
	return ""
}

// refusedMember returns why a member can't have a name, or "".
func refusedMember(name string) string {
	switch {
	case name == "_" || strings.HasPrefix(name, "__"):
		return "a member can't be called " + name
	case keywords[name]:
		return name + " is a keyword or reserved word of WGSL"
	}
	return ""
}

// outside says what a predeclared type that kgen doesn't read belongs to, or "".
func outside(name string) string {
	switch {
	case len(name) >= 6 && strings.HasPrefix(name, "mat") && digit(name[3]) && name[4] == 'x' && digit(name[5]):
		return "matrices"
	case strings.HasPrefix(name, "texture_"):
		return "textures"
	case name == "sampler" || name == "sampler_comparison":
		return "samplers"
	}
	return ""
}

// keywords holds the keywords and reserved words of WGSL.
var keywords = wordSet(`
	alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let loop
	override requires return struct switch true var while

	NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class co_await
	co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval constexpr constinit
	crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends extern external
	fallthrough filter final finally friend from fxgroup get goto groupshared highp impl implements import inline instanceof
	interface layout lowp macro macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline
	nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset partition pass patch
	pixelfragment precise precision premerge priv protected pub public readonly ref regardless register reinterpret_cast require
	resource restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super target template
	this thread_local throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use using varying
	virtual volatile wgsl where with writeonly yield
`)

// reserved holds the keywords and reserved words of WGSL, and the keywords of GLSL, HLSL, MSL and C++ that have tripped a
// translator.
var reserved = wordSet(`
	alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let loop
	override requires return struct switch true var while

	NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class co_await
	co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval constexpr constinit
	crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends extern external
	fallthrough filter final finally friend from fxgroup get goto groupshared highp impl implements import inline instanceof
	interface layout lowp macro macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline
	nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset partition pass patch
	pixelfragment precise precision premerge priv protected pub public readonly ref regardless register reinterpret_cast require
	resource restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super target template
	this thread_local throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use using varying
	virtual volatile wgsl where with writeonly yield

	texture_1d texture_2d texture_3d texture_cube sampler sampler_comparison ptr mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2
	mat4x3 mat4x4 mat2x2f mat2x3f mat2x4f mat3x2f mat3x3f mat3x4f mat4x2f mat4x3f mat4x4f mat2x2h mat2x3h mat2x4h mat3x2h mat3x3h
	mat3x4h mat4x2h mat4x3h mat4x4h

	in out inout uniform buffer sample flat centroid invariant input output superp long short half fixed unsigned signed int uint
	float double char void uchar ushort ulong ptrdiff_t size_t ssize_t hvec2 hvec3 hvec4 fvec2 fvec3 fvec4 dvec2 dvec3 dvec4 ivec2
	ivec3 ivec4 uvec2 uvec3 uvec4 bvec2 bvec3 bvec4 mat2 mat3 mat4 image1D image2D image3D atomic_uint

	cbuffer tbuffer dword vector matrix string line point triangle lineadj triangleadj row_major linear globallycoherent
	technique technique10 technique11 pixelshader vertexshader BlendState Buffer ByteAddressBuffer RWBuffer StructuredBuffer
	Texture1D Texture2D Texture3D half2 half3 half4 float2 float3 float4 int2 int3 int4 uint2 uint3 uint4 min16float min16uint

	kernel vertex fragment device constant thread threadgroup threadgroup_imageblock ray_data object_data metal packed packed_float2
	packed_float3 packed_float4 texture depth2d bfloat simd and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq private
	assert inf infinity nan INFINITY NAN main
`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
