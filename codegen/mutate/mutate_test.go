package mutate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen/mutate"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// frame is a kernel with a place for statements.
const frame = `enable subgroups;
@group(0) @binding(0) var<storage, read> a: array<vec4<f32>, 64>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>, 64>;
@group(0) @binding(2) var<storage, read> codes: array<u32, 64>;
@group(0) @binding(3) var<storage, read_write> y: array<f32, 64>;
var<workgroup> sums: array<f32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) local: u32) {
BODY
}
`

// Each operator on a line of its own sort, and the lines that may stand there instead; an empty one where the line is dropped.
var operatorCases = []struct {
	operator, body string
	want           []string
}{
	{"arithmetic", "y[local] = a[0].x * 2.0 - y[0] / 3.0;", []string{
		"y[local] = a[0].x * 2.0 + y[0] / 3.0;", "y[local] = (a[0].x + 2.0) - y[0] / 3.0;", "y[local] = a[0].x * 2.0 - y[0] * 3.0;",
	}},
	{"arithmetic", "y[local] = -a[0].x;", []string{"y[local] = a[0].x;"}},
	{"arithmetic", "y[local] += 1.0;", []string{"y[local] -= 1.0;"}},
	{"barrier", "workgroupBarrier();", []string{""}},
	{"barrier", "storageBarrier();", []string{""}},
	{"binding", "y[local] = a[local].x;", []string{"y[local] = b[local].x;"}},
	{"binding", "let one = a[0]; let two = a[1]; y[0] = two.x;", []string{
		"let one = b[0]; let two = a[1]; y[0] = two.x;", "let one = a[0]; let two = b[1]; y[0] = two.x;", "let one = a[0]; let two = a[1]; y[0] = one.x;",
	}},
	{"bound", "if (local < 32u) { y[local] = 0.0; }", []string{
		"if (local <= 32u) { y[local] = 0.0; }", "if (local < 33u) { y[local] = 0.0; }", "if (local < 31u) { y[local] = 0.0; }",
	}},
	{"bound", "y[local] = f32(min(local, 0u));", []string{"y[local] = f32(min(local, 1u));"}},
	{"constant", "y[local] = a[0].x * 0.5f + 0.0;", []string{"y[local] = a[0].x * 1f + 0.0;", "y[local] = a[0].x * 0.5f + 1.0;"}},
	{"constant", "y[local] = 3e+38f;", []string{"y[local] = 1.5e+38f;"}},
	{"constant", "let i = local + 4u; y[i * 2u + 1u] = 0.5;", []string{
		"let i = local + 5u; y[i * 2u + 1u] = 0.5;", "let i = local + 4u; y[i * 2u + 1u] = 1.0;",
	}},
	{"conversion", "y[local] = f32(unpack4xU8(codes[local] & 0x7f7f7f7fu).x);", nil},
	{"conversion", "y[local] = f32(unpack4xU8(codes[local] & 0x80u).x);", []string{"y[local] = f32(unpack4xI8(codes[local] & 0x80u).x);"}},
	{"guard", "if (local < 1u) { y[0] = 1.0; } else if (local < 2u) { y[0] = 1.0; } else { y[0] = 1.0; }", nil},
	{"guard", "if (local < 1u) { y[0] = 1.0; } else if (local < 2u) { y[0] = 2.0; } else { y[0] = 1.0; }", []string{
		"if (true) { y[0] = 1.0; } else if (local < 2u) { y[0] = 2.0; } else { y[0] = 1.0; }", "if (local < 1u) { y[0] = 1.0; } else if (true) { y[0] = 2.0; } else { y[0] = 1.0; }",
	}},
	{"conversion", "y[local] = f32(unpack4xU8(codes[local]).x);", []string{"y[local] = f32(unpack4xI8(codes[local]).x);"}},
	{"conversion", "y[local] = f32(dot4I8Packed(codes[0], codes[1]));", []string{"y[local] = f32(i32(dot4U8Packed(codes[0], codes[1])));"}},
	{"conversion", "y[local] = round(bitcast<f32>(codes[0]));", []string{
		"y[local] = floor(bitcast<f32>(codes[0]));", "y[local] = trunc(bitcast<f32>(codes[0]));", "y[local] = round(f32(codes[0]));",
	}},
	{"conversion", "y[local] = abs(y[0]);", []string{"y[local] = y[0];"}},
	{"extreme", "y[local] = max(y[0], 1.0);", []string{"y[local] = min(y[0], 1.0);"}},
	{"guard", "if (local < 32u) { y[local] = 0.0; }", []string{"if (true) { y[local] = 0.0; }"}},
	{"guard", "y[min(local, 63u)] = 0.0;", []string{"y[local] = 0.0;"}},
	{"lane", "y[local] = a[local + 1u].w;", []string{
		"y[local + 1u] = a[local + 1u].w;", "y[local - 1u] = a[local + 1u].w;", "y[local] = a[local + 1u].x;", "y[local] = a[local + 2u].w;", "y[local] = a[local].w;",
	}},
	{"lane", "y[3] = subgroupShuffleXor(y[0], 16u);", []string{
		"y[4] = subgroupShuffleXor(y[0], 16u);", "y[2] = subgroupShuffleXor(y[0], 16u);", "y[3] = subgroupShuffleXor(y[1], 16u);",
		"y[3] = subgroupShuffleXor(y[0], 17u);", "y[3] = subgroupShuffleXor(y[0], 15u);",
	}},
	{"logic", "if (local == 0u || !(local > 3u)) { y[local] = 0.0; }", []string{
		"if (local == 0u && !(local > 3u)) { y[local] = 0.0; }", "if (local != 0u || !(local > 3u)) { y[local] = 0.0; }", "if (local == 0u || local > 3u) { y[local] = 0.0; }",
	}},
	{"mask", "let c = codes[0] & 0xffu; y[local] = select(0.0, 1.0, c > 4u);", []string{
		"let c = codes[0]; y[local] = select(0.0, 1.0, c > 4u);", "let c = codes[0] & 0xffu; y[local] = 1.0;", "let c = codes[0] & 0xffu; y[local] = 0.0;",
	}},
	{"mask", "let c = vec2<u32>(codes[0]) & vec2<u32>(15u);", []string{"let c = vec2<u32>(codes[0]);"}},
	{"nibble", "y[local] = f32((codes[0] & 0x0f0f0f0fu) + ((codes[0] >> 4u) & 0x0fu));", []string{
		"y[local] = f32(((codes[0] >> 4u) & 0x0f0f0f0fu) + ((codes[0] >> 4u) & 0x0fu));", "y[local] = f32((codes[0] & 0x0f0f0f0fu) + (codes[0] & 0x0fu));",
	}},
	{"operands", "y[local] = select(y[0] - y[1], y[0], y[0] < y[1]);", []string{
		"y[local] = select(y[0], y[0] - y[1], y[0] < y[1]);", "y[local] = select(y[1] - y[0], y[0], y[0] < y[1]);", "y[local] = select(y[0] - y[1], y[0], y[1] < y[0]);",
	}},
	{"operands", "y[local] = fma(y[0], y[1], y[2]);", []string{"y[local] = fma(y[0], y[2], y[1]);"}},
	{"reduction", "y[local] = subgroupAdd(y[0] + y[1]);", []string{
		"y[local] = y[0] + y[1];", "y[local] = subgroupMax(y[0] + y[1]);", "y[local] = subgroupAdd(y[0]);", "y[local] = subgroupAdd(y[1]);",
	}},
	{"reduction", "if (local < 32u) { sums[local] += sums[local + 32u]; }", []string{
		"if (local < 16u) { sums[local] += sums[local + 32u]; }", "if (local < 32u) { sums[local] = sums[local + 32u]; }", "if (local < 32u) { sums[local] += sums[local + 16u]; }",
	}},
	{"reduction", "y[local] = fma(y[0], y[1], y[2]);", []string{"y[local] = y[0] * y[1];"}},
	{"scale", "let dm = unpack2x16float(codes[0]); y[local] = dm.x + dot(a[0].xy, dm);", []string{
		"let dm = unpack2x16float(codes[0]); y[local] = dm.y + dot(a[0].xy, dm);", "let dm = unpack2x16float(codes[0]); y[local] = dm.x + dot(a[0].zw, dm);",
	}},
	{"statement", "y[local] = 1.0;", []string{""}},
	{"stride", "for (var i = local; i < 64u; i += 32u) { y[i * 2u] = 1.0; }", []string{
		"for (var i = local; i < 64u; i += 33u) { y[i * 2u] = 1.0; }", "for (var i = local; i < 64u; i += 31u) { y[i * 2u] = 1.0; }",
		"for (var i = local; i < 64u; i += 32u) { y[i * 3u] = 1.0; }", "for (var i = local; i < 64u; i += 32u) { y[i * 1u] = 1.0; }",
	}},
	{"tail", "if (local < 32u) { y[local] = 1.0; y[1] = 2.0; }", []string{
		"if (false) { y[local] = 1.0; y[1] = 2.0; }", "if (local < 32u) { y[local] = 1.0; }",
	}},
	{"zero", "var total = vec4<f32>(); var n = 3u; y[0] = 0.0; y[1] = total.x + f32(n);", []string{
		"var total = vec4<f32>(1.0); var n = 3u; y[0] = 0.0; y[1] = total.x + f32(n);",
		"var total = vec4<f32>(); var n = 0u; y[0] = 0.0; y[1] = total.x + f32(n);",
		"var total = vec4<f32>(); var n = 3u; y[0] = 1.0; y[1] = total.x + f32(n);",
	}},
	{"zero", "var top = -3e+38f; y[0] = top;", []string{"var top = 0.0; y[0] = top;"}},
}

func TestOperators(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range operatorCases {
		tested[c.operator] = true
		t.Run(c.operator, func(t *testing.T) {
			text := strings.Replace(frame, "BODY", c.body, 1)
			got := mutants(t, text, c.operator)
			var want []string
			for _, body := range c.want {
				want = append(want, printed(t, strings.Replace(frame, "BODY", body, 1)))
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.body, diff)
			}
		})
	}
	for _, o := range mutate.Operators() {
		if !tested[o.Name] {
			t.Errorf("operator %s has no case", o.Name)
		}
	}
}

// mutants returns the texts that an operator makes, and checks what Sites promises.
func mutants(t *testing.T, text, operator string) []string {
	t.Helper()
	file, err := wgsl.Parse("kernel.wgsl", text)
	if err != nil {
		t.Fatal(err)
	}
	before := wgsl.Print(file)
	var texts []string
	for _, site := range mutate.Sites(file) {
		mutant, err := mutate.Apply(text, site)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wgsl.Parse("mutant.wgsl", mutant); err != nil {
			t.Errorf("%s: %v", site, err)
		}
		if site.Operator == operator {
			texts = append(texts, mutant)
		}
	}
	if wgsl.Print(file) != before {
		t.Error("Sites left the file changed")
	}
	return texts
}

func printed(t *testing.T, text string) string {
	t.Helper()
	file, err := wgsl.Parse("want.wgsl", text)
	if err != nil {
		t.Fatal(err)
	}
	return wgsl.Print(file)
}

// What names no site is refused.
func TestApplyRefuses(t *testing.T) {
	text := strings.Replace(frame, "BODY", "y[local] = 1.0;", 1)
	var missing *mutate.SiteError
	if _, err := mutate.Apply(text, mutate.Site{Operator: "bound"}); !errors.As(err, &missing) {
		t.Errorf("no such site: got %v", err)
	}
	var broken *wgsl.Error
	if _, err := mutate.Apply("fn", mutate.Site{}); !errors.As(err, &broken) {
		t.Errorf("a text that isn't WGSL: got %v", err)
	}
}
