package bounds_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// head declares what the bodies of cases use: a of 13, b of 24, runtime-sized r, stated s, and f in the function.
const head = `@group(0) @binding(0) var<storage, read_write> a: array<u32, 13>;
@group(0) @binding(1) var<storage, read> b: array<u32, 24>;
@group(0) @binding(2) var<storage, read_write> s: array<u32, 12>;
@group(0) @binding(3) var<storage, read_write> r: array<u32>;
@group(0) @binding(4) var<uniform> u: array<vec4<u32>, 3>;
struct Pair { left: u32, right: array<u32, 4> }
@group(0) @binding(5) var<storage, read_write> pairs: array<Pair, 2>;
@group(0) @binding(6) var<storage, read_write> count: array<atomic<u32>, 2>;
override size: u32 = 4;
var<workgroup> w: array<u32, 8>;
var<workgroup> sized: array<u32, size>;
var<private> mark: u32 = 3u;
const table = array<u32, 4>(2u, 0u, 3u, 1u);
fn twice(x: u32) -> u32 {
  if (x > 6u) { return 12u; }
  return 2u * x;
}
fn assign(to: ptr<function, u32>, x: u32) {
  *to = x;
}
fn put(to: ptr<function, u32>, x: u32) -> u32 {
  *to = x;
  return x;
}
fn awaits(x: u32) {
  loop { if (x < 13u) { break; } }
}
fn awaited(x: u32) -> u32 {
  loop { if (x < 13u) { return x; } if (x == 77u) { break; } }
  return 0u;
}
@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32, @builtin(num_workgroups) groups: vec3<u32>) {
  let x = b[0];
  let i = bitcast<i32>(b[1]);
  var f: array<u32, 9>;
`

// provable are bodies that are in bounds for all contents of b, in a grid of 3 workgroups.
var provable = []string{
	"f[local] = 1u;",
	"b0(); let y = b[group.x * 8u + local];",
	"a[x % 13u] = 1u;",
	"a[min(x, 12u)] = 1u;",
	"a[x & 7u] = 1u;",
	"a[x >> 29u] = 1u;",
	"a[~x >> 29u] = 1u;",
	"if (x > 4294967290u) { a[~x + 8u] = 1u; }",
	"a[clamp(i, 0, 12)] = 1u;",
	"a[max(min(i, 4), -3) + 3] = 1u;",
	"if (x < 13u) { a[x] = 1u; }",
	"if (13u > x && true) { a[x] = 1u; }",
	"if (!(x >= 13u)) { a[x] = 1u; }",
	"let small = x < 13u; if (small) { a[x] = 1u; }",
	"if (x >= 13u) { return; } a[x] = 1u;",
	"if (x >= 4u && x - 4u < 9u) { a[x] = 1u; }",
	"if (x == 3u || x == 7u) { a[select(0u, x, x < 8u)] = 1u; }",
	"a[select(12u, x, x < 12u)] = 1u;",
	"if (i >= 0 && i < 13) { a[i] = 1u; }",
	"if (x % 8u >= 5u && x < 13u) { a[x - 5u] = 1u; }",
	"if (x < 13u && a[x] == 1u) { }",
	"for (var j = 0u; j < 13u; j += 1u) { a[j] = 1u; }",
	"for (var j = 12; j >= 0; j -= 1) { a[j] = 1u; }",
	"for (var j = 0u; j < 12u; j += 4u) { a[j + 3u] = a[j + 4u]; }",
	"for (var j = local; j < 13u; j += 8u) { a[j] = 1u; }",
	"for (var j = 0u; j < 3u; j += 1u) { for (var k = 0u; k < 4u; k += 1u) { a[j * 4u + k] = 1u; } }",
	"var j = 8u; while j > 0u { f[j] = 1u; j >>= 1u; }",
	"var j = 0u; loop { a[j] = 1u; continuing { j += 1u; break if j >= 13u; } }",
	"var j = 0u; loop { if (j >= 13u) { break; } a[j] = 1u; j += 1u; }",
	"for (var j = 0u; j < 20u; j += 1u) { if (j > 12u) { continue; } a[j] = 1u; }",
	"let n = min(x, 1000u); for (var tile = 0u; tile < n; tile += 8u) { let count = min(n - tile, 8u); for (var j = 0u; j < count; j += 1u) { w[j] = 1u; } }",
	"let n = min(x, 100u); for (var tile = 0u; tile < n; tile += 8u) { r[min((n - tile - 1u) / 100u, 3u)] = 1u; }",
	"switch x { case 2u, 12u: { a[x] = 1u; } case 3u: { a[x + 9u] = 1u; } default: { } }",
	"a[twice(x)] = 1u;",
	"a[twice(twice(x) / 2u)] = 1u;",
	"var v = 0u; var k = 0u; let y = put(&v, put(&k, 12u)); a[v] = 1u; a[k] = 1u; a[y] = 1u;",
	"loop { if (x < 13u) { a[x] = 1u; break; } }",
	"a[clamp(x, 3u, 12u)] = 1u; a[clamp(x, b[1] & 3u, 12u)] = 1u;",
	"a[12u >> (x & 31u)] = 1u;",
	"var to = 40u; assign(&to, 7u); let y = to; if (y < 13u) { a[y] = 1u; }",
	"let p = &a[x % 13u]; *p = 1u;",
	"if (x < arrayLength(&r)) { r[x] = 1u; }",
	"if (arrayLength(&r) > x + 2u) { r[x + 2u] = 1u; }",
	"r[x & 3u] = 1u;", // at least 4 elements are stated
	"let v = vec4<u32>(x % 13u, 1u, 2u, 3u); a[v.x] = 1u; a[v.wzyx.w] = 1u;",
	"var v = vec2<u32>(); v.y = x & 3u; v.x += 4u; a[v.y] = 1u; f[v.x] = 1u;",
	"var j = 0u; loop { a[j] = 1u; j += 1u; if (j > 12u) { break; } j += 1u; }", // j is even

	"let y = u[x % 3u][x & 3u];",
	"pairs[x & 1u].right[x & 3u] = 1u;",
	"w[local] = local; workgroupBarrier(); a[w[x & 7u]] = 1u;",
	"a[mark] = 1u; mark = 12u;",
	"a[table[x & 3u]] = 1u;",
	"atomicAdd(&count[x & 1u], 1u);",
	"a[s[0] + 4u] = 1u; a[s[3]] = 1u;",
	"a[groups.x + 9u] = 1u;",
	"a[u32(x > 3u) * 12u] = 1u;",
	"a[u32(i32(x & 7u) - 2 + 2)] = 1u;",
	"if (false) { a[x] = 1u; }",
	"const n = 12; a[n] = 1u;",
	"var j: u32; a[j] = 1u;",
	"var j = 0u; if (x > 5u) { j = 12u; } else { j = x; } a[j] = 1u;",
	"if (local == 0u && group.x == 0u) { for (var k = 0u; k < 5u; k++) { f[k + local] = 1u; } }",
}

// unprovable are bodies with an access that can be out of bounds, or not proved to be in, and what is said of it.
var unprovable = []struct{ body, says string }{
	{"a[x] = 1u;", "a[x]: the index may be 0 to 4294967295, and there are 13 elements"},
	{"a[i] = 1u;", "a[i]: the index may be -2147483648 to 2147483647, and there are 13 elements"},
	{"a[x % 14u] = 1u;", "the index may be 0 to 13, and there are 13 elements"},
	{"a[min(x, 13u)] = 1u;", "0 to 13"},
	{"a[~x >> 28u] = 1u;", "0 to 15"},
	{"f[group.x * 8u + local] = 1u;", "f[group.x * 8u + local]: the index may be 0 to 23, and there are 9 elements"},
	{"if (x <= 13u) { a[x] = 1u; }", "0 to 13"},
	{"if (x < 13u) { } a[x] = 1u;", "0 to 4294967295"},
	{"if (x < 13u) { } else { a[x] = 1u; }", "13 to 4294967295"},
	{"if (x < 13u || x > 100u) { a[x] = 1u; }", "a[x]"},
	{"if (x + 5u < 10u) { a[x] = 1u; }", "a[x]"},                      // it wraps around for x near 2³²
	{"if (x - 3u >= 5u && x < 13u) { a[x - 8u] = 1u; }", "a[x - 8u]"}, // and here for x below 3
	{"if (i + 5 < 10 && i > 0) { a[i] = 1u; }", "a[i]"},               // 2³¹ − 1 + 5 is negative
	{"if (x * 4u < 52u) { a[x] = 1u; }", "a[x]"},                      // 2³⁰ times 4 is 0
	{"if (x << 2u < 52u) { a[x] = 1u; }", "a[x]"},                     // here too
	{"if (x % 8u >= 5u && x < 13u) { a[x - 6u] = 1u; }", "a[x - 6u]"}, // x may be 5
	{"if (x < 13u && x >= 3u) { a[x - 4u] = 1u; }", "a[x - 4u]"},      // below 0
	{"if (i < 13) { a[i] = 1u; }", "-2147483648 to 12"},
	{"a[abs(i) & 15] = 1u;", "a[abs(i) & 15]"},
	{"a[-(i & 3)] = 1u;", "-3 to 0"},
	{"a[i % 13] = 1u;", "a[i % 13]: the index may be -2147483648 to 2147483647"}, // Vulkan has no remainder of what is below 0
	{"a[u32(i % 7 + 6)] = 1u;", "a[u32(i % 7 + 6)]"},
	{"a[12u >> x] = 1u;", "a[12u >> x]"},                   // a shift by 32 or more is what the driver makes of it
	{"a[clamp(5u, x, 12u)] = 1u;", "a[clamp(5u, x, 12u)]"}, // and so is clamp where x is above 12
	{"a[clamp(x, 3u, b[1] & 15u)] = 1u;", "a[clamp(x, 3u, b[1] & 15u)]"},
	// That a loop ends is taken for given by some compilers, which leave out loops that change nothing: then it says nothing of x.
	{"while (x != 12u) { } a[x] = 1u;", "a[x]: the index may be 0 to 4294967295"},
	{"loop { if (x < 13u) { break; } } a[x] = 1u;", "a[x]: the index may be 0 to 4294967295"},
	{"loop { continuing { break if x < 13u; } } a[x] = 1u;", "a[x]: the index may be 0 to 4294967295"},
	{"if (x > 12u) { for (var j = 0u; j != 13u; j += 2u) { } } a[x] = 1u;", "a[x]: the index may be 0 to 4294967295"},
	{"awaits(x); a[x] = 1u;", "a[x]: the index may be 0 to 4294967295"},
	{"a[awaited(x)] = 1u;", "a[awaited(x)]: the index may be 0 to 4294967295"},
	// Arguments that are calls of the function itself.
	{"var v = 0u; var k = 0u; let y = put(&v, put(&k, 20u)); a[v] = 1u;", "0 to 20"},
	{"var v = 0u; var k = 0u; let y = put(&v, put(&k, 12u) + 3u); a[v] = 1u;", "0 to 15"},
	{"a[12u / x] = 1u; a[x / x] = 1u;", "a[x / x]"}, // x / 0 is x
	{"a[x >> (x & 63u)] = 1u;", "a[x >> (x & 63u)]"},
	{"a[select(12u, x, x < 14u)] = 1u;", "0 to 13"},
	{"if (true || x < 13u) { a[x] = 1u; }", "a[x]"},
	{"if (x > 3u || a[x] == 1u) { } if (x < 4u || a[x] == 1u) { }", "4 to 4294967295"},
	{"for (var j = 0u; j <= 13u; j += 1u) { a[j] = 1u; }", "0 to 13"},
	{"for (var j = 0u; j < 13u; j += 4u) { a[j + 3u] = 1u; }", "3 to 15"},
	{"for (var j = 0u; j != 13u; j += 2u) { a[j] = 1u; }", "0 to 4294967294"}, // it never is
	{"for (var j = 0u; ; j += 1u) { a[j] = 1u; if (b[j % 24u] == 0u) { break; } }", "0 to 4294967295"},
	{"for (var j = 12; j >= -1; j -= 1) { a[j] = 1u; }", "-1 to 12"},
	{"var j = 0u; for (var k = 0u; k < 13u; k += 1u) { a[j] = 1u; j += 2u; }", "a[j]"},
	{"var j = 0u; for (var k = 0u; k < 3u; k += 1u) { if (b[k] == 0u) { j = 20u; break; } j = 1u; } a[j] = 1u;", "0 to 20"},
	{"var j = 0u; for (var k = 0u; k < 3u; k += 1u) { a[j] = 1u; if (b[k] == 0u) { j = 20u; continue; } j = 1u; }", "0 to 20"},
	{"var j = 0u; loop { if (x == 0u) { j = 13u; break; } j = 3u; continuing { break if x == 2u; } } a[j] = 1u;", "3 to 13"},
	{"var j = 0u; loop { a[j] = 1u; j += 1u; if (j > 13u) { break; } j += 1u; }", "0 to 14"},
	{"var j = 0u; switch x { case 1u: { j = 13u; } case 2u: { if (i > 0) { j = 14u; break; } j = 2u; } default: { } } a[j] = 1u;", "0 to 14"},
	{"for (var k = 0u; k < 3u; k += 1u) { var j: u32; a[j] = 1u; j = 20u; }", "a[j]"}, // it is zero, but not where naga 29 compiles it
	{"switch x { case 12u, 13u: { a[x] = 1u; } default: { } }", "12 to 13"},
	{"a[twice(x) + 1u] = 1u;", "1 to 13"},
	{"var to = 4u; assign(&to, 13u); a[to] = 1u;", "a[to]"},
	{"var to = 4u; let p = &to; *p = 13u; a[to] = 1u;", "0 to 13"},
	{"let p = &a[x]; *p = 1u;", "a[x]"},
	{"let p = &a; p[x] = 1u;", "p[x]"},
	{"r[x] = 1u;", "r[x]: the index may be 0 to 4294967295, and there are no more than 4 elements for certain"},
	{"r[4] = 1u;", "4 to 4"},
	{"if (x <= arrayLength(&r)) { r[x] = 1u; }", "r[x]"},
	{"if (x < arrayLength(&r)) { r[x + 1u] = 1u; }", "r[x + 1u]"},
	{"if (x - arrayLength(&r) > 5u) { r[x] = 1u; }", "r[x]"},
	{"if (x < arrayLength(&r)) { a[x] = 1u; }", "0 to 4294967294"},
	{"var v = vec2<u32>(3u, 4u); v[x & 1u] = 13u; a[v.x] = 1u;", "a[v.x]"},
	{"var v = vec2<u32>(3u, 4u); v.x = 13u; a[v.x] = 1u;", "13 to 13"},
	{"let v = vec2<u32>(3u, 13u); a[v[x & 1u]] = 1u;", "3 to 13"},
	{"let v = vec2<u32>(3u, 4u); a[v[x]] = 1u;", "v[x]"},
	{"let y = u[x & 3u].x;", "u[x & 3u]"},
	{"let y = u[0][x];", "u[0][x]"},
	{"pairs[x & 1u].right[x & 7u] = 1u;", "pairs[x & 1u].right[x & 7u]"},
	{"pairs[x & 3u].left = 1u;", "pairs[x & 3u]"},
	{"pairs[0].right[0] = 1u; a[pairs[0].right[0]] = 1u;", "a[pairs[0].right[0]]"},
	{"w[local] = local + 6u; workgroupBarrier(); a[w[x & 7u]] = 1u;", "0 to 13"},
	{"a[w[0]] = 1u; w[1] = a[2];", "a[w[0]]"}, // what is stored later can be there now
	{"a[mark] = 1u; mark = 13u;", "0 to 13"},
	{"a[mark] = 1u; mark += 1u;", "a[mark]"},
	{"a[table[x & 3u] + 10u] = 1u;", "10 to 13"},
	{"atomicAdd(&count[x & 3u], 1u);", "count[x & 3u]"},
	{"a[atomicLoad(&count[0])] = 1u;", "a[atomicLoad(&count[0])]"},
	{"sized[1] = 1u;", "how many elements there are depends on an override"},
	{"a[size] = 1u;", "0 to 4294967295"},
	{"a[s[0] + 5u] = 1u;", "7 to 13"},
	{"a[s[6]] = 1u;", "a[s[6]]"},
	{"a[s[x & 1u]] = 1u; a[s[5u + (x & 1u)]] = 1u;", "a[s[5u + (x & 1u)]]"},
	{"a[s[1] + 6u] = 1u;", "6 to 13"}, // the kernel might have counted
	{"a[groups.x + 10u] = 1u;", "11 to 13"},
	{"a[u32(f32(x))] = 1u;", "a[u32(f32(x))]"},
	{"a[bitcast<u32>(f32(x))] = 1u;", "a[bitcast<u32>(f32(x))]"},
	{"var j = 0u; if (x > 5u) { j = 13u; } else { j = x; } a[j] = 1u;", "0 to 13"},
	{"var j = 3u; if (x > 5u) { if (i > 3) { return; } j = 13u; } a[j] = 1u;", "3 to 13"},
}

func use() bounds.Use {
	return bounds.Use{Grid: [3]int{3, 1, 1}, Stated: stated, Lengths: map[string]int{"r": 4}}
}

func prove(t *testing.T, body string) (*wgsl.File, *bounds.Proof) {
	t.Helper()
	text := head + "  " + strings.Replace(body, "b0(); ", "", 1) + "\n}\n"
	f, err := wgsl.Parse("case.wgsl", text)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return f, bounds.Prove(f, "main", use())
}

func TestProvable(t *testing.T) {
	for _, body := range provable {
		if _, p := prove(t, body); !p.Proved() {
			t.Errorf("%s: %v", body, p.Failures)
		}
	}
}

func TestUnprovable(t *testing.T) {
	for _, c := range unprovable {
		_, p := prove(t, c.body)
		said := ""
		for _, f := range p.Failures {
			said += f.String() + "\n"
		}
		if p.Proved() || !strings.Contains(said, c.says) {
			t.Errorf("%s: %swant %q", c.body, said, c.says)
		}
	}
}

// A failure says where the access is and what the index may be.
func TestFailure(t *testing.T) {
	_, p := prove(t, "f[3] = 1u;\n  a[min(x, 20u)] = 1u;")
	want := bounds.Failure{
		Pos: wgsl.Pos{File: "case.wgsl", Line: strings.Count(head, "\n") + 2, Column: 4, InFile: true}, Expr: "a[min(x, 20u)]",
		Low: 0, High: 20, Length: 13, Why: "the index may be 0 to 20, and there are 13 elements",
	}
	if len(p.Failures) != 1 || p.Failures[0] != want || p.Accesses != 4 {
		t.Errorf("got %+v of %d accesses, want %+v", p.Failures, p.Accesses, want)
	}
}

// What can't be followed to its end is no proof: no entry point, no grid, a kernel that takes too long.
func TestNoProof(t *testing.T) {
	f, _ := prove(t, "f[0] = 1u;")
	for _, c := range []struct {
		entry string
		grid  [3]int
		says  string
	}{
		{"other", [3]int{1, 1, 1}, "no entry point"},
		{"twice", [3]int{1, 1, 1}, "no entry point"},
		{"main", [3]int{0, 1, 1}, "a grid of 0 workgroups"},
		{"main", [3]int{1, -1, 1}, "a grid of -1 workgroups"},
		{"main", [3]int{1 << 30, 1, 1}, "more than a u32 counts"},
	} {
		if p := bounds.Prove(f, c.entry, bounds.Use{Grid: c.grid}); p.Proved() || !strings.Contains(p.Failures[0].Why, c.says) {
			t.Errorf("%+v: %v", c, p.Failures)
		}
	}
	var text strings.Builder
	text.WriteString("@group(0) @binding(0) var<storage, read_write> a: array<u32, 13>;\nfn call00(x: u32) -> u32 { return x + 1u; }\n")
	for i := range 30 { // 2³⁰ calls
		text.WriteString(strings.ReplaceAll(strings.ReplaceAll("fn callN(x: u32) -> u32 { return callO(x) + callO(x + 1u); }\n", "N", itoa(i+1)), "O", itoa(i)))
	}
	text.WriteString("@compute @workgroup_size(1)\nfn main() { a[0] = call30(1u); }\n")
	f, err := wgsl.Parse("calls.wgsl", text.String())
	if err != nil {
		t.Fatal(err)
	}
	if p := bounds.Prove(f, "main", bounds.Use{Grid: [3]int{1, 1, 1}}); p.Proved() || !strings.Contains(p.Failures[0].Why, "too large to be judged") {
		t.Errorf("%v", p.Failures)
	}
}

func itoa(n int) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }

// Stores to words of which something is stated.
func TestStated(t *testing.T) {
	for _, c := range []struct{ body, says string }{
		{"s[0] = 8u; s[6] = x; s[2u + (x & 3u)] = x % 13u;", ""},
		{"s[0] = min(max(x, 2u), 8u);", ""},
		{"if (group.x == 0u && local == 0u) { s[10] = s[1] + 1u; }", ""},
		{"s[0] = 9u;", "s[0]: the value may be 9 to 9, and words 0 to 0 of s are stated to hold 2 to 8"},
		{"s[0] += 1u;", "the value may be 3 to 9"},
		{"s[x & 7u] = 5u;", "words 1 to 1 of s"}, // it counts
		{"s[x] = 5u;", "words 1 to 1 of s"},
		{"s[7] = s[8] + 1u;", "the value may be 5 to 6"},
		{"s[1] = 3u;", "word 1 of s counts: the value is not the one before and 1"},
		{"s[1] += 2u;", "the value is not the one before and 1"},
		{"s[1] = s[0] + 1u;", "the value is not the one before and 1"},
		{"s[1] += 1u;", "one invocation may do it"},
		{"if (local == 0u) { s[1] += 1u; }", "one invocation may do it"}, // there are three workgroups
		{"let p = &s[0]; *p = 9u;", "the value may be 9 to 9"},
	} {
		_, p := prove(t, c.body)
		said := ""
		for _, f := range p.Breaks {
			said += f.String() + "\n"
		}
		if c.says == "" && said != "" || !strings.Contains(said, c.says) {
			t.Errorf("%s: %swant %q", c.body, said, c.says)
		}
	}
}

// One invocation of all counts a word up once; nothing else counts.
func TestCounts(t *testing.T) {
	for body, says := range map[string]string{
		"s[1] += 1u;":                     "",
		"let n = s[1]; s[1] = n + 1u;":    "",
		"if (s[3] > 5u) { s[1] += 1u; }":  "",
		"s[1] += 1u; s[1] += 1u;":         "that was done at",
		"for (;;) { s[1] += 1u; break; }": "outside of loops",
		"s[1] += 1u; a[s[1] + 6u] = 1u;":  "",
		"s[1] = s[1];":                    "not the one before and 1",
		"s[1] = 1u + s[1];":               "not the one before and 1",
	} {
		f, err := wgsl.Parse("case.wgsl", strings.NewReplacer("workgroup_size(8)", "workgroup_size(1)").Replace(head)+body+"}\n")
		if err != nil {
			t.Fatal(err)
		}
		u := use()
		u.Grid = [3]int{1, 1, 1}
		p := bounds.Prove(f, "main", u)
		said := ""
		for _, b := range p.Breaks {
			said += b.String()
		}
		if says == "" && said != "" || !strings.Contains(said, says) {
			t.Errorf("%s: %q, want %q", body, said, says)
		}
		if strings.Contains(body, "a[s[1] + 6u]") == p.Proved() {
			t.Errorf("%s: %v", body, p.Failures)
		}
	}
}
