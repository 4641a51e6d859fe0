package wgsl_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// A mistake comes with file, line and column, and what is outside of the subset is named.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"const a = 1\nconst b = 2;", `k.wgsl:2:1: ";" is missing before "const"`},
		{"const a = 1\nfn f() {}", `k.wgsl:2:1: ";" is missing before "fn"`},
		{"var<private> a: f32\n@compute @workgroup_size(1)\nfn f() { a = 1.0; }", `k.wgsl:2:1: ";" is missing before "@"`},
		{"const a = 1", `k.wgsl:1:12: ";" is missing before the end`},
		{"fn f() {\n  let a = 1 +;\n}", `k.wgsl:2:14: an expression is missing before ";"`},
		{"fn f() {\n  // é\n  let a = 1u + 2i;\n}", `k.wgsl:3:14: + doesn't apply to u32 and i32`},
		{"fn f() {\n\tlet a = b;\n}", `k.wgsl:2:10: b is not declared`},
		{"const a = 1; /* open", "k.wgsl:1:14: the comment has no end"},
		{"fn f() {}\n\n  fn f() {}", `k.wgsl:3:6: f is already declared, at k.wgsl:1:4`},
		{"const a = 1;\n\xff", "k.wgsl:2:1: the text is not UTF-8"},
		{"fn f() { let é = 1; }", `k.wgsl:1:14: no WGSL token that kgen knows starts with "é"`},
		{"fn f() {\n  if true {\n", `k.wgsl:1:8: "{" has no "}"`},
		{"fn f() { g(); }\nfn g() { f(); }", "k.wgsl:1:4: f is declared by means of itself"},
		{"enable f16, clip_distances;", "k.wgsl:1:13: enable clip_distances: extension clip_distances is outside of the compute subset that kgen reads"},
		{"requires foo;", "k.wgsl:1:10: requires foo: language extension foo is outside of the compute subset that kgen reads"},
		{"@vertex fn v() {}", "k.wgsl:1:2: @vertex is outside of the compute subset that kgen reads"},
		{"@group(0) @binding(0) var t: texture_2d<f32>;", "k.wgsl:1:27: t needs an address space; textures and samplers are outside of the compute subset that kgen reads"},
		{"alias M = mat4x4<f32>;", "k.wgsl:1:11: mat4x4: matrices are outside of the compute subset that kgen reads"},
		{"fn f() { let m = mat2x2<f32>(); }", "k.wgsl:1:18: mat2x2: matrices are outside of the compute subset that kgen reads"},
		{"fn f() { let m = mat2x2f(1, 2, 3, 4); }", "k.wgsl:1:18: mat2x2f: matrices are outside of the compute subset that kgen reads"},
		{"alias T = texture_2d<f32>;", "k.wgsl:1:11: texture_2d: textures are outside of the compute subset that kgen reads"},
		{"fn f() { discard; }", "k.wgsl:1:10: discard is outside of the compute subset that kgen reads"},
		{"fn f() { @diagnostic(off, derivative_uniformity) if true { } }", "k.wgsl:1:10: attributes of statements are outside of the compute subset that kgen reads"},
		{"fn f() { if true @diagnostic(off, derivative_uniformity) { } }", "k.wgsl:1:18: attributes of blocks are outside of the compute subset that kgen reads"},
		{"fn f(p: ptr<workgroup, f32>) { }", "k.wgsl:1:9: parameter p can't be a pointer to workgroup memory: naga refuses it"},
		{"fn f() { let array = 1; }", "k.wgsl:1:14: array is a type or built-in function of WGSL: kgen doesn't read files that give it another meaning"},
		{"fn f() { loop { } }", "k.wgsl:1:15: nothing ends this loop"},
		{"var<workgroup> w: array<array<f32, 2147483647>, 2147483647>;", "k.wgsl:1:25: an array of 2147483647 elements of type array<f32, 2147483647> is larger than any buffer"},
		{"const_assert 1 > 2;", "k.wgsl:1:1: const_assert 1 > 2 doesn't hold"},
	} {
		f, err := wgsl.Parse("k.wgsl", c.text)
		var typed *wgsl.Error
		if f != nil || !errors.As(err, &typed) {
			t.Errorf("%s: got %v, want a wgsl.Error", c.text, err)
			continue
		}
		if d := cmp.Diff(c.want, err.Error()); d != "" {
			t.Errorf("%s:\n%s", c.text, d)
		}
		if typed.Outside != strings.HasSuffix(c.want, "outside of the compute subset that kgen reads") {
			t.Errorf("%s: Outside is %v", c.text, typed.Outside)
		}
	}
}

// Nesting ends in an error, not in a stack that overflows.
func TestParseNestsOnlySoDeep(t *testing.T) {
	const n = 100_000
	for _, text := range []string{
		"const a = " + strings.Repeat("(", n) + ";",
		"const a = " + strings.Repeat("~", n) + "1;",
		"fn f() " + strings.Repeat("{", n) + strings.Repeat("}", n),
		"fn f() { " + strings.Repeat("if true { } else ", n) + "{ } }",
		"fn f() { " + strings.Repeat("loop { break; continuing { ", n) + strings.Repeat("} }", n) + " }",
		"alias a = " + strings.Repeat("array<", n) + "u32" + strings.Repeat(", 1>", n) + ";",
	} {
		if _, err := wgsl.Parse("k.wgsl", text); err == nil || !strings.Contains(err.Error(), "deep") {
			t.Errorf("%.20s...: got %v", text, err)
		}
	}
	var doubling strings.Builder
	doubling.WriteString("struct S0 { a: f32 }\n")
	for i := range 60 {
		fmt.Fprintf(&doubling, "struct S%d { a: S%d, b: S%d }\n", i+1, i, i)
	}
	if _, err := wgsl.Parse("k.wgsl", doubling.String()); err == nil || !strings.Contains(err.Error(), "larger than any buffer") {
		t.Errorf("structs of two structs: got %v", err)
	}
	var chain strings.Builder
	for i := range 3000 {
		chain.WriteString("const a" + strings.Repeat("x", i) + " = a" + strings.Repeat("x", i+1) + ";\n")
	}
	if _, err := wgsl.Parse("k.wgsl", chain.String()); err == nil || !strings.Contains(err.Error(), "wait for each other") {
		t.Errorf("a chain of constants: got %v", err)
	}
}
