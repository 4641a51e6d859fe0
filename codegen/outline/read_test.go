package outline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/outline"
)

// line is an entry point on one line, as the tables below have it.
func line(e outline.Entry) string {
	s := fmt.Sprintf("%s %d+%d %v %d", e.Name, e.Count(outline.Storage), e.Count(outline.Uniform), e.Workgroup, e.WorkgroupBytes)
	for _, b := range e.Bindings {
		s += fmt.Sprintf(" %s:%d", b.Name, b.Bytes)
	}
	for _, u := range append(append([]string{}, e.Unknown...), e.Assumed...) {
		s += "; " + u
	}
	return s
}

const buffers = `
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<vec4<f32>, 8>;
@group(1) @binding(0) var<uniform> c: vec3f;
var<workgroup> tile: array<f32, 64>;
var<workgroup> flag: bool;
`

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"unused ones don't count", buffers + "@compute @workgroup_size(64) fn main() { b[0] = vec4(c.x); }", "main 1+1 [64 1 1] 0 b:128 c:12"},
		{"by way of functions, declared later", buffers + `@compute @workgroup_size(8, 4,) fn main() { one(); }
fn one() { two(); } fn two() { tile[0] = a[0]; flag = true; }`, "main 1+0 [8 4 1] 272 a:4"},
		{"a phony use counts", buffers + "@compute @workgroup_size(1) fn main() { _ = &a; }", "main 1+0 [1 1 1] 0 a:4"},
		{"an unreached use counts", buffers + "@compute @workgroup_size(1) fn main() { if false { flag = true; } }", "main 0+0 [1 1 1] 16"},
		{"several share bindings", buffers + `@workgroup_size(2) @compute fn one() { b[0] = vec4(a[0]); }
@compute @workgroup_size(3) fn two() { tile[0] = a[1]; }`, "one 2+0 [2 1 1] 0 a:4 b:128\ntwo 1+0 [3 1 1] 256 a:4"},
		{"parameters and locals hide", buffers + `fn f(a: f32, x: f32) -> f32 { return a; }
@compute @workgroup_size(1) fn main() { let b = f(1.0, 2.0); { var c = b; let tile = c; } var<function> flag = false; flag = true; }`,
			"main 0+0 [1 1 1] 0"},
		{"only from their statement on", buffers + "@compute @workgroup_size(1) fn main() { let a = a[0]; let c = a; }", "main 1+0 [1 1 1] 0 a:4"},
		{"only in their block", buffers + "@compute @workgroup_size(1) fn main() { { let a = 1; } b[0] = vec4(a[0]); }", "main 2+0 [1 1 1] 0 a:4 b:128"},
		{"a loop's variable", buffers + "@compute @workgroup_size(1) fn main() { for (var a = 0; a < 1; a++) { let x = a; } b[0].x = 1; }", "main 1+0 [1 1 1] 0 b:128"},
		{"after the loop it is gone", buffers + "@compute @workgroup_size(1) fn main() { for (var a = 0; a < 1; a++) { } _ = a[0]; }", "main 1+0 [1 1 1] 0 a:4"},
		{"members and attributes are no names", buffers + `struct S { a: f32, b: f32 }
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) i: vec3u) { var s: S; s.a = s . b; @diagnostic(off, tile) if true { } }`, "main 0+0 [1 1 1] 0"},
		{"comments", buffers + `// @group(0) @binding(5) var<storage> x: array<f32>; @compute @workgroup_size(9) fn no() {}
/* /* a[0] */ @compute */ @compute /* */ @workgroup_size(1) fn main() { // a[0]
 /* b[0] */ }`, "main 0+0 [1 1 1] 0"},
		{"attributes in any order, blanks anywhere", `@binding ( 3 ) @group( 0 ) var < storage , read_write > o : array < u32 , 4 > ;
@ workgroup_size ( 4u , 2 , 1i ) @ compute
fn main ( ) { o [ 0 ] = 1 ; }`, "main 1+0 [4 2 1] 0 o:16"},
		{"two variables at one place", `@group(0) @binding(0) var<storage> x: u32; @group(0) @binding(0) var<storage> y: f32;
@compute @workgroup_size(1) fn main() { _ = x; _ = y; }`, "main 1+0 [1 1 1] 0 x:4 y:4"},
		{"constants", `const N = 4u; const M = (N << 2) * 2 - N % 3; const K: u32 = min(M, 0x40u) | 1;
var<workgroup> w: array<array<u32, N>, K>; @compute @workgroup_size(N * 2, max(1, 2)) fn main() { w[0][0] = 1; }`, "main 0+0 [8 2 1] 496"},
		{"an override with a default", `override N: u32 = 8; override M = 2 * N; var<workgroup> w: array<f32, M>;
@compute @workgroup_size(N) fn main() { w[0] = 1; }`, "main 0+0 [8 1 1] 64; override M = 16; override N = 8"},
		{"an override without", `override N: u32; var<workgroup> w: array<f32, N>; var<workgroup> v: f32;
@compute @workgroup_size(1, N) fn main() { w[0] = v; }`,
			"main 0+0 [0 0 0] 16; workgroup size: the override N has no default; workgroup memory of w: length of an array: the override N has no default"},
		{"what it can't work out", `const N = u32(sqrt(16.0)); @compute @workgroup_size(N) fn main() { }`,
			"main 0+0 [0 0 0] 0; workgroup size: 16.0 is no integer that can be worked out here"},
		{"constants of themselves", `const A = B; const B = A; @compute @workgroup_size(A) fn main() { }`, "main 0+0 [0 0 0] 0; workgroup size: A is declared by means of itself"},
		{"structs", `alias V = vec3<f16>; struct In { a: f32, b: V, @size(32) c: u32, @align(64) d: array<atomic<u32>, 3>, }
struct S { x: u32, in: In, rest: array<In> };
@group(0) @binding(0) var<storage, read_write> s: S; @compute @workgroup_size(1) fn main() { s.x = 1; }`, "main 1+0 [1 1 1] 0 s:320"},
		{"matrices", `struct M { a: mat3x3<f32>, b: mat2x4h, c: mat4x3f } @group(0) @binding(0) var<uniform> m: M;
@compute @workgroup_size(1) fn main() { _ = m.a; }`, "main 0+1 [1 1 1] 0 m:128"},
		{"textures", `@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var s: sampler; @group(0) @binding(2) var<storage> x: array<f32>;
@compute @workgroup_size(1) fn main() { _ = textureLoad(t, vec2(0), 0) * x[0]; _ = s; }`, "main 1+0 [1 1 1] 0 t:0 s:0 x:4"},
		{"a type from elsewhere", `@group(0) @binding(0) var<storage> x: array<TYPE>; @compute @workgroup_size(1) fn main() { _ = x[0]; }`,
			"main 1+0 [1 1 1] 0 x:0; size of binding x: TYPE is no type that is known here"},
		{"structs of themselves", `struct A { b: B } struct B { a: A } @group(0) @binding(0) var<storage> x: A; @compute @workgroup_size(1) fn main() { _ = x; }`,
			"main 1+0 [1 1 1] 0 x:0; size of binding x: A is declared by means of itself"},
		{"sizes beyond any buffer", `var<workgroup> w: array<array<f32, 2147483647>, 2147483647>; @compute @workgroup_size(1) fn main() { w[0][0] = 1; }`,
			"main 0+0 [1 1 1] 0; workgroup memory of w: an array of 2147483647 elements"},
		{"stages of rendering", buffers + "@vertex fn v() -> @builtin(position) vec4f { return b[0]; } @fragment fn f() { _ = a[0] + c.x; }",
			"v 1+0 [0 0 0] 0 b:128\nf 1+1 [0 0 0] 0 a:4 c:12"},
		{"functions that call each other", buffers + "fn f() { g(); } fn g() { f(); _ = a[0]; } @compute @workgroup_size(1) fn main() { f(); }", "main 1+0 [1 1 1] 0 a:4"},
	} {
		o := outline.Read(c.text)
		var got []string
		for _, e := range o.Entries {
			got = append(got, line(e))
		}
		if s := strings.Join(got, "\n"); s != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, s, c.want)
		}
		if len(o.Skipped) > 0 || o.Template != nil {
			t.Errorf("%s: skipped %v, template %v", c.name, o.Skipped, o.Template)
		}
	}
}

// What is no compute kernel of buffers, or no WGSL yet, is said with its place.
func TestReadSaysWhatItFound(t *testing.T) {
	for _, c := range []struct {
		text, outside, template, skipped string
	}{
		{"@group(0) @binding(0)\nvar t: texture_2d<f32>;\n@vertex fn f() { let m = mat2x2f(); discard; }", "2:8 texture_2d, 3:2 vertex, 3:26 mat2x2f, 3:37 discard", "", ""},
		{"enable subgroups, f16;\nenable clip_distances;", "2:1 enable clip_distances", "", ""},
		{"fn f() { let vertex = 1; let x = a.texture_2d; let texture_size = sampler_count + mat2; }", "", "", ""},
		{"const A = 1;\n  #ifdef X\nfn f() {}\n#endif", "", "2:3 #ifdef X", ""},
		{"fn f() {\n#define A \\\n 3\n}", "", "2:1 #define A \\ 3", ""},
		{"{{HEAD}}\nfn f() {}", "", "1:1 {{HEAD}}", ""},
		{"var<private> a: array<{{TYPE}}, 3>;", "", "1:23 {{", ""},
		{"fn f() { let a = ${N}; }", "", "1:18 ${", ""},
		{"fn f() { {{ let a = 1; }} }", "", "1:10 {{", ""},
		{"fn f() {}\nfnord;\nfn g() {}", "", "", `2:1 no declaration that can be read begins with "fnord"`},
		{"fn f() {", "", "", `1:1 no declaration that can be read begins with "fn"`},
	} {
		o := outline.Read(c.text)
		var template []outline.Place
		if o.Template != nil {
			template = append(template, *o.Template)
		}
		if a, b, s := places(o.Outside), places(template), places(o.Skipped); a != c.outside || b != c.template || s != c.skipped {
			t.Errorf("%q: got %q, %q, %q", c.text, a, b, s)
		}
	}
}

// Names that are declared nowhere are a template's.
func TestReadSaysWhatIsMissing(t *testing.T) {
	o := outline.Read("var<workgroup> a: array<TYPE, N * LANES>; const N = 4; var<workgroup> b: array<f32, a>; @compute @workgroup_size(WG_SIZE) fn main() { _ = &a; _ = &b; }")
	if got := strings.Join(o.Missing, " "); got != "TYPE WG_SIZE" { // the length of an array of an unknown type is not worked out
		t.Errorf("got %q", got)
	}
}

func places(list []outline.Place) string {
	var s []string
	for _, p := range list {
		s = append(s, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Text))
	}
	return strings.Join(s, ", ")
}

// Strings that hold several texts, and other things, as programs do.
func TestSplit(t *testing.T) {
	kernel := func(n int) string {
		return fmt.Sprintf("struct P { n: u32 }\n@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"+
			"fn f() -> u32 { return %du; }\n@compute @workgroup_size(%d)\nfn main() { x[0] = f(); }", n, n)
	}
	shared := "@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n@group(0) @binding(0) var<storage, read_write> y: array<f32>;\n" +
		"@compute @workgroup_size(1) fn one() { x[0] = 1; }\n@compute @workgroup_size(1) fn two() { y[0] = 1; }\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"one, with its comments", "// of mine\n" + kernel(1) + "\n// end\n", []string{"// of mine\n" + kernel(1) + "\n// end\n"}},
		{"two side by side", kernel(1) + kernel(2), []string{kernel(1), kernel(2)}},
		{"what comes before a repeated name is the second's", kernel(1) + "const own = 3; alias A = u32;\n" + kernel(2),
			[]string{kernel(1), "const own = 3; alias A = u32;\n" + kernel(2)}},
		{"directives begin one", "enable f16;\n" + kernel(1) + "enable f16;\n" + kernel(2), []string{"enable f16;\n" + kernel(1), "enable f16;\n" + kernel(2)}},
		{"lengths and names around", ")add_kernel" + "'" + kernel(1) + "(" + "const error: x %d", []string{kernel(1)}},
		{"a # after it", kernel(1) + "\n#", []string{kernel(1)}},
		{"one sign after it", kernel(1) + "\n\"", []string{kernel(1)}},
		{"one name after it", kernel(1) + "\nname", []string{kernel(1)}},
		{"other strings around", "https://a.b/(c cannot open [file\n" + "var<private> z = 3;\n" + kernel(1) + "unexpected ) or } in %s", []string{"var<private> z = 3;\n" + kernel(1)}},
		{"the end of a number before it", "012399" + kernel(1), []string{kernel(1)}},
		{"the end of a name before it", "%s: in_function" + "enable f16;\n" + kernel(1), []string{"enable f16;\n" + kernel(1)}},
		{"the end of a number before a const", "0x1fconst N: u32 = 3;\n" + kernel(1), []string{"const N: u32 = 3;\n" + kernel(1)}},
		{"the end of a number between two", kernel(1) + "\n012399" + kernel(2), []string{kernel(1), kernel(2)}},
		{"one place for two variables", shared, []string{shared}},
		{"without an entry point", "fn f() {}\nstruct S { a: u32 }\n", nil},
		{"names of the language alone", "@compute @workgroup_size is missing; use fn", nil},
		{"a template", "#ifdef A\nconst N = 1;\n#else\nconst N = 2;\n#endif\n" + kernel(1), []string{"#ifdef A\nconst N = 1;\n#else\nconst N = 2;\n#endif\n" + kernel(1)}},
	} {
		var got []string
		for _, p := range outline.Split(c.text) {
			got = append(got, c.text[p.Start:p.End])
		}
		if len(got) != len(c.want) || strings.Join(got, "\x00") != strings.Join(c.want, "\x00") {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

// Every text of the repository is found again in the midst of others.
func TestSplitFindsEveryText(t *testing.T) {
	n := 0
	for name, text := range corpus(t) {
		if !strings.HasPrefix(name, "../../gen/") {
			continue
		}
		n++
		text = strings.TrimSpace(text[strings.Index(text, "@group"):])
		s := "cannot open %s: no such file" + text + text + "\"}, {\"name\": \"x\""
		pieces := outline.Split(s)
		if len(pieces) != 2 || s[pieces[0].Start:pieces[0].End] != text || s[pieces[1].Start:pieces[1].End] != text {
			t.Errorf("%s: %v of %d bytes", name, pieces, len(s))
		}
	}
	if n < 100 {
		t.Errorf("%d texts", n)
	}
}

// Odd texts end, in time that grows with their length, and pieces lie in the string one after the other.
func FuzzRead(f *testing.F) {
	for _, text := range []string{buffers, "/*", "/* /* */", "@compute @workgroup_size(1", "@a@a@a@", "const const const", "let let", "#\\\n",
		"fn f(a:){for(for(let", "struct S{a:array<array<S,1>,N<2>>", "{{}}", "const N=N<<64;", "@group(0)@binding(0)var<storage>a:array<mat9x9<f>>;"} {
		f.Add(text)
	}
	for _, text := range corpus(f) {
		if len(text) < 1500 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		outline.Read(text)
		last := 0
		for _, p := range outline.Split(text) {
			if p.Start < last || p.End <= p.Start || p.End > len(text) {
				t.Fatalf("piece %v after %d", p, last)
			}
			last = p.End
			if o := outline.Read(text[p.Start:p.End]); len(o.Entries) == 0 {
				t.Fatalf("piece %q has no entry point", text[p.Start:p.End])
			}
		}
	})
}

// Megabytes of what no one writes take no longer than their length asks for: a quadratic step would not end.
func TestReadIsLinear(t *testing.T) {
	const n = 1 << 19
	for _, unit := range []string{"/*", "@a", "@a(", "const a", "let a ", "{", "((", "a<", "fn f(){let a=", "struct S{a:a<", "#\n", "for(", "var<", "fn f(", "//", "fn f(){}", "const a=1;", "@group(0)@binding(0)var a:b;"} {
		text := strings.Repeat(unit, n/len(unit))
		outline.Read("@compute @workgroup_size(1) fn main() { " + text)
		outline.Read(text + "@compute @workgroup_size(1) fn main() { " + text + "}")
		outline.Split(text)
	}
}
