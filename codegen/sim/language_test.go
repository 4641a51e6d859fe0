package sim

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// languageCase is a program whose result follows from WGSL's rules by hand: 8 invocations write a word each to out. MAIN in the text
// stands for the head of the entry point.
type languageCase struct {
	name, text string
	want       [8]uint32
}

// LanguageCase is a languageCase as a whole text, for devices.
type LanguageCase struct {
	Name, Text string
	Want       [8]uint32
}

// LanguageCases returns all of them.
func LanguageCases() []LanguageCase {
	var list []LanguageCase
	for _, c := range slices.Concat(orderCases(), overlapCases(), flowCases(), typeCases(), numberCases()) {
		list = append(list, LanguageCase{c.name, c.whole(), c.want})
	}
	return list
}

const languageHead = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"

func (c languageCase) whole() string {
	text := c.text
	head := "@compute @workgroup_size(8)\nfn main(@builtin(local_invocation_index) i: u32) {"
	if !strings.Contains(text, "MAIN") {
		text = "MAIN " + text + " }"
	}
	enable := ""
	if strings.Contains(text, "f16") {
		enable = "enable f16;\n"
	}
	return enable + languageHead + strings.Replace(text, "MAIN", head, 1)
}

func same(v uint32) [8]uint32 { return [8]uint32{v, v, v, v, v, v, v, v} }

func each(f func(i uint32) uint32) (out [8]uint32) {
	for i := range out {
		out[i] = f(uint32(i))
	}
	return out
}

func bitsOfFloat(f float32) uint32 { return math.Float32bits(f) }

// Operands and arguments are evaluated from left to right, and each keeps the value that it had then.
func orderCases() []languageCase {
	const f = "fn f(p: ptr<function, u32>) -> u32 { *p = 7u; return 1u; }\n"
	return []languageCase{
		{"vector of a variable", f + "MAIN var s = i; let v = vec2(s, s) + vec2(f(&s)); out[i] = v.x * 10u + v.y; }", each(func(i uint32) uint32 { return 11 * (i + 1) })},
		{"conversion of a variable", f + "MAIN var s = i; out[i] = u32(s) + f(&s); }", each(func(i uint32) uint32 { return i + 1 })},
		{"bitcast of a variable", f + "MAIN var s = i; out[i] = bitcast<u32>(s) + f(&s); }", each(func(i uint32) uint32 { return i + 1 })},
		{"member of a constructed value", f + "MAIN var s = i; out[i] = vec2(s, 0u).x + f(&s); }", each(func(i uint32) uint32 { return i + 1 })},
		{"element of a constructed value", f + "MAIN var s = i; out[i] = array(s, 0u)[0] + f(&s); }", each(func(i uint32) uint32 { return i + 1 })},
		{"constructor's arguments", f + "MAIN var s = i; let v = vec3(vec2(s, s + 1u), f(&s)); out[i] = v.x * 100u + v.y * 10u + v.z; }", each(func(i uint32) uint32 { return 110*i + 11 })},
		{"built-in's arguments", f + "MAIN var s = i; out[i] = max(s, f(&s)) + s; }", each(func(i uint32) uint32 { return max(i, 1) + 7 })},
		{"select evaluates both", f + "MAIN var s = i; let r = select(s, f(&s), true); out[i] = r * 10u + s; }", same(17)},
		{"compound assignment", f + "MAIN var s = i; s += f(&s); out[i] = s; }", each(func(i uint32) uint32 { return i + 1 })},
		{"private variable", "var<private> p = 3u;\nfn g() -> u32 { p += 10u; return p; }\nMAIN let r = p + g() + p; out[i] = r; }", same(3 + 13 + 13)},
		{"private variable in a vector", "var<private> p = 3u;\nfn g() -> u32 { p += 10u; return p; }\nMAIN let r = vec2(p, g()); out[i] = r.x + r.y; }", same(16)},
		{"index before the right side", "fn g(p: ptr<function, u32>) -> u32 { *p = 1u; return 9u; }\nMAIN var a = array(0u, 0u); var k = 0u; a[k] = g(&k); out[i] = a[0] * 10u + a[1]; }", same(90)},
		{"index evaluated once", "var<private> n = 0u;\nfn g() -> u32 { n += 1u; return n - 1u; }\nMAIN var a = array(1u, 5u); a[g()] += 1u; out[i] = a[0] * 100u + a[1] * 10u + n; }", same(251)},
		{"short circuit", "var<private> n = 0u;\nfn g(x: bool) -> bool { n += 1u; return x; }\nMAIN let a = (g(i > 2u) && g(true)) || g(i == 0u); out[i] = n * 10u + u32(a); }",
			each(func(i uint32) uint32 {
				if i > 2 {
					return 21
				}
				if i == 0 {
					return 21
				}
				return 20
			})},
		{"pointer keeps its index", "MAIN var a = array(1u, 2u, 3u); var k = i % 3u; let p = &a[k]; k = 0u; *p = 9u; out[i] = a[0] * 100u + a[1] * 10u + a[2]; }",
			[8]uint32{923, 193, 129, 923, 193, 129, 923, 193}},
		{"nested call", "fn sq(x: u32) -> u32 { return x * x; }\nMAIN out[i] = sq(sq(i) + sq(1u)); }", each(func(i uint32) uint32 { return (i*i + 1) * (i*i + 1) })},
		{"call in an index of the left side", "fn g(p: ptr<function, u32>) -> u32 { *p += 1u; return *p; }\nMAIN var a = array(0u, 0u, 0u, 0u); var k = 0u; a[g(&k)] = g(&k) * 10u + k; out[i] = a[1]; }", same(22)},
	}
}

// Values that overlap the place they are stored to.
func overlapCases() []languageCase {
	return []languageCase{
		{"swizzle of itself", "var v = vec3(1u, 2u, 3u); v = v.zxy; out[i] = v.x * 100u + v.y * 10u + v.z;", same(312)},
		{"swizzle of an element of an array", "var a = array(vec2(1u, 2u), vec2(3u, 4u)); let k = i % 2u; a[k] = a[0].yx; out[i] = a[0].x * 1000u + a[0].y * 100u + a[1].x * 10u + a[1].y;",
			each(func(i uint32) uint32 { return [2]uint32{2134, 1221}[i%2] })},
		{"constructed of an element", "var a = array(vec2(1u, 2u), vec2(3u, 4u)); let p = &a[i % 2u]; *p = vec2(a[1].y, a[1].x); out[i] = a[0].x * 1000u + a[0].y * 100u + a[1].x * 10u + a[1].y;",
			each(func(i uint32) uint32 { return [2]uint32{4334, 1243}[i%2] })},
		{"array of itself", "var a = array(1u, 2u, 3u); a = array(a[2], a[0], a[1]); out[i] = a[0] * 100u + a[1] * 10u + a[2];", same(312)},
		{"struct of itself", "struct P { a: u32, b: u32 }\nMAIN var p = P(1u, 2u); p = P(p.b, p.a); out[i] = p.a * 10u + p.b; }", same(21)},
		{"row of a matrix of arrays", "var a = array(array(1u, 2u), array(3u, 4u)); a[i % 2u] = array(a[0][1], a[0][0]); out[i] = a[0][0] * 1000u + a[0][1] * 100u + a[1][0] * 10u + a[1][1];",
			each(func(i uint32) uint32 { return [2]uint32{2134, 1221}[i%2] })},
		{"copy is no alias", "struct P { a: u32, b: array<u32, 2> }\nMAIN var p = P(1u, array(2u, 3u)); var q = p; q.b[i % 2u] = 9u; p.a = 5u; out[i] = p.a * 1000u + p.b[0] * 100u + p.b[1] * 10u + q.a; }", same(5231)},
		{"let is no alias", "var v = vec2(1u, 2u); let w = v; v.x = 9u; let x = v.y; v.y = 7u; out[i] = w.x * 100u + w.y * 10u + x;", same(122)},
		{"returned value is no alias", "var<private> p = vec2(1u, 2u);\nfn now() -> vec2<u32> { return p; }\nMAIN let a = now(); p = vec2(5u, 6u); out[i] = a.x * 10u + a.y; }", same(12)},
		{"argument is no alias", "var<private> p = 1u;\nfn g(x: u32) -> u32 { p = 5u; return x; }\nMAIN out[i] = g(p) * 10u + p; }", same(15)},
		{"swap through pointers", "fn swap(a: ptr<function, vec2<u32>>, b: ptr<function, vec2<u32>>) { let t = *a; *a = *b; *b = t; }\nMAIN var x = vec2(1u, 2u); var y = vec2(3u, 4u); swap(&x, &y); out[i] = x.x * 1000u + x.y * 100u + y.x * 10u + y.y; }", same(3412)},
		{"returned from a variable that goes on", "fn g(n: u32) -> u32 { var x = n; for (var k = 0u; k < 3u; k++) { if (k == n) { return x * 10u; } x += 1u; } return x; }\nMAIN out[i] = g(i); }", [8]uint32{0, 20, 40, 6, 7, 8, 9, 10}},
	}
}

// Control flow that divides invocations.
func flowCases() []languageCase {
	return []languageCase{
		{"default in the middle", "var r = 0u; switch (i) { case 0u: { r = 1u; } default: { r = 2u; } case 2u, 3u: { r = 3u; } } out[i] = r;", [8]uint32{1, 2, 3, 3, 2, 2, 2, 2}},
		{"default among values", "var r = 0u; switch (i) { case 0u, default, 5u: { r = 1u; } case 2u: { r = 3u; } } out[i] = r;", [8]uint32{1, 1, 3, 1, 1, 1, 1, 1}},
		{"negative selectors", "var r = 0u; switch (i32(i) - 4) { case -4: { r = 1u; } case -1, 1: { r = 2u; } default: { } } out[i] = r;", [8]uint32{1, 0, 0, 2, 0, 2, 0, 0}},
		{"break of a switch in a loop", "var n = 0u; for (var k = 0u; k < 4u; k++) { switch (k) { case 1u: { if (i > 3u) { break; } n += 10u; } default: { n += 1u; } } } out[i] = n;", [8]uint32{13, 13, 13, 13, 3, 3, 3, 3}},
		{"continue in a switch", "var n = 0u; for (var k = 0u; k < 4u; k++) { switch (k) { case 1u, 2u: { if (k == i) { continue; } n += 10u; } default: { n += 1u; } } n += 100u; } out[i] = n;",
			[8]uint32{422, 312, 312, 422, 422, 422, 422, 422}},
		{"return in a switch in a loop", "fn g(n: u32) -> u32 { var r = 0u; loop { switch (r) { case 3u: { return 50u + r; } default: { if (r == n) { return r; } } } r += 1u; } return 9u; }\nMAIN out[i] = g(i); }", [8]uint32{0, 1, 2, 53, 53, 53, 53, 53}},
		{"nested continuing", "var n = 0u; var k = 0u; loop { var j = 0u; loop { if (j == i) { break; } n += 1u; continuing { j += 1u; break if j >= 3u; } } continuing { k += 1u; break if k > 1u; } } out[i] = n;",
			[8]uint32{0, 2, 4, 6, 6, 6, 6, 6}},
		{"continuing sees the body", "var n = 0u; var k = 0u; loop { let d = k + i; if (k == 1u) { n += 100u; } continuing { n += d; k += 1u; break if k == 3u; } } out[i] = n;", each(func(i uint32) uint32 { return 100 + 3*i + 3 })},
		{"continue in nested loops", "var n = 0u; for (var k = 0u; k < 3u; k++) { for (var j = 0u; j < 3u; j++) { if (j == i) { continue; } if (k == i) { break; } n += 1u; } } out[i] = n;", [8]uint32{4, 4, 4, 9, 9, 9, 9, 9}},
		{"variable is new in each round", "var n = 0u; for (var k = 0u; k < 3u; k++) { var x: u32; n = n * 10u + x; x = 5u + i; } out[i] = n;", same(0)},
		{"variable of a divergent round", "var n = 0u; for (var k = 0u; k < 4u; k++) { if (k < i) { continue; } var x = k; x += 1u; n = n * 10u + x; } out[i] = n;", [8]uint32{1234, 234, 34, 4, 0, 0, 0, 0}},
		{"shadowing in for", "var k = 5u; for (var k = 0u; k < 2u; k++) { let k = 9u; _ = k; } out[i] = k;", same(5)},
		{"while with a call", "var<private> n = 0u;\nfn more(limit: u32) -> bool { n += 1u; return n <= limit; }\nMAIN while (more(i)) { } out[i] = n; }", each(func(i uint32) uint32 { return i + 1 })},
		{"early return of some", "fn g(n: u32) -> u32 { if (n == 2u) { return 7u; } if (n > 4u) { if (n == 6u) { return 8u; } return 9u; } return n; }\nMAIN out[i] = g(i) + g(7u - i) * 10u; }",
			[8]uint32{90, 81, 97, 43, 34, 79, 18, 9}},
		{"void function returns early", "var<private> n = 0u;\nfn g(k: u32) { if (k % 2u == 0u) { return; } n = k; }\nMAIN g(i); n += 1u; out[i] = n; }", [8]uint32{1, 2, 1, 4, 1, 6, 1, 8}},
		{"function in a divided loop", "fn g(k: u32) -> u32 { var s = 0u; for (var j = 0u; j < k; j++) { s += j; } return s; }\nMAIN var n = 0u; for (var k = 0u; k < i; k++) { n += g(k); } out[i] = n; }", [8]uint32{0, 0, 0, 1, 4, 10, 20, 35}},
		{"function called in both branches", "fn g(k: u32) -> u32 { var s = k; s *= 2u; return s; }\nMAIN var n = 0u; if (i < 4u) { n = g(i); } else { n = g(i) + 1u; } out[i] = n; }", [8]uint32{0, 2, 4, 6, 9, 11, 13, 15}},
		{"if with a condition that the branch changes", "var b = i < 4u; var n = 0u; if (b) { b = false; n = 1u; } else { b = true; n = 2u; } out[i] = n * 10u + u32(b);", [8]uint32{10, 10, 10, 10, 21, 21, 21, 21}},
		{"switch whose selector a case changes", "var s = i % 2u; var n = 0u; switch (s) { case 0u: { s = 1u; n += 1u; } case 1u: { n += 10u; } default: { n += 100u; } } out[i] = n;", [8]uint32{1, 10, 1, 10, 1, 10, 1, 10}},
		{"loop that only breaks", "var n = 1u; loop { if (i > 2u) { break; } n = 2u; break; } out[i] = n;", [8]uint32{2, 2, 2, 1, 1, 1, 1, 1}},
		{"switch with one default", "switch (i) { default: { out[i] = 3u; if (i == 2u) { break; } out[i] = 4u; } }", [8]uint32{4, 4, 3, 4, 4, 4, 4, 4}},
	}
}

// Values of types: vectors, arrays, structs, constants.
func typeCases() []languageCase {
	return []languageCase{
		{"bool vectors", "let a = vec3(i > 1u, i > 3u, i > 5u); let b = !a; let c = a == vec3(true, false, true); out[i] = u32(any(a)) + 10u * u32(all(b)) + 100u * u32(all(a | b)) + 1000u * u32(c.y) + 10000u * u32(any(a & b));",
			[8]uint32{1110, 1110, 1101, 1101, 101, 101, 101, 101}},
		{"select by components", "let v = select(vec4(1u, 2u, 3u, 4u), vec4(5u), vec4(i, i, i, i) > vec4(0u, 2u, 4u, 6u)); out[i] = v.x * 1000u + v.y * 100u + v.z * 10u + v.w;",
			[8]uint32{1234, 5234, 5234, 5534, 5534, 5554, 5554, 5555}},
		{"dynamic element of a value", "let v = vec4(i, i + 1u, i + 2u, i + 3u); out[i] = v[i % 4u] * 10u + (v * 2u)[3u - i % 4u];", each(func(i uint32) uint32 { return (i+i%4)*10 + 2*(i+3-i%4) })},
		{"dynamic element of a const", "const c = array(vec2(1u, 2u), vec2(3u, 4u), vec2(5u, 6u));\nMAIN out[i] = c[i % 3u].y * 10u + c[i % 3u][i % 2u]; }", each(func(i uint32) uint32 {
			c := [3][2]uint32{{1, 2}, {3, 4}, {5, 6}}[i%3]
			return c[1]*10 + c[i%2]
		})},
		{"const of abstract numbers", "const c = array(1, 2, 3);\nconst d = 2.5;\nMAIN let x: f32 = d; let y = c[i % 3u]; out[i] = u32(y) * 10u + u32(x * 4.0); }", each(func(i uint32) uint32 { return (i%3+1)*10 + 10 })},
		{"const of a later const", "const a = b * 2u;\nconst b = c + 1u;\nconst c = 3u;\nMAIN out[i] = a; }", same(8)},
		{"const of a struct", "struct S { a: u32, b: vec2<u32> }\nconst s = S(4u, vec2(5u, 6u));\nMAIN out[i] = s.a * 100u + s.b[i % 2u] * 10u + s.b.y; }", each(func(i uint32) uint32 { return 400 + (5+i%2)*10 + 6 })},
		{"const in a scope", "const k = 2u; { const k = k + 3u; out[i] = k; } out[i] += k * 10u;", same(25)},
		{"nested structs", "struct A { v: vec3<u32>, n: u32 }\nstruct B { a: array<A, 2>, m: u32 }\nMAIN var b: B; b.a[i % 2u].v[i % 3u] = 7u; b.a[1].n = 2u; b.m = 3u; out[i] = (b.a[0].v.x + b.a[1].v.x) * 1000u + (b.a[0].v.y + b.a[1].v.y) * 100u + (b.a[0].v.z + b.a[1].v.z) * 10u + b.a[1].n * b.m; }",
			each(func(i uint32) uint32 { return [3]uint32{7006, 706, 76}[i%3] })},
		{"swizzle through a pointer", "var v = vec4(1u, 2u, 3u, 4u); let p = &v; (*p).y = i; let w = p.wy; out[i] = w.x * 10u + w.y + (*p).zzz.y * 100u;", each(func(i uint32) uint32 { return 340 + i })},
		{"element of a swizzle of a variable", "var v = vec4(1u, 2u, 3u, 4u); let p = &v; out[i] = v.wzyx[i % 4u] * 10u + (*p).yzw[2] + v.xx.y;", each(func(i uint32) uint32 { return (4-i%4)*10 + 5 })},
		{"swizzle of a swizzle", "struct S { v: vec4<u32> }\nMAIN var s = S(vec4(1u, 2u, 3u, 4u)); out[i] = s.v.zw.y * 10u + s.v.wzyx.yz.x; }", same(43)},
		{"pointer to a component", "fn add(p: ptr<function, vec2<u32>>, k: u32) { (*p)[k] += 5u; p.x += 1u; }\nMAIN var v = vec2(1u, 2u); add(&v, i % 2u); out[i] = v.x * 10u + v.y; }", each(func(i uint32) uint32 { return [2]uint32{72, 27}[i%2] })},
		{"pointer to an element as an argument", "fn put(p: ptr<function, u32>, n: u32) { *p = n; }\nMAIN var a = array<u32, 3>(); put(&a[i % 3u], 4u); put(&a[(i + 1u) % 3u], 5u); out[i] = a[0] * 100u + a[1] * 10u + a[2]; }", each(func(i uint32) uint32 { return [3]uint32{450, 45, 504}[i%3] })},
		{"private arrays", "var<private> a: array<array<u32, 3>, 2> = array(array(1u, 2u, 3u), array(4u, 5u, 6u));\nfn at(x: u32, y: u32) -> u32 { return a[x][y]; }\nMAIN a[i % 2u][i % 3u] += 10u; out[i] = at(0u, 0u) + at(i % 2u, i % 3u) * 100u; }",
			each(func(i uint32) uint32 {
				a := [2][3]uint32{{1, 2, 3}, {4, 5, 6}}
				a[i%2][i%3] += 10
				return a[0][0] + a[i%2][i%3]*100
			})},
		{"override expressions", "override n: u32 = 3;\noverride m = n * 2u + 1u;\nconst k = 4u;\nvar<workgroup> w: array<u32, m>;\nMAIN if (i < m) { w[i] = i * k; } workgroupBarrier(); out[i] = w[m - 1u] + m * 100u; }", same(24 + 700)},
		{"const from const functions", "const v = max(vec2(1.5, 3.0), vec2(2.0, 1.0));\nconst w = u32(dot(v, v));\nMAIN out[i] = w; }", same(13)},
		{"const_assert of a constant", "const n = 8u;\nconst_assert n == 8u;\nMAIN out[i] = n; }", same(8)},
		{"compound assignments", "var a = i; a <<= 2u; a |= 1u; a ^= 3u; a -= 1u; a *= 3u; a /= 2u; a %= 100u; a &= 0x7fu; a >>= 1u; out[i] = a;", each(func(i uint32) uint32 { return (((((i<<2 | 1) ^ 3) - 1) * 3 / 2 % 100) & 0x7f) >> 1 })},
		{"vector compound assignment", "var v = vec2(i, 1u); v *= 3u; v += vec2(1u, 2u); v.x -= 1u; v.y++; v[i % 2u] <<= 1u; out[i] = v.x * 100u + v.y;", each(func(i uint32) uint32 {
			v := [2]uint32{3 * i, 6}
			v[i%2] <<= 1
			return v[0]*100 + v[1]
		})},
	}
}

// Numbers at their edges.
func numberCases() []languageCase {
	const big = 0x80000000
	return []languageCase{
		{"wrapping", "let x = 0x7fffffffi; var y = x; y += i32(i) + 1i; out[i] = bitcast<u32>(y);", each(func(i uint32) uint32 { return big + i })},
		{"division of the least", "var a = i32(-2147483648); var b = i32(i) - 1; out[i] = bitcast<u32>(a / b) + bitcast<u32>(a % b);", [8]uint32{big, big, big, 0xc0000000, 0xd5555556 - 2, 0xe0000000, 0xe6666667 - 3, 0xeaaaaaab - 2}},
		{"remainder of a negative", "let a = i32(i) - 4; out[i] = bitcast<u32>(a % 3);", each(func(i uint32) uint32 { return uint32((int32(i) - 4) % 3) })},
		{"shift of a negative", "let a = i32(i) - 4; out[i] = bitcast<u32>(a >> 1u);", each(func(i uint32) uint32 { return uint32((int32(i) - 4) >> 1) })},
		{"shift by a variable", "var n = i * 8u; out[i] = 1u << n;", [8]uint32{1, 1 << 8, 1 << 16, 1 << 24, 1, 1 << 8, 1 << 16, 1 << 24}},
		{"float to integer", "var x = array(3e9, -3e9, 5e9, -1.0, 0.99, -0.99, 2147483648.0, 4294967296.0); out[i] = bitcast<u32>(i32(x[i])) ^ u32(x[i]);",
			[8]uint32{2147483520 ^ 3000000000, big, 2147483520 ^ 4294967040, 0xffffffff, 0, 0, 2147483520 ^ big, 2147483520 ^ 4294967040}},
		{"extractBits at the edge", "out[i] = extractBits(0xf0f0f0f0u, 28u + i, 8u) * 100u + extractBits(0xffu, i, 0u);", [8]uint32{1500, 700, 300, 100, 0, 0, 0, 0}},
		{"insertBits at the edge", "out[i] = insertBits(0u, 0xffffffffu, 28u + i, 8u);", [8]uint32{0xf0000000, 0xe0000000, 0xc0000000, big, 0, 0, 0, 0}},
		{"half rounds to even", "let x = f16(2048.0 + f32(i)); out[i] = u32(f32(x));", [8]uint32{2048, 2048, 2050, 2052, 2052, 2052, 2054, 2056}},
		{"half constant", "let x = 0.1h ; let y = f16(0.1); out[i] = u32(x == y) + 10u * u32(f32(x) == 0.0999755859375);", same(11)},
		{"half arithmetic", "let x = f16(1.0) + f16(1.0 / 2048.0) * f16(i); out[i] = bitcast<u32>(f32(x));",
			each(func(i uint32) uint32 {
				return bitsOfFloat([8]float32{1, 1, 1 + 1.0/1024, 1 + 2.0/1024, 1 + 2.0/1024, 1 + 2.0/1024, 1 + 3.0/1024, 1 + 4.0/1024}[i])
			})},
		{"frexp", "let f = frexp(f32(i) * 3.0); out[i] = u32(f.fract * 64.0) * 100u + u32(f.exp);", [8]uint32{0, 4802, 4803, 3604, 4804, 6004, 3605, 4205}},
		{"modf", "let f = modf(f32(i) * -0.75); out[i] = u32(-f.whole) * 100u + u32(-f.fract * 100.0);", [8]uint32{0, 75, 150, 225, 300, 375, 450, 525}},
		{"modf of a vector", "let f = modf(vec2(f32(i) + 0.25, -2.5)); out[i] = u32(f.whole.x) * 100u + u32(-f.whole.y) * 10u + u32(f.fract.x * 4.0);", each(func(i uint32) uint32 { return i*100 + 21 })},
		{"ldexp", "let x = ldexp(3.0, i32(i) - 2); out[i] = bitcast<u32>(x);", each(func(i uint32) uint32 { return bitsOfFloat(float32(math.Ldexp(3, int(i)-2))) })},
		{"bits", "let x = i * 3u; out[i] = countLeadingZeros(x) * 10000u + countTrailingZeros(x) * 100u + countOneBits(x);", [8]uint32{323200, 300002, 290102, 280002, 280202, 280004, 270102, 270003}},
		{"leading bits of negatives", "let x = i32(i) - 4; out[i] = bitcast<u32>(firstLeadingBit(x));", [8]uint32{1, 1, 0, 0xffffffff, 0xffffffff, 0, 1, 1}},
		{"pack and unpack", "let p = pack4xI8(vec4(-1i, 2i, -128i, i32(i))); let u = unpack4xI8(p); out[i] = bitcast<u32>(u.x + u.y + u.z + u.w);", each(func(i uint32) uint32 { return uint32(int32(i) - 127) })},
		{"pack clamps", "let p = pack4xI8Clamp(vec4(-200i, 200i, 0i, i32(i) * 50i)); out[i] = p >> 24u;", [8]uint32{0, 50, 100, 127, 127, 127, 127, 127}},
	}
}

// TestLanguage runs the programs. TestLanguageOnDevices holds what is expected of them to real compilers.
func TestLanguage(t *testing.T) {
	for _, c := range LanguageCases() {
		t.Run(c.Name, func(t *testing.T) {
			after, findings := run(t, compile(t, c.Text), [3]int{1, 1, 1}, Options{}, make([]uint32, 8))
			if got := [8]uint32(after[0]); got != c.Want {
				t.Errorf("got %v (%#x), want %v", got, got[0], c.Want)
			}
			for _, f := range findings {
				t.Error(f)
			}
		})
	}
}
