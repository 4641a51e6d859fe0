package judge_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// sum is a kernel whose lines tests change.
const sum = `@group(0) @binding(0) var<storage, read_write> y: array<f32, 64>;
var<workgroup> part: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
  part[lane] = y[lane];
  workgroupBarrier();
  y[lane] = part[63u - lane];
}
`

// said is a verdict without the words, which are each compiler's own.
type said struct {
	Outcome      judge.Outcome
	Line, Column int
}

// samples are what both families of compilers have to say of texts.
var samples = []struct {
	name, text string
	tint, naga said // of Tint and Dawn; of naga and wgpu-native
}{
	{"good", sum, said{judge.Passed, 0, 0}, said{judge.Passed, 0, 0}},
	{"nothing", "", said{judge.Passed, 0, 0}, said{judge.Passed, 0, 0}},
	{"a wrong type", strings.Replace(sum, "63u - lane", "0.5", 1), said{judge.Refused, 8, 18}, said{judge.Refused, 8, 13}},
	{"an unknown name", strings.Replace(sum, "part[lane] = y", "part[lane] = z", 1), said{judge.Refused, 6, 16}, said{judge.Refused, 6, 16}},
	{"two arrays in one binding", "@group(0) @binding(0) var<storage, read_write> z: u32;\n" + strings.Replace(sum, "part[lane] =", "part[lane] = f32(z) +", 1),
		said{judge.Refused, 2, 23}, said{judge.Refused, 2, 23}},
	{"an infinite constant", strings.Replace(sum, "= y[lane]", "= 1.0 / 0.0", 1), said{judge.Refused, 6, 16}, said{judge.Refused, 6, 16}},
	{"a reserved word", strings.ReplaceAll(sum, "part", "from"), said{judge.Refused, 2, 16}, said{judge.Refused, 2, 16}},
	{"a pointer to storage", "fn f(p: ptr<storage, array<f32, 64>, read_write>) -> f32 { return (*p)[0]; }\n" + strings.Replace(sum, "= y[lane]", "= f(&y)", 1),
		said{judge.Passed, 0, 0}, said{judge.Refused, 1, 1}},
	{"a function without return", sum + "fn f() -> u32 {\n}\n", said{judge.Refused, 11, 1}, said{judge.Refused, 10, 1}},
	{"a barrier that not all reach", strings.Replace(sum, "workgroupBarrier();", "if (lane < 3u) { workgroupBarrier(); }", 1),
		said{judge.Refused, 7, 20}, said{judge.Passed, 0, 0}},
	{"a barrier after some return", strings.Replace(sum, "workgroupBarrier();", "if (lane < 3u) { return; } workgroupBarrier();", 1),
		said{judge.Refused, 7, 30}, said{judge.Passed, 0, 0}},
	{"subgroups", plan.EnableSubgroups + strings.Replace(sum, "= y[lane]", "= subgroupAdd(y[lane])", 1), said{judge.Passed, 0, 0}, said{judge.Passed, 0, 0}},
	{"subgroups not enabled", strings.Replace(sum, "= y[lane]", "= subgroupAdd(y[lane])", 1), said{judge.Refused, 6, 16}, said{judge.Passed, 0, 0}},
	{"no WGSL", "hello, world\n", said{judge.Refused, 1, 1}, said{judge.Refused, 1, 1}},
	{"half", "enable f16;\nvar<private> x: f16;\n", said{judge.Passed, 0, 0}, said{judge.Passed, 0, 0}},
	{"five megabytes", strings.Repeat("// "+strings.Repeat("x", 96)+"\n", 52_500) + sum + "}", said{judge.Refused, 52_510, 1}, said{judge.Refused, 52_510, 1}},
}

// compilers are the validators of this machine. KGEN_REQUIRE=1 requires those that set-up brings.
func compilers(t *testing.T) []judge.Validator {
	found, missing := judge.Commands(t.Context(), time.Minute)
	libraries, others := judge.Libraries(t.Context(), spawn("serve"), time.Minute)
	for _, m := range append(missing, others...) {
		t.Logf("missing: %s: %s", m.Name, m.Why)
		if m.Name != "tint" && m.Name != "naga" && os.Getenv("KGEN_REQUIRE") == "1" {
			t.Errorf("missing: %s: %s; run: make setup", m.Name, m.Why)
		}
	}
	if found = append(found, libraries...); len(found) == 0 {
		t.Skip("no compiler of WGSL was found; run: make setup")
	}
	return found
}

func isNaga(v judge.Validator) bool {
	return strings.HasPrefix(v.Name(), "naga") || strings.HasPrefix(v.Name(), "wgpu-native")
}

func TestCompilers(t *testing.T) {
	var list []judge.Text
	for _, s := range samples {
		list = append(list, judge.Text{Name: s.name, WGSL: s.text})
	}
	for _, v := range compilers(t) {
		t.Logf("%s, %s %s, %s", v.Name(), v.Kind(), v.Place(), v.Adapter())
		for i, got := range verdicts(t, v, list...) {
			want := samples[i].tint
			if isNaga(v) {
				want = samples[i].naga
			}
			if got.Outcome == judge.NotJudged && v.Adapter() != "" && strings.Contains(got.Message, v.Adapter()+" lacks") {
				t.Logf("%s, %s: %s", v.Name(), samples[i].name, got.Message)
				continue
			}
			if d := cmp.Diff(want, said{got.Outcome, got.Line, got.Column}); d != "" {
				t.Errorf("%s, %s (-want +got):\n%s%s", v.Name(), samples[i].name, d, got.Detail)
			}
			if got.Mapped != (isNaga(v) && strings.HasPrefix(samples[i].text, plan.EnableSubgroups)) {
				t.Errorf("%s, %s: in another dialect: %v", v.Name(), samples[i].name, got.Mapped)
			}
			if got.Outcome == judge.Refused && (got.Message == "" || strings.ContainsAny(got.Message, "\n\x1b")) {
				t.Errorf("%s, %s: message %q", v.Name(), samples[i].name, got.Message)
			}
		}
	}
}

// A text over which a compiler overflows its stack ends neither this process nor the judgement of the next text.
func TestCompilersOverflow(t *testing.T) {
	chain := "fn f(a: u32) { if (a == 0u) {}" + strings.Repeat(" else if (a == 1u) {}", 100_000) + " }\n"
	for _, v := range compilers(t) {
		got := verdicts(t, v, judge.Text{Name: "chain", WGSL: chain}, judge.Text{Name: "sum", WGSL: sum})
		t.Logf("%s: %s: %s", v.Name(), got[0].Outcome, got[0].Message)
		if got[0].Outcome == judge.Passed || got[1].Outcome != judge.Passed {
			t.Errorf("%s: %+v", v.Name(), got)
		}
		if strings.HasPrefix(v.Name(), "wgpu-native 29.") && got[0].Outcome != judge.Ended {
			t.Errorf("%s ends over this text: %+v", v.Name(), got[0])
		}
	}
}

// Libraries make pipelines of kernels, and so see how they are bound, and what the adapter has.
func TestLibraryKernels(t *testing.T) {
	kernel := func(change func(*plan.Kernel)) judge.Text {
		k := plan.Kernel{Name: "sum", Text: sum, Bindings: []plan.Binding{{Name: "y", Access: plan.ReadWrite, Bytes: 256}}, Workgroup: [3]int{64, 1, 1}, WorkgroupBytes: 256}
		change(&k)
		return judge.Text{Name: "sum.wgsl", WGSL: k.Text, Kernel: &k}
	}
	for _, v := range compilers(t) {
		if v.Kind() != "library" {
			continue
		}
		got := verdicts(t, v,
			kernel(func(k *plan.Kernel) { k.Proved = true }),
			kernel(func(k *plan.Kernel) { k.Bindings[0].Access = plan.Read }),
			kernel(func(k *plan.Kernel) { k.Text = strings.Replace(k.Text, "fn main", "fn start", 1) }),
			kernel(func(k *plan.Kernel) { k.WorkgroupBytes = 1 << 30 }),
			kernel(func(k *plan.Kernel) { k.Workgroup[0] = 0 }),
			kernel(func(k *plan.Kernel) {}),
		)
		want := []judge.Outcome{judge.Passed, judge.Refused, judge.Refused, judge.NotJudged, judge.Refused, judge.Passed}
		for i, g := range got {
			t.Logf("%s: %s: %s", v.Name(), g.Outcome, g.Message)
			if g.Outcome != want[i] {
				t.Errorf("%s, kernel %d: %s (%s), want %s", v.Name(), i, g.Outcome, g.Message, want[i])
			}
		}
	}
}
