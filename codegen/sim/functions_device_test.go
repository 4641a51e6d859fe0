package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/internal/randomwgsl"
)

// formula is an expression of a, b, c and d, which are scalars of a type. Its value, of 32 bits, goes to memory as it is.
type formula struct {
	args string // i32, u32, f32 or f16: the type of a to d
	text string
	// Floats lie from low to high, and the result may differ by units in the last place, or absolutely, whichever is more.
	low, high   float64
	last, error float64
	float       bool // the result is one
	fields      int  // the bits of a packed code, each of which may differ by 1; 0 where none may
}

// TestFunctions compares operators and built-in functions with the device's, integers at their edges bit for bit, floats within what
// WGSL allows them.
func TestFunctions(t *testing.T) {
	d, o := openForPrograms(t)
	all := append(integerFormulas(), floatFormulas()...)
	if o.F16 {
		all = append(all, halfFormulas()...)
		if !strings.Contains(d.Device().Name, "llvmpipe") { // that of Mesa 22 ends the process over them
			all = append(all, halfSeries()...)
		}
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && n < 24 && all[n].args == all[0].args && all[n].low == all[0].low && all[n].high == all[0].high {
			n++
		}
		list := all[:n]
		all = all[n:]
		p := formulaProgram(list)
		simulated, difference := simulate(t.Context(), p, sim.Options{})
		if difference != "" {
			t.Fatalf("%s\n%s", difference, p.Text)
		}
		computed, err := compute(t.Context(), d, p)
		if err != nil {
			t.Fatalf("%v\n%s", err, p.Text)
		}
		for j, f := range list {
			compareFormula(t, f, p.Bindings[0].Words, simulated[1], computed[1], j, n)
		}
	}
}

const formulaRuns = 256 // arguments of each formula

func formulaProgram(list []formula) randomwgsl.Program {
	first := list[0]
	r := rand.New(rand.NewPCG(21, 22))
	words := make([]uint32, 4*formulaRuns)
	edges := []uint32{0, 1, 2, 7, 31, 32, 33, 127, 128, 255, 256, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0xffffff80}
	for i := range words {
		switch {
		case first.args[0] == 'f':
			x := first.low + r.Float64()*(first.high-first.low)
			if near := math.Round(x*2)/2 + 0; r.IntN(4) == 0 && near > first.low && near < first.high { // no zero is negative
				x = near
			}
			if step := math.Ldexp(1, math.Ilogb(first.high)-9); first.args == "f16" { // NVIDIA's driver takes f32(f16(x)) for x
				x = max(math.Round(x/step)*step+0, first.low)
			}
			words[i] = math.Float32bits(float32(x))
		case r.IntN(2) == 0:
			words[i] = edges[r.IntN(len(edges))]
		default:
			words[i] = r.Uint32() >> r.IntN(32)
		}
	}
	var b strings.Builder
	load := "bitcast<" + first.args + ">"
	if first.args == "f16" {
		b.WriteString("enable f16;\n")
		load = "f16(bitcast<f32>"
	}
	b.WriteString("@group(0) @binding(0) var<storage, read> input: array<u32>;\n@group(0) @binding(1) var<storage, read_write> output: array<u32>;\n")
	b.WriteString("@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id: vec3<u32>) {\n  let i = id.x;\n")
	for j, name := range "abcd" {
		fmt.Fprintf(&b, "  let %c = %s(input[4u * i + %du])%s;\n", name, load, j, strings.Repeat(")", strings.Count(load, "(")))
	}
	for j, f := range list {
		fmt.Fprintf(&b, "  output[i * %du + %du] = bitcast<u32>(%s);\n", len(list), j, f.text)
	}
	b.WriteString("}\n")
	return randomwgsl.Program{Text: b.String(), Workgroup: [3]int{64, 1, 1}, Grid: [3]int{formulaRuns / 64, 1, 1}, Bindings: []randomwgsl.Binding{
		{Name: "input", Access: "read", Words: words}, {Name: "output", Access: "read_write", Words: make([]uint32, len(list)*formulaRuns)},
	}}
}

func compareFormula(t *testing.T, f formula, input, simulated, computed []uint32, j, n int) {
	t.Helper()
	for i := range formulaRuns {
		got, want := simulated[i*n+j], computed[i*n+j]
		if got == want || f.float && closeEnough(f, got, want) || f.fields > 0 && closeCodes(f.fields, got, want) {
			continue
		}
		var args []any
		for _, w := range input[4*i:][:4] {
			switch f.args {
			case "i32":
				args = append(args, int32(w))
			case "f32", "f16":
				args = append(args, math.Float32frombits(w))
			default:
				args = append(args, w)
			}
		}
		g, w := any(int32(got)), any(int32(want))
		if f.float {
			g, w = math.Float32frombits(got), math.Float32frombits(want)
		}
		t.Errorf("%s of %s %v is %v in the simulator, %v on the device", f.text, f.args, args, g, w)
		return
	}
}

func closeEnough(f formula, got, want uint32) bool {
	x, y := float64(math.Float32frombits(got)), float64(math.Float32frombits(want))
	last := math.Ldexp(1, max(math.Ilogb(x)-23, -149))
	return math.Abs(x-y) <= max(f.error, f.last*last)
}

// closeCodes compares packed codes, as the product that is rounded to one may be rounded before.
func closeCodes(width int, got, want uint32) bool {
	for at := 0; at < 32; at += width {
		off := (got>>at - want>>at) & (1<<width - 1)
		if off > 1 && off < 1<<width-1 {
			return false
		}
	}
	return true
}

func integerFormulas() []formula {
	var list []formula
	add := func(args string, texts ...string) {
		for _, text := range texts {
			list = append(list, formula{args: args, text: text})
		}
	}
	for _, scalar := range []string{"i32", "u32"} {
		add(scalar, "a + b", "a - b", "a * b", "a / b", "a & b", "a | b", "a ^ b", "~a", "min(a, b)", "max(a, b)", "abs(a)", "countLeadingZeros(a)",
			"countOneBits(a)", "countTrailingZeros(a)", "firstLeadingBit(a)", "firstTrailingBit(a)", "reverseBits(a)", "clamp(a, min(b, c), max(b, c))",
			"select(a, b, c < d)", "u32(a < b)", "u32(a <= b)", "u32(a > b)", "u32(a >= b)", "u32(a == b)", "u32(a != b)", "u32(bool(a))", "f32(a)",
			"a << (u32(b) & 31u)", "a >> (u32(b) & 31u)", "extractBits(a, u32(b) & 15u, u32(c) & 15u)", "insertBits(a, d, u32(b) & 15u, u32(c) & 15u)",
			"extractBits(a, u32(b), u32(c))", "insertBits(a, d, u32(b), u32(c))", "dot(vec2(a, b), vec2(c, d))", "dot(vec3(a, b, c), vec3(b, c, d))")
	}
	add("i32", "-a", "sign(a)", "u32(a)", "(a & 65535) % ((b & 255) + 1)", "pack4xI8(vec4(a, b, c, d))", "pack4xI8Clamp(vec4(a, b, c, d))")
	add("u32", "a % b", "i32(a)", "dot4I8Packed(a, b)", "dot4U8Packed(a, b)", "pack4xU8(vec4(a, b, c, d))", "pack4xU8Clamp(vec4(a, b, c, d))")
	for _, c := range "xyzw" {
		add("u32", fmt.Sprintf("unpack4xI8(a).%c", c), fmt.Sprintf("unpack4xU8(a).%c", c))
	}
	float := func(last float64, texts ...string) {
		for _, text := range texts {
			list = append(list, formula{args: "u32", text: text, float: true, last: last})
		}
	}
	float(3, "unpack4x8snorm(a).x", "unpack4x8snorm(a).w", "unpack4x8unorm(a).y", "unpack4x8unorm(a).z", "unpack2x16snorm(a).x", "unpack2x16snorm(a).y",
		"unpack2x16unorm(a).x", "unpack2x16unorm(a).y", "f32(a)")
	float(0, "unpack2x16float(a & 0x7bff7bffu).x", "unpack2x16float(a & 0x7bff7bffu).y")
	return list
}

func floatFormulas() []formula {
	var list []formula
	add := func(low, high, last, error float64, texts ...string) {
		for _, text := range texts {
			list = append(list, formula{"f32", text, low, high, last, error, true, 0})
		}
	}
	exact := func(low, high float64, texts ...string) { add(low, high, 0, 0, texts...) }
	// With rounding in any direction, and fma in two steps or one.
	add(-50, 50, 1, 0, "a + b", "a - b", "a * b")
	add(-50, 50, 2.5, 0, "a / (b + 60.0)")
	add(-50, 50, 0, 1e-3, "fma(a, b, c)", "mix(a, b, c)", "a % (b + 60.0)", "dot(vec2(a, b), vec2(c, d))", "dot(vec4(a, b, c, d), vec4(b, c, d, a))",
		"degrees(a)", "radians(a)", "length(vec3(a, b, c))", "distance(vec2(a, b), vec2(c, d))", "normalize(vec3(a, b, c + 60.0)).y", "cross(vec3(a, b, c), vec3(b, c, d)).x",
		"cross(vec3(a, b, c), vec3(b, c, d)).z", "smoothstep(-20.0, 30.0, a)", "reflect(normalize(vec2(a, b + 60.0)), normalize(vec2(c, d + 60.0))).x",
		"refract(normalize(vec2(a, b + 60.0)), normalize(vec2(c, d + 60.0)), 0.5).y", "refract(normalize(vec2(a, b)), normalize(vec2(d, c)), 2.0).x")
	exact(-50, 50, "-a", "abs(a)", "sign(a)", "ceil(a)", "floor(a)", "round(a)", "trunc(a)", "saturate(a)", "saturate(a / 64.0)", "min(a, b)", "max(a, b)",
		"clamp(a, min(b, c), max(b, c))", "step(a, b)", "select(a, b, c < d)", "modf(a).whole", "modf(a).fract", "ldexp(a, i32(b / 10.0))",
		"faceForward(vec2(a, b), vec2(c, d), vec2(b, a)).x", "f32(a < b)", "f32(a >= b)", "f32(bool(a))")
	exact(0.5, 50, "frexp(a).fract", "f32(frexp(a).exp)")
	add(-50, 50, 0, 1e-6, "fract(a)")
	add(-1e9, 1e9, 0, 0, "f32(i32(a))", "f32(u32(abs(a)))", "f32(u32(a))")
	add(-1e11, 1e11, 0, 0, "f32(i32(a))", "f32(u32(a))")
	add(-60000, 60000, 1<<13, 0, "quantizeToF16(a)") // SwiftShader cuts
	add(-3.14, 3.14, 0, 1.0/2048, "sin(a)", "cos(a)")
	add(-1.4, 1.4, 0, 0.02, "tan(a)")
	add(-0.99, 0.99, 0, 1e-3, "acos(a)", "asin(a)", "atanh(a)")
	add(-20, 20, 0, 2e-3, "atan(a)", "atan2(a, b)", "asinh(a)", "tanh(a)")
	add(1, 20, 0, 1e-3, "acosh(a)")
	add(-10, 10, 23, 0, "exp(a)", "exp2(a)")
	add(-10, 10, 4000, 1e-5, "sinh(a)", "cosh(a)")
	add(2, 100, 3, 0, "log(a)", "log2(a)")
	add(0.5, 2, 0, 1.0/(1<<21), "log(a)", "log2(a)")
	add(0.5, 10, 200, 0, "pow(a, b)")
	add(0.5, 100, 2, 0, "inverseSqrt(a)")
	add(0.5, 100, 4, 0, "sqrt(a)")
	for text, width := range map[string]int{"pack4x8snorm(vec4(a, b, c, d))": 8, "pack4x8unorm(vec4(a, b, c, d))": 8, "pack2x16snorm(vec2(a, b))": 16,
		"pack2x16unorm(vec2(a, b))": 16} {
		list = append(list, formula{args: "f32", text: text, low: -1.5, high: 1.5, fields: width})
	}
	// NVIDIA's driver takes unpack2x16float(pack2x16float(v)) for v, without the rounding; so the codes are compared.
	for _, high := range []float64{1.5, 60000} {
		list = append(list, formula{args: "f32", text: "pack2x16float(vec2(a, b))", low: -high, high: high})
	}
	return list
}

// halfFormulas compute on f16: a unit in its last place is 2^13 of those of f32.
func halfFormulas() []formula {
	var list []formula
	add := func(low, high, last, error float64, texts ...string) {
		list = append(list, ofHalf(low, high, last, error, texts...)...)
	}
	add(-50, 50, 1, 0, "a + b", "a - b", "a * b")
	add(-50, 50, 0, 4, "fma(a, b, c)", "dot(vec2(a, b), vec2(c, d))")
	add(-50, 50, 2.5, 0, "a / (b + 60.0h)")
	add(-50, 50, 0, 0, "-a", "abs(a)", "sign(a)", "ceil(a)", "floor(a)", "round(a)", "trunc(a)", "saturate(a)", "min(a, b)", "max(a, b)",
		"clamp(a, min(b, c), max(b, c))", "step(a, b)", "select(a, b, c < d)", "modf(a).whole", "modf(a).fract")
	add(-50, 50, 0, 1.0/512, "fract(a)")
	add(0.5, 100, 4, 0, "sqrt(a)", "inverseSqrt(a)")
	for _, text := range []string{"f32(i32(a))", "f32(u32(a))", "f32(f16(i32(a)))"} {
		list = append(list, formula{args: "f16", text: text, low: -60000, high: 60000, float: true})
	}
	return list
}

func halfSeries() []formula {
	return slices.Concat(ofHalf(-3, 3, 0, 1.0/128, "sin(a)", "cos(a)"), ofHalf(-5, 5, 11, 0, "exp(a)", "exp2(a)"), ofHalf(2, 100, 3, 0, "log(a)", "log2(a)"))
}

func ofHalf(low, high, last, error float64, texts ...string) []formula {
	var list []formula
	for _, text := range texts {
		list = append(list, formula{args: "f16", text: "f32(" + text + ")", low: low, high: high, last: last * (1 << 13), error: error, float: true})
	}
	return list
}
