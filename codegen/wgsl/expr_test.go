package wgsl_test

import (
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// typed lists expressions with their types, and how they print where that differs.
var typed = []struct{ expr, typ, prints string }{
	// Literals.
	{"1", "i32", ""},
	{"1u", "u32", ""},
	{"0x0F0f0f0fu", "u32", ""},
	{"2147483647", "i32", ""},
	{"-2147483648", "i32", ""},
	{"4294967295u", "u32", ""},
	{"1.5", "f32", ""},
	{"1.0f", "f32", ""},
	{"2f", "f32", "2.0f"},
	{"1.", "f32", "1.0"},
	{".5", "f32", "0.5"},
	{"1e-5", "f32", "1e-05"},
	{"1e5", "f32", "100000.0"},
	{"0x1p-3", "f32", "0.125"},
	{"0.333333333333333", "f32", "0.33333334"},
	{"3.4028235e38", "f32", "3.4028234663852886e+38"},
	{"1e-45", "f32", "1e-45"},
	{"-0.0", "f32", ""},
	{"true", "bool", ""},
	{"columns", "u32", ""},
	{"half_up", "f32", ""},

	// Abstract numbers take the type of the other side.
	{"u + 1", "u32", ""},
	{"1 + i", "i32", ""},
	{"f * 2", "f32", ""},
	{"f * (1.0 / 3.0)", "f32", ""},
	{"v4 * 2", "vec4<f32>", ""},
	{"2.5 - v2", "vec2<f32>", ""},
	{"vec2(1, 2.0) + v2", "vec2<f32>", ""},
	{"1 / 2 + 0.5", "f32", "0 + 0.5"},
	{"min(u, 3)", "u32", ""},
	{"max(1, 2) * u", "u32", ""},
	{"clamp(f, 0, 1)", "f32", ""},
	{"select(0, u, c)", "u32", ""},
	{"1 << u", "i32", ""},
	{"u << 1", "u32", ""},

	// Operators.
	{"u & 15u", "u32", ""},
	{"(u4.x >> 4u) & 0x0fu", "u32", ""},
	{"~u ^ 1u", "u32", ""},
	{"-i", "i32", ""},
	{"!c", "bool", ""},
	{"c && u < 3u && !c", "bool", ""},
	{"(c || c) && c", "bool", ""},
	{"u4 == vec4(0u)", "vec4<bool>", ""},
	{"all(v4 < vec4(1.0))", "bool", ""},
	{"u4 * 3u", "vec4<u32>", ""},
	{"u4 >> vec4(4u)", "vec4<u32>", ""},
	{"c & c", "bool", ""},
	{"f % 2.0", "f32", ""},

	// Parentheses: only those that the grammar needs.
	{"((u + (u * 2u)))", "u32", "u + u * 2u"},
	{"(u + u) * 2u", "u32", ""},
	{"f - (f - f)", "f32", ""},
	{"(f - f) - f", "f32", "f - f - f"},
	{"f + (f + f)", "f32", ""},
	{"f / (f * f)", "f32", ""},
	{"(u & 1u) == 1u", "bool", ""},
	{"(u + 1u) << 2u", "u32", ""},
	{"(u << 1u) + 1u", "u32", "(u << 1u) + 1u"},
	{"(u & 3u) | (u & 12u)", "u32", ""},
	{"(u & 3u) & u", "u32", "u & 3u & u"},
	{"-(-f)", "f32", ""},
	{"-(f + f)", "f32", ""},
	{"f - -f", "f32", ""},
	{"!(u < 2u)", "bool", ""},
	{"(u < 2u) == c", "bool", ""},
	{"(v4 * 2.0).x", "f32", ""},
	{"(-v4).x", "f32", ""},

	// Members, elements and constructors.
	{"v4.xy", "vec2<f32>", ""},
	{"v4.xyzw.w", "f32", ""},
	{"v4.rgb", "vec3<f32>", ""},
	{"u4[u & 3u]", "u32", ""},
	{"v4[3]", "f32", ""},
	{"list[i]", "f32", ""},
	{"part[u]", "f32", ""},
	{"limits[1].w", "u32", ""},
	{"codes[u][1]", "u32", ""},
	{"vec4f(1.0)", "vec4<f32>", ""},
	{"vec4u(u4.xy, 1, 2)", "vec4<u32>", ""},
	{"vec4<f32>(u4)", "vec4<f32>", ""},
	{"vec3(v2, 1)", "vec3<f32>", ""},
	{"f32(u)", "f32", ""},
	{"u32(-1i)", "u32", ""},
	{"i32(3.7)", "i32", ""},
	{"u32(c)", "u32", ""},
	{"bool(u)", "bool", ""},
	{"array<f32, 2>(1, f)[u & 1u]", "f32", ""},
	{"vec4<u32>()", "vec4<u32>", ""},
	{"bitcast<f32>(u)", "f32", ""},
	{"bitcast<vec4<i32>>(u4)", "vec4<i32>", ""},
	{"bitcast<u32>(1.0)", "u32", ""},

	// Functions.
	{"square(f + 1)", "f32", ""},
	{"fma(f, 2, 1)", "f32", ""},
	{"fma(v4, v4, v4)", "vec4<f32>", ""},
	{"sqrt(2)", "f32", ""},
	{"inverseSqrt(f)", "f32", ""},
	{"tanh(v2)", "vec2<f32>", ""},
	{"dot(v4, v4)", "f32", ""},
	{"dot(i4, i4)", "i32", ""},
	{"length(v2)", "f32", ""},
	{"select(v4, v4, c)", "vec4<f32>", ""},
	{"select(v4, v4, v4 > vec4(0.0))", "vec4<f32>", ""},
	{"dot4I8Packed(u, 0x01010101u)", "i32", ""},
	{"dot4U8Packed(u, u)", "u32", ""},
	{"unpack4xI8(u)", "vec4<i32>", ""},
	{"pack4xU8(u4)", "u32", ""},
	{"pack4xI8Clamp(i4)", "u32", ""},
	{"unpack2x16float(u).y", "f32", ""},
	{"pack2x16float(v2)", "u32", ""},
	{"countOneBits(u)", "u32", ""},
	{"extractBits(u, 4, 4)", "u32", ""},
	{"insertBits(i, 1, 0u, 4u)", "i32", ""},
	{"subgroupAdd(f)", "f32", ""},
	{"subgroupMax(v4)", "vec4<f32>", ""},
	{"subgroupBroadcast(f, 0)", "f32", "subgroupBroadcast(f, 0u)"},
	{"subgroupShuffle(f, u ^ 1)", "f32", ""},
	{"subgroupShuffleXor(u, 2 * 2)", "u32", "subgroupShuffleXor(u, 4u)"},
	{"subgroupBallot(c)", "vec4<u32>", ""},
	{"workgroupUniformLoad(&best)", "u32", ""},
	{"workgroupUniformLoad(&part[3])", "f32", ""},
	{"atomicLoad(&counts[1])", "u32", ""},
	{"atomicAdd(&tally[0], 1)", "u32", ""},

	// Integer arithmetic on literals that says nothing goes; floats and named constants stay.
	{"u * 1u", "u32", "u"},
	{"1 * u", "u32", "u"},
	{"u + 0u", "u32", "u"},
	{"0u + u", "u32", "u"},
	{"u / 1u", "u32", "u"},
	{"u % 1u", "u32", "0u"},
	{"u * 0u", "u32", "0u"},
	{"atomicLoad(&counts[0]) % 1u", "u32", "atomicLoad(&counts[0]) % 1u"},
	{"u << 0u", "u32", "u"},
	{"u * (3u * 4u)", "u32", "u * 12u"},
	{"u + 1u + 2u", "u32", "u + 3u"},
	{"u - 5u + 7u", "u32", "u + 2u"},
	{"u - 7u + 5u", "u32", "u - 2u"},
	{"u - 5u + 5u", "u32", "u"},
	{"u + 4294967295u + 1u", "u32", "u + 4294967295u + 1u"},
	{"u + columns * 1u", "u32", "u + columns"},
	{"f * 1.0 + 0.0", "f32", "f * 1.0 + 0.0"},
	{"3u - 4u", "u32", ""},
	{"0x0fu + 0x10u", "u32", "0x0fu + 0x10u"},
	{"u4 * 1u", "vec4<u32>", "u4 * 1u"},
	{"2 * 3 + u", "u32", "6 + u"},

	// Operands are places in bindings.
	{"a[u]", "u32", "arena[u]"},
	{"b[u]", "f32", "bitcast<f32>(arena[u + 64u])"},
	{"b[i + 1]", "f32", "bitcast<f32>(arena[i + 65i])"},
	{"b[2]", "f32", "bitcast<f32>(arena[66])"},
	{"b[2u]", "f32", "bitcast<f32>(arena[66u])"},
	{"b[u * columns]", "f32", "bitcast<f32>(arena[u * columns + 64u])"},
	{"w[u].y", "f32", "bitcast<vec4<f32>>(codes[u + 8u]).y"},
	{"a[a[u]]", "u32", "arena[arena[u]]"},
}

func TestExpressions(t *testing.T) {
	for _, c := range typed {
		m := kernel(func(m *wgsl.Module) { m.Let("result", c.expr) })
		if _, err := m.Text(); err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		d := last(m).(*wgsl.Declare)
		if got := d.Symbol.Type.String(); got != c.typ {
			t.Errorf("%s has type %s, want %s", c.expr, got, c.typ)
		}
		want := c.prints
		if want == "" {
			want = c.expr
		}
		if got := wgsl.FormatExpr(d.Init); got != want {
			t.Errorf("%s prints as %s, want %s", c.expr, got, want)
		}
		wgsl.Walk(d.Init, func(e wgsl.Expr) { // what a simulator relies on
			info := e.Expression()
			if s, ok := info.Type.(wgsl.Scalar); info.Type == nil || info.Type == wgsl.Bad ||
				ok && (s == wgsl.AbstractInt || s == wgsl.AbstractFloat) && info.Value.Kind == wgsl.NoValue {
				t.Errorf("%s: %s is left with type %v and no value", c.expr, wgsl.FormatExpr(e), info.Type)
			}
		})
	}
}

func TestConstants(t *testing.T) {
	for _, c := range []struct {
		expr string
		want wgsl.Value
	}{
		{"7 / 2", wgsl.Value{Kind: wgsl.IntValue, Int: 3}},
		{"-7 % 4", wgsl.Value{Kind: wgsl.IntValue, Int: -3}},
		{"columns / 32u", wgsl.Value{Kind: wgsl.IntValue, Int: 3}},
		{"1u - 2u", wgsl.Value{Kind: wgsl.IntValue, Int: 1<<32 - 1}},
		{"2147483647i * 2i", wgsl.Value{Kind: wgsl.IntValue, Int: -2}},
		{"~0u", wgsl.Value{Kind: wgsl.IntValue, Int: 1<<32 - 1}},
		{"1u << 31", wgsl.Value{Kind: wgsl.IntValue, Int: 1 << 31}},
		{"u32(-1i)", wgsl.Value{Kind: wgsl.IntValue, Int: 1<<32 - 1}},
		{"0.1", wgsl.Value{Kind: wgsl.FloatValue, Float: 0.1}},
		{"0.1f", wgsl.Value{Kind: wgsl.FloatValue, Float: float64(float32(0.1))}},
		{"bitcast<f32>(0x3f800000u)", wgsl.Value{Kind: wgsl.FloatValue, Float: 1}},
		{"min(3, 2)", wgsl.Value{Kind: wgsl.IntValue, Int: 2}},
		{"max(3, 2)", wgsl.Value{Kind: wgsl.IntValue, Int: 3}},
		{"abs(-2.5)", wgsl.Value{Kind: wgsl.FloatValue, Float: 2.5}},
		{"clamp(5u, 1u, 4u)", wgsl.Value{Kind: wgsl.IntValue, Int: 4}},
		{"3 > 2 && !(1.5 >= 2)", wgsl.Value{Kind: wgsl.BoolValue, Int: 1}},
	} {
		m := kernel(func(m *wgsl.Module) { m.Const("result", c.expr) })
		mustText(t, m)
		if got := last(m).(*wgsl.Declare).Symbol.Value; got != c.want {
			t.Errorf("%s = %v, want %v", c.expr, got, c.want)
		}
	}
}
