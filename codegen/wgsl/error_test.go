package wgsl_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// mistake is a kernel with one mistake. tools says that Tint and naga have to refuse its text too: where the rule is kgen's own, the
// text can't be printed, or only one of them knows the rule, it is empty.
type mistake struct {
	at      wgsl.Pos
	column  int
	message string
	tools   string
	build   func(m *wgsl.Module)
}

func mistakes() []mistake {
	type M = *wgsl.Module
	const both, tint, naga = "tint naga", "tint", "naga"
	return []mistake{
		// Text that doesn't parse.
		{line(), 5, "an expression is missing before the end", "", func(m M) { m.Let("r", "u + ") }},
		{line(), 3, `"u" is not expected here`, "", func(m M) { m.Let("r", "u u") }},
		{line(), 7, `")" is missing before the end`, "", func(m M) { m.Let("r", "(u + u") }},
		{line(), 3, "no WGSL token starts with", "", func(m M) { m.Let("r", "u $ u") }},
		{line(), 7, "== needs parentheses", "", func(m M) { m.Let("r", "u & u == u") }},
		{line(), 7, "an operand of & must be in parentheses", "", func(m M) { m.Let("r", "u + u & u") }},
		{line(), 8, "&& and || don't mix", "", func(m M) { m.Let("r", "c && c || c") }},
		{line(), 7, "comparisons don't chain", "", func(m M) { m.Let("r", "u < u < u") }},
		{line(), 8, "+ needs parentheses", "", func(m M) { m.Let("r", "u << u + u") }},
		{line(), 1, "an integer can't start with 0", "", func(m M) { m.Let("r", "012") }},
		{line(), 0, "the arguments don't fit", "", func(m M) { m.Let("r", "%du + %du", 1) }},

		// Names.
		{line(), 5, "count is not declared; near: counts", both, func(m M) { m.Let("r", "1 + count") }},
		{line(), 1, "subgroupAd is not declared; near: subgroupAdd", both, func(m M) { m.Let("r", "subgroupAd(f)") }},
		{line(), 1, "+Inf", "", func(m M) { m.Let("r", "%v", math.Inf(1)) }},
		{line(), 1, "NaN is not a WGSL constant", both, func(m M) { m.Let("r", "%v", math.NaN()) }},
		{line(), 0, "u is already declared in this scope, at wgsl/kernel_test.go:", both, func(m M) { m.Let("u", "1") }},
		{line(), 0, "lane is already declared", both, func(m M) { m.Var("lane", "1") }},
		{line(), 0, "packed is reserved", "", func(m M) { m.Let("packed", "1") }},
		{line(), 0, "from is reserved", tint, func(m M) { m.Let("from", "1") }},
		{line(), 0, "names that start with __", tint, func(m M) { m.Let("__x", "1") }},
		{line(), 0, "not an ASCII identifier", "", func(m M) { m.Let("größe", "1") }},
		{line(), 0, "not an ASCII identifier", both, func(m M) { m.Let("blk.0", "1") }},
		{line(), 0, "min is a built-in function", "", func(m M) { m.Let("min", "1") }},
		{line(), 1, "square is a function", both, func(m M) { m.Let("r", "square") }},
		{line(), 1, "u is a let, not a function", both, func(m M) { m.Let("r", "u(1)") }},
		{line(), 5, "result is not declared", both, func(m M) { m.If("c", func() { m.Let("result", "1") }); m.Let("s", "u + result") }},

		// Types.
		{line(), 3, "+ doesn't apply to u32 and i32", both, func(m M) { m.Let("r", "u + i") }},
		{line(), 3, "* doesn't apply to f32 and u32", both, func(m M) { m.Let("r", "f * u") }},
		{line(), 4, "+ doesn't apply to vec2<f32> and vec4<f32>", both, func(m M) { m.Let("r", "v2 + v4") }},
		{line(), 3, "&& doesn't apply to u32 and bool", both, func(m M) { m.Let("r", "u && c") }},
		{line(), 3, "<< doesn't apply to u32 and i32", both, func(m M) { m.Let("r", "u << i") }},
		{line(), 3, "+ doesn't apply to u32 and abstract float", both, func(m M) { m.Let("r", "u + 1.5") }},
		{line(), 1, "- doesn't apply to u32", both, func(m M) { m.Let("r", "-u") }},
		{line(), 1, "! doesn't apply to u32", both, func(m M) { m.Let("r", "!u") }},
		{line(), 1, "r must be u32, not f32", both, func(m M) { m.Let("r: u32", "f") }},
		{line(), 1, "a condition must be bool, not u32", both, func(m M) { m.If("u", func() {}) }},
		{line(), 1, "the value stored must be f32, not u32", both, func(m M) { m.Set("y[u]", "u") }},
		{line(), 1, "+= doesn't apply to f32 and u32", both, func(m M) { m.Add("y[u]", "u") }},
		{line(), 3, "an index is i32 or u32, not f32", both, func(m M) { m.Set("y[f]", "f") }},
		{line(), 2, "f32 can't be indexed", both, func(m M) { m.Let("r", "f[0]") }},
		{line(), 4, "vec2<f32> has no member z", both, func(m M) { m.Let("r", "v2.z") }},
		{line(), 3, "f32 has no member x", both, func(m M) { m.Let("r", "f.x") }},
		{line(), 1, "fma takes 3 arguments, not 2", both, func(m M) { m.Let("r", "fma(f, f)") }},
		{line(), 1, "the arguments of max have types u32 and i32", both, func(m M) { m.Let("r", "max(u, i)") }},
		{line(), 1, "exp doesn't take u32", both, func(m M) { m.Let("r", "exp(u)") }},
		{line(), 8, "argument v of square must be f32, not u32", both, func(m M) { m.Let("r", "square(u)") }},
		{line(), 1, "vec4<f32> takes 4 components, not 3", both, func(m M) { m.Let("r", "vec4<f32>(v2, 1.0)") }},
		{line(), 11, "a component of vec2<u32> must be u32, not f32", both, func(m M) { m.Let("r", "vec2<u32>(f, 1)") }},
		{line(), 1, "bitcast from vec2<f32> to u32", tint, func(m M) { m.Let("r", "bitcast<u32>(v2)") }},
		{line(), 1, "array x must be indexed", "", func(m M) { m.Let("r", "x + f") }},
		{line(), 1, "array x must be indexed", "", func(m M) { m.Let("r", "x") }},
		{line(), 1, "operand within binding arena: it must be indexed", "", func(m M) { m.Let("r", "b") }},
		{line(), 6, "an atomic is read with atomicLoad", both, func(m M) { m.Let("r", "tally[0]") }},
		{line(), 1, "a pointer can only be an argument", "", func(m M) { m.Let("r", "&best") }},
		{line(), 1, "the call returns nothing", both, func(m M) { m.Let("r", "workgroupBarrier()") }},
		{line(), 1, "the value of max is not used", both, func(m M) { m.Call("max(u, u)") }},
		{line(), 22, "the lane of subgroupBroadcast must be a constant", tint, func(m M) { m.Let("r", "subgroupBroadcast(f, u)") }},
		{line(), 1, "const r needs a constant expression", both, func(m M) { m.Const("r", "u") }},
		{line(), 0, "the loop variable k is f32", "", func(m M) { m.Loop("k", "0.5", 2, 1, nil) }},
		{line(), 0, "break or continue outside of a loop", both, func(m M) { m.Break() }},
		{line(), 0, "main returns nothing", both, func(m M) { m.Return("u") }},

		// Places.
		{line(), 1, "u is a let and can't be assigned to", both, func(m M) { m.Set("u", "1") }},
		{line(), 1, "columns is a const and can't", both, func(m M) { m.Set("columns", "1") }},
		{line(), 1, "lane is a parameter and can't", both, func(m M) { m.Add("lane", "1") }},
		{line(), 2, "binding x is read-only", both, func(m M) { m.Set("x[0]", "1") }},
		{line(), 2, "binding codes is read-only", both, func(m M) { m.Set("w[0]", "v4") }},
		{line(), 7, "binding limits is read-only", both, func(m M) { m.Set("limits[0]", "u4") }},
		{line(), 5, "only one component can be assigned", naga, func(m M) { m.Set("acc.xy", "v2") }},
		{line(), 3, "this can't be assigned to", both, func(m M) { m.Set("u + 1", "u") }},
		{line(), 6, "an atomic is written with atomicStore", tint, func(m M) { m.Set("tally[0]", "1u") }},

		// Constants.
		{line(), 1, "out of the range of u32", both, func(m M) { m.Let("r", "4294967296u") }},
		{line(), 1, "out of the range of i32", tint, func(m M) { m.Let("r", "2147483648") }},
		{line(), 1, "out of the range of f32", both, func(m M) { m.Let("r", "1e39") }},
		{line(), 6, "out of the range of f32", both, func(m M) { m.Let("r", "3e38 * 10.0f") }},
		{line(), 1, "out of the range of f16", "", func(m M) { m.Let("r", "65520.0h") }},
		{line(), 21, "out of the range of abstract int", both, func(m M) { m.Let("r", "9223372036854775807 + 1") }},
		{line(), 13, "out of the range of u32", tint, func(m M) { m.Let("r", "4294967295u << 1") }},
		{line(), 5, "out of the range of u32", both, func(m M) { m.Let("r", "u + -1") }},
		{line(), 3, "division by zero", tint, func(m M) { m.Let("r", "u / 0u") }},
		{line(), 3, "division by zero", tint, func(m M) { m.Let("r", "u % (columns - 96u)") }},
		{line(), 5, "division by zero", both, func(m M) { m.Let("r", "1.0 / 0.0") }},
		{line(), 1, "infinite or not a number", tint, func(m M) { m.Let("r", "bitcast<f32>(0x7f800000u)") }},
		{line(), 1, "infinite or not a number", tint, func(m M) { m.Let("r", "log(0.0)") }},
		{line(), 6, "a shift by 32 of u32", both, func(m M) { m.Let("r", "u << 32u") }},
		{line(), 3, "index 64 is outside of array<f32, 64>", both, func(m M) { m.Let("r", "x[64]") }},
		{line(), 4, "index 4 is outside of vec4<f32>", both, func(m M) { m.Let("r", "v4[4]") }},
		{line(), 6, "index -1 is outside", both, func(m M) { m.Let("r", "list[-1]") }},
		{line(), 3, "index 32 is outside of operand b of 32 elements", "", func(m M) { m.Let("r", "b[32]") }},
		{line(), 3, "index 56 is outside of operand w", both, func(m M) { m.Let("r", "w[56u]") }},

		// Uniformity, which naga doesn't check.
		{line(), 1, "control flow depends on u < 3u (lane is local_invocation_index) at ", tint, func(m M) { m.If("u < 3u", func() { m.Barrier() }) }},
		{line(), 1, "control flow depends on c ", tint, func(m M) { m.If("c", func() { m.Return("") }); m.Barrier() }},
		{line(), 1, "subgroupAdd must be reached by all", tint, func(m M) { m.Loop("k", "lane", 64, 32, func() { m.Let("r", "subgroupAdd(f)") }) }},
		{line(), 1, "part is workgroup memory", tint, func(m M) { m.While("part[0] > 0.0", func() { m.Barrier() }) }},
		{line(), 1, "y is read-write storage", tint, func(m M) { m.If("y[0] > 0.0", func() { m.Barrier() }) }},
		{line(), 1, "x[lane]", tint, func(m M) { m.If("x[lane] > 0.0", func() { m.Barrier() }) }},
		{line(), 1, "control flow depends on c ", tint, func(m M) { m.Loop("k", "0", 4, 1, func() { m.Barrier(); m.If("c", func() { m.Break() }) }) }},
		{line(), 1, "control flow depends on c ", tint, func(m M) { m.Loop("k", "0", 4, 1, func() { m.If("c", func() { m.Continue() }); m.Barrier() }) }},
		{line(), 1, "control flow depends on n > 0u ", tint, func(m M) { m.If("c", func() { m.Set("n", "1") }); m.If("n > 0u", func() { m.Barrier() }) }},
		{line(), 6, "subgroupAny must be reached", tint, func(m M) { m.Let("r", "c && subgroupAny(c)") }},
		{line(), 1, "must have the same argument in all invocations", tint, func(m M) { m.Let("r", "subgroupShuffleXor(f, lane)") }},
		{line(), 1, "must have the same argument in all invocations", tint, func(m M) { m.Let("r", "workgroupUniformLoad(&part[lane])") }},
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range mistakes() {
		m := kernel(c.build)
		_, err := m.Text()
		var e *wgsl.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: no error, want %q", c.at, c.message)
			continue
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one error: %v", c.at, err)
		}
		if !strings.Contains(e.Error(), c.message) {
			t.Errorf("%s: got %q, want %q", c.at, e.Error(), c.message)
		}
		if e.Pos.File != c.at.File || e.Pos.Line != c.at.Line {
			t.Errorf("%s: reported at %s: %v", c.at, e.Pos, e)
		}
		if c.column > 0 && e.Pos.Column != c.column {
			t.Errorf("%s: reported at column %d, want %d: %v", c.at, e.Pos.Column, c.column, e)
		}
	}
}

// Mistakes in declarations.
func TestDeclarationMistakes(t *testing.T) {
	type M = *wgsl.Module
	for _, c := range []struct {
		message string
		build   func(m M)
	}{
		{"0 elements of type f32", func(m M) { m.Read("x", "f32", 0) }},
		{"must be a multiple of 16 bytes, not f32", func(m M) { m.Uniform("x", "f32", 4) }},
		{"bool can't be the element of binding x", func(m M) { m.Read("x", "bool", 4) }},
		{"atomic<u32> can't be the element", func(m M) { m.Read("x", "atomic<u32>", 4) }},
		{`"float" is not a type`, func(m M) { m.Read("x", "float", 4) }},
		{"x is already declared", func(m M) { m.Read("x", "f32", 4); m.ReadWrite("x", "f32", 4) }},
		{"sampler is reserved", func(m M) { m.Read("sampler", "f32", 4) }},
		{"z is not a binding", func(m M) { m.Alias("o", "z", "f32", 0) }},
		{"is outside of binding x", func(m M) { m.Read("x", "f32", 4); m.Alias("o", "x", "f32", 4) }},
		{"is outside of binding x", func(m M) { m.Read("x", "f32", 4); m.Operand("o", "x", "f32", 2, 3) }},
		{"can't be vec4<f32> in binding x", func(m M) { m.Read("x", "f32", 4); m.Alias("o", "x", "vec4<f32>", 0) }},
		{"pointers can't be passed", func(m M) { m.Func("f", "p: ptr<storage, f32>", "", nil) }},
		{"needs @builtin(...)", func(m M) { m.Compute(1, "x: u32", nil) }},
		{"workgroup_id is vec3<u32>, not u32", func(m M) { m.Compute(1, "@builtin(workgroup_id) group: u32", nil) }},
		{"position is not a built-in value", func(m M) { m.Compute(1, "@builtin(position) at: u32", nil) }},
		{"f must end in a return", func(m M) { m.Func("f", "v: f32", "f32", func() { m.If("v > 0.0", func() { m.Return("v") }) }) }},
		{"f must return f32", func(m M) { m.Func("f", "", "f32", func() { m.Return("") }) }},
		{"main is already declared", func(m M) { m.Compute(1, "", nil); m.Compute(1, "", nil) }},
		{"f is not declared", func(m M) { m.Func("f", "v: f32", "f32", func() { m.Return("f(v)") }) }},
		{"f is already declared", func(m M) { m.Func("f", "", "", nil); m.Func("f", "", "", nil) }},
		{"a workgroup of 0 by 1 by 1", func(m M) { m.Compute(0, "", nil) }},
		{"a statement outside of a function", func(m M) { m.Set("x", "1"); m.Let("y", "1") }},
		{"must be declared before the function", func(m M) { m.Compute(1, "", func() { m.Workgroup("w", "u32", 1) }) }},
		{"a local name hides", func(m M) {
			m.Read("x", "f32", 4)
			m.Alias("o", "x", "f32", 1)
			m.Compute(1, "", func() { m.Let("x", "1"); m.Let("r", "o[0]") })
		}},
	} {
		m := wgsl.New()
		c.build(m)
		if _, err := m.Text(); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("got %v, want %q", err, c.message)
		} else if !strings.Contains(err.Error(), "wgsl/error_test.go:") {
			t.Errorf("no position: %v", err)
		}
	}
}

// A mistake in unrolled code is reported once, and no more than ten altogether.
func TestErrorsAreCollected(t *testing.T) {
	m := kernel(func(m *wgsl.Module) {
		for range 5 {
			m.Let("r", "u + missing")
		}
	})
	_, err := m.Text()
	if n := strings.Count(err.Error(), "missing is not declared"); n != 1 {
		t.Errorf("reported %d times: %v", n, err)
	}
	m = kernel(func(m *wgsl.Module) {
		for i := range 30 {
			m.Let(fmt.Sprint("r", i), "missing%d", i)
		}
	})
	_, err = m.Text()
	if n := strings.Count(err.Error(), "\n") + 1; n != 10 {
		t.Errorf("%d errors, want 10: %v", n, err)
	}
}
