//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// soundDevice is a device without any trap.
func soundDevice() plan.Device {
	return plan.Device{Kind: "gpu", Name: "card", Limits: plan.DefaultLimits(), Subgroups: true, F16: true}
}

// parrot is a backend without a device: it gives each kernel's answer by the kernel's name.
type parrot struct {
	plan.Backend
	answers map[string][]uint32
	fails   map[string]error // of compiling a kernel
	waits   error
	kernels []string
	submits int
}

func (p *parrot) NewBuffer(plan.Buffer) (plan.Handle, error)                { return 0, nil }
func (p *parrot) Write(plan.Handle, uint64, []byte) error                   { return nil }
func (p *parrot) NewGroup([]plan.Access, []plan.Range) (plan.Handle, error) { return 0, nil }

func (p *parrot) NewPipeline(k *plan.Kernel, _ bool) (plan.Handle, error) {
	p.kernels = append(p.kernels, k.Name)
	return plan.Handle(len(p.kernels) - 1), p.fails[k.Name]
}

func (p *parrot) Submit(w plan.Work) (plan.Ticket, error) {
	p.submits++
	p.kernels = p.kernels[len(p.kernels)-len(w.Replays[0])/plan.RecordWords:]
	return 0, nil
}

func (p *parrot) Wait(context.Context, plan.Ticket) ([]byte, error) {
	var data []byte
	for _, name := range p.kernels {
		for _, w := range p.answers[name] {
			data = binary.LittleEndian.AppendUint32(data, w)
		}
	}
	return data, p.waits
}

// newParrot answers like a sound device with subgroups of 32.
func newParrot() *parrot {
	p := &parrot{answers: map[string][]uint32{}}
	for _, c := range canaries(0, 0) {
		answer := c.answer
		if c.name == "subgroups" {
			answer = nil
			for _, workgroup := range subgroupWorkgroups {
				answer = append(answer, lanes(workgroup, func(local int) int { return local / 32 }, 32))
			}
		}
		for i, k := range c.kernels {
			p.answers[k.Name] = slices.Clone(answer[i])
		}
	}
	return p
}

// lanes is what the subgroups canary stores when the invocations of a workgroup form subgroups as the function says, each in
// the order of the workgroup.
func lanes(workgroup int, subgroup func(local int) int, size int) []uint32 {
	members := map[int][]int{}
	for local := range workgroup {
		members[subgroup(local)] = append(members[subgroup(local)], local)
	}
	var words []uint32
	for i := range workgroup * subgroupGroups {
		local := i % workgroup
		list := members[subgroup(local)]
		sum := 0
		for _, m := range list {
			sum += m
		}
		words = append(words, uint32(size), uint32(slices.Index(list, local)), uint32(list[0]), uint32(len(list)),
			uint32(sum+len(list)), math.Float32bits(float32(sum)/2))
	}
	return words
}

func TestSoundDevice(t *testing.T) {
	p := newParrot()
	want := soundDevice()
	want.SubgroupSize = 32
	got, checks, err := examine(t.Context(), p, soundDevice(), canaries(0, 0))
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range checks {
		if !c.OK || c.Effect != "" {
			t.Errorf("%+v", c)
		}
	}
	if len(checks) != 10 || p.submits != 10 {
		t.Errorf("%d checks in %d submits", len(checks), p.submits)
	}
}

// Features that a device lacks are not looked at.
func TestCanariesOfFeatures(t *testing.T) {
	d := soundDevice()
	d.Subgroups, d.F16 = false, false
	_, checks, err := examine(t.Context(), newParrot(), d, canaries(0, 0))
	for _, c := range checks {
		if c.Name == "subgroups" || c.Name == "f16" {
			t.Errorf("%s was checked", c.Name)
		}
	}
	if err != nil || len(checks) != 8 {
		t.Errorf("%d checks, %v", len(checks), err)
	}
}

// effects is what a wrong answer of each canary does.
func effects() map[string]func(plan.Device) bool {
	return map[string]func(plan.Device) bool{
		"packed dot": func(d plan.Device) bool { return d.BadPackedDot },
		"f16":        func(d plan.Device) bool { return !d.F16 },
		"subgroups":  func(d plan.Device) bool { return d.SubgroupSize == 0 },
	}
}

// TestEveryWrongWordIsFound spoils words of each answer, one at a time. Only what WGSL leaves open may pass.
func TestEveryWrongWordIsFound(t *testing.T) {
	for _, c := range canaries(0, 0) {
		p := newParrot()
		var out [][]uint32
		for _, k := range c.kernels {
			out = append(out, p.answers[k.Name])
		}
		for i, k := range c.kernels {
			for at := 0; at < len(out[i]); at += 1 + len(out[i])/600 {
				out[i][at] ^= 1 << 29
				d := soundDevice()
				if _, ok := c.judge(out, &d); ok && !unjudged(k.Name, at) {
					t.Errorf("%s: nobody sees that word %d is wrong", k.Name, at)
				}
				out[i][at] ^= 1 << 29
			}
		}
	}
}

// unjudged says whether a word is the value of a half that is no number, or the pair that it is packed to.
func unjudged(kernel string, at int) bool {
	if kernel != "canary_unpack" || at%6 > 2 {
		return false
	}
	w := unpackCanary().input[at/6]
	if at%6 > 0 { // the bit that is spoiled is in the upper half of the pair
		w >>= 16
	}
	return w&0x7c00 == 0x7c00
}

// TestWrongAnswers says what follows from a wrong answer of each canary.
func TestWrongAnswers(t *testing.T) {
	for _, c := range canaries(0, 0) {
		for name, spoil := range map[string]func(p *parrot){
			"a wrong word": func(p *parrot) { p.answers[c.kernels[0].Name][5%len(p.answers[c.kernels[0].Name])] ^= 1 << 29 },
			"zeros":        func(p *parrot) { clear(p.answers[c.kernels[0].Name]) },
			"a kernel that is refused": func(p *parrot) {
				p.fails = map[string]error{c.kernels[0].Name: &plan.KernelError{Kernel: c.kernels[0].Name, Detail: "unknown\n  word"}}
			},
		} {
			p := newParrot()
			spoil(p)
			d, checks, err := examine(t.Context(), p, soundDevice(), canaries(0, 0))
			at := slices.IndexFunc(checks, func(k Check) bool { return k.Name == c.name })
			if at < 0 || checks[at].OK || checks[at].Detail == "" || checks[at].Effect == "" {
				t.Errorf("%s, %s: %+v", c.name, name, checks)
				continue
			}
			var fault *plan.DeviceError
			refused := errors.As(err, &fault) && fault.Fault == plan.Miscomputes
			if effect, ok := effects()[c.name]; ok {
				if err != nil || !effect(d) || checks[at].Effect == refusedEffect {
					t.Errorf("%s, %s: %+v, %+v, %v", c.name, name, checks[at], d, err)
				}
				continue
			}
			if !refused || checks[at].Effect != refusedEffect || !strings.Contains(err.Error(), "check adapter card: it computes wrong results: "+c.name+": ") {
				t.Errorf("%s, %s: %+v, %v", c.name, name, checks[at], err)
			}
			if len(checks) != 10 {
				t.Errorf("%s, %s: only %d checks ran", c.name, name, len(checks))
			}
		}
	}
}

// TestMessages holds the texts that people see.
func TestMessages(t *testing.T) {
	p := newParrot()
	p.answers["canary_copy"][7] = 3
	p.answers["canary_integers"][16*3+12]++
	p.answers["canary_floats"][13] = math.Float32bits(2)
	p.answers["canary_unpack"][6*40] = 0
	_, _, err := examine(t.Context(), p, soundDevice(), canaries(0, 0))
	in := noise(4096)
	want := "check adapter card: it computes wrong results: copy: word 7 is 3, not " + utoa(uint64(in[7])) + "; 1 of 4096 are wrong; integers: i32 a >> s of pair 3 is "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s...", err, want)
	}
	for _, part := range []string{"; floats: exp of pair 0 is 2, not ", "; unpack: half 0x500 is unpacked to 0 and packed to 0x500"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in %v", part, err)
		}
	}
}

// capped does what a driver does that ends loops after a number of trips: nested loops go round as often as the trips, a last
// look counted, allow.
func capped(trips int) (single, nested []uint32) {
	n := min(trips, longLoop)
	single = []uint32{uint32(n), loopState(12345, uint32(n))}
	rounds, inner, left := 0, 0, trips
	for rounds < nestOuter && left > 0 {
		left--
		rounds++
		can := min(nestInner, max(left, 1))
		inner += can
		left -= can + 1
	}
	return single, []uint32{uint32(rounds), loopState(12345, uint32(inner))}
}

func TestLoopCaps(t *testing.T) {
	for _, c := range []struct {
		trips   int
		change  func(single, nested []uint32)
		want    int
		refused string
	}{
		{trips: 1 << 30},
		{trips: longLoop},
		{trips: longLoop - 1, want: longLoop - 1},
		{trips: 65535, want: 65535},
		{trips: nestTrips, want: nestTrips},
		{trips: nestTrips - 1, want: nestTrips - 1},
		{trips: 255, want: 255},
		{trips: 65535, refused: "a loop was not entered", change: func(s, _ []uint32) { s[0], s[1] = 0, 12345 }},
		{trips: 65535, refused: "counted 65535 and computed something else", change: func(s, _ []uint32) { s[1]++ }},
		{trips: 1 << 30, refused: "counted 100001 and", change: func(s, _ []uint32) { s[0], s[1] = longLoop+1, loopState(12345, longLoop+1) }},
		// Caps that our way to count does not foresee: of one loop alone, or of nested loops only.
		{trips: 65535, refused: "nested loops of 4000 times 12 trips went round 3999 times", change: func(_, n []uint32) { n[0]-- }},
		{trips: 1 << 30, refused: "nested loops", change: func(_, n []uint32) { n[1]++ }},
	} {
		p := newParrot()
		single, nested := capped(c.trips)
		if c.change != nil {
			c.change(single, nested)
		}
		p.answers["canary_loop"], p.answers["canary_nested_loops"] = single, nested
		d, checks, err := examine(t.Context(), p, soundDevice(), []canary{loopsCanary()})
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("cap of %d: %v, want %s", c.trips, err, c.refused)
			}
		case err != nil || d.LoopTrips != c.want || checks[0].OK != (c.want == 0):
			t.Errorf("cap of %d: %d, %+v, %v", c.trips, d.LoopTrips, checks, err)
		case c.want != 0 && checks[0].Effect != "kernels are kept to "+strconv.Itoa(c.want)+" loop trips for each invocation":
			t.Errorf("cap of %d: %+v", c.trips, checks[0])
		}
	}
}

// TestSubgroupSizes gives the canary devices of all sorts, and libraries that report what they like.
func TestSubgroupSizes(t *testing.T) {
	consecutive := func(size int) func(workgroup int) []uint32 {
		return func(workgroup int) []uint32 {
			return lanes(workgroup, func(local int) int { return local / size }, size)
		}
	}
	for _, c := range []struct {
		name        string
		answer      func(workgroup int) []uint32
		least, most int // what the library reports
		size        int
		without     bool   // the adapter is left without subgroups
		detail      string // part of what is said
	}{
		{name: "4", answer: consecutive(4), size: 4, detail: "measured size 4"},
		{name: "32", answer: consecutive(32), size: 32},
		{name: "64, more than a workgroup of 32", answer: consecutive(64), size: 64},
		{name: "128", answer: consecutive(128), size: 128},
		{name: "as reported", answer: consecutive(8), least: 8, most: 8, size: 8},
		{name: "32 of a reported 16 to 32", answer: consecutive(32), least: 16, most: 32, detail: "other kernels may get 16 to 32"},
		{name: "8 of a reported 4 to 128", answer: consecutive(8), least: 4, most: 128, detail: "may get 4 to 128"},
		{name: "8 where 32 is reported", answer: consecutive(8), least: 32, most: 32, detail: "subgroups have 8 invocations, the library reports 32 to 32"},
		{name: "sizes that differ", answer: func(workgroup int) []uint32 {
			if workgroup == 256 {
				return consecutive(16)(workgroup)
			}
			return consecutive(32)(workgroup)
		}, detail: "32 invocations in some workgroups and 16 in others"},
		{name: "every other lane", answer: func(workgroup int) []uint32 {
			return lanes(workgroup, func(local int) int { return local % (workgroup / 32) }, 32)
		}, detail: "do not follow the order of a workgroup"},
		{name: "a size that is not the one used", answer: func(workgroup int) []uint32 {
			return lanes(workgroup, func(local int) int { return local / 8 }, 32)
		}, detail: "do not follow"},
		{name: "a sum too small", answer: spoiled(consecutive(32), 4), without: true, detail: "subgroupAdd of u32 is"},
		{name: "a sum of f32 too small", answer: spoiled(consecutive(32), 5), without: true, detail: "subgroupAdd of f32"},
		{name: "a ballot that misses one", answer: spoiled(consecutive(32), 3), without: true, detail: "subgroupBallot counts"},
		{name: "a first invocation out of range", answer: func(workgroup int) []uint32 {
			words := consecutive(32)(workgroup)
			words[2] = 300
			return words
		}, without: true, detail: "subgroupBroadcastFirst gives 300"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newParrot()
			for _, workgroup := range subgroupWorkgroups {
				p.answers["canary_subgroups_"+strconv.Itoa(workgroup)] = c.answer(workgroup)
			}
			d, checks, err := examine(t.Context(), p, soundDevice(), canaries(c.least, c.most)[9:])
			if err != nil || d.SubgroupSize != c.size || d.Subgroups == c.without || !strings.Contains(checks[0].Detail, c.detail) {
				t.Errorf("size %d, subgroups %v, %+v, %v", d.SubgroupSize, d.Subgroups, checks, err)
			}
		})
	}
}

func TestSubgroupSizeIsJudged(t *testing.T) {
	for _, c := range []struct {
		name            string
		workgroup, size int
		change          func(words []uint32)
		want            int
	}{
		{"32 of 64", 64, 32, func([]uint32) {}, 32},
		{"64 of a workgroup of 32", 32, 64, func([]uint32) {}, 64},
		{"one says another size", 64, 32, func(w []uint32) { w[subgroupWords*100] = 16 }, 0},
		{"lanes out of order", 64, 32, func(w []uint32) { w[subgroupWords*5+1], w[subgroupWords*6+1] = 6, 5 }, 0},
		{"not consecutive", 64, 32, func(w []uint32) { w[subgroupWords*40+2] = 0 }, 0},
		{"nothing stored", 64, 32, func(w []uint32) { clear(w) }, 0},
	} {
		words := lanes(c.workgroup, func(local int) int { return local / c.size }, c.size)
		c.change(words)
		if got := subgroupSize(words, c.workgroup); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// spoiled makes one of the words of the last invocation smaller.
func spoiled(answer func(int) []uint32, word int) func(int) []uint32 {
	return func(workgroup int) []uint32 {
		words := answer(workgroup)
		words[len(words)-subgroupWords+word]--
		return words
	}
}

// TestExamineFails tells a device that gives no answer from a caller that does not wait for one.
func TestExamineFails(t *testing.T) {
	lost := &plan.DeviceError{Fault: plan.Lost, Call: "use the device", Detail: "it was lost"}
	memory := &plan.DeviceError{Fault: plan.OutOfMemory, Call: "create buffer"}
	for _, c := range []struct{ err, want error }{
		{lost, &plan.DeviceError{Fault: plan.Miscomputes}},
		{memory, memory},
		{context.Canceled, context.Canceled},
	} {
		p := newParrot()
		p.waits = c.err
		_, _, err := examine(t.Context(), p, soundDevice(), canaries(0, 0))
		var fault, want *plan.DeviceError
		if errors.As(c.want, &want) {
			if !errors.As(err, &fault) || fault.Fault != want.Fault {
				t.Errorf("%v: %v", c.err, err)
			}
		} else if !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}

// TestCanaries runs all on the adapter. Mesa's llvmpipe is known to cap loops.
func TestCanaries(t *testing.T) {
	a := testAdapter(t)
	checks, err := a.Checks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		t.Logf("%-12s ok %-5v %6.1f ms %s; %s", c.Name, c.OK, float64(c.Nanos)/1e6, c.Detail, c.Effect)
		if !c.OK && c.Name != "loops" {
			t.Errorf("%s is wrong", c.Name)
		}
	}
	for _, name := range []string{"llvmpipe", "SwiftShader"} {
		if strings.Contains(a.Info().Name, name) && a.Info().Kind != "software" {
			t.Errorf("%s is called a %s", a.Info().Name, a.Info().Kind)
		}
	}
	if strings.Contains(a.Info().Name, "llvmpipe") && a.Info().LoopTrips != 65535 {
		t.Errorf("llvmpipe: loops capped at %d; if a later Mesa caps at another number or at none, say so here", a.Info().LoopTrips)
	}
	again, _ := a.Checks(t.Context())
	if len(again) == 0 || &again[0] != &checks[0] {
		t.Error("the canaries ran twice")
	}
}

// TestBrokenKernels changes one piece of a canary's text on the real adapter: each change must be found. They stand for
// compilers that get it wrong.
func TestBrokenKernels(t *testing.T) {
	a := testAdapter(t)
	d, err := a.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	device, err := a.open(t.Context(), plan.Requires{Subgroups: d.Subgroups, F16: d.F16})
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	for _, c := range []struct{ canary, old, new string }{
		{"copy", "x[id.x]", "x[id.x ^ 1u]"},
		{"workgroup", "held[63u - local]", "held[62u - local]"},
		{"workgroup", "half >>= 1u", "half >>= 2u"},
		{"integers", "a << s", "a << (s & 15u)"},
		{"integers", "u32(a < b)", "u32(c < d)"},
		{"integers", "u32(c >= d)", "u32(c > d)"},
		{"integers", "c >> s", "bitcast<i32>(a >> s)"},
		{"integers", "c / by", "c / max(by, 1)"},
		{"floats", "fma(a, b, a)", "fma(a, b, 0.0)"},
		{"floats", "round(a)", "floor(a + 0.5)"},
		{"floats", "u32(a == b)", "u32(a >= b)"},
		{"floats", "-abs(a) / 8.0", "-abs(a) / 8.001"},
		{"floats", "i32(a)", "i32(floor(a))"},
		{"control flow", "== 0u && count", "== 0u || count"},
		{"control flow", "var fresh = 0u;", "var fresh = sum;"},
		{"control flow", "{ continue; }", "{ break; }"},
		{"control flow", "if k > 8u { break; }", ""},
		{"control flow", "return k; }", "}"},
		{"control flow", "v.z += v.y", "v.z += v.x"},
		{"control flow", "c <= r", "c < min(r, 1u)"},
		{"unpack", "pair.y", "pair.x"},
		{"unpack", "unpack4xI8(w)", "vec4<i32>(unpack4xU8(w))"},
		{"packed dot", "bitcast<u32>(dot4I8Packed(x[id.x], x[id.x + 512u]))", "dot4U8Packed(x[id.x], x[id.x + 512u])"},
		{"f16", "f16(1.0)", "f16(0.0)"},
		{"loops", "i < x[0]; i++", "i < x[0] - 40000u; i++"},
		{"subgroups", "subgroupAdd(f32(local) * 0.5)", "subgroupMax(f32(local) * 0.5)"},
		{"subgroups", "subgroupAdd(local + 1u)", "subgroupAdd(local)"},
	} {
		all := canaries(0, 0)
		chosen := all[slices.IndexFunc(all, func(k canary) bool { return k.name == c.canary })]
		if chosen.applies != nil && !chosen.applies(d) {
			continue
		}
		k := *chosen.kernels[0]
		k.Text = strings.Replace(k.Text, c.old, c.new, 1)
		if k.Text == chosen.kernels[0].Text {
			t.Fatalf("%s has no %s", c.canary, c.old)
		}
		chosen.kernels[0] = &k
		sound := d
		sound.LoopTrips = 0
		_, checks, _ := examine(t.Context(), device, sound, []canary{chosen})
		if len(checks) != 1 || checks[0].OK || c.canary != "loops" && strings.Contains(checks[0].Detail, "compile") {
			t.Errorf("%s with %q: %+v", c.canary, c.new, checks)
		}
	}
}

// TestRefusedAdapter gives an adapter a canary with another answer: it is refused by name, each time, and the next one is taken.
func TestRefusedAdapter(t *testing.T) {
	good := testAdapter(t)
	bad := *good
	bad.info.Name, bad.measured, bad.refused, bad.checks = "broken card", false, nil, nil
	bad.info.Subgroups, bad.info.SubgroupSize = false, 0
	bad.canaries = []canary{copyCanary(), workgroupCanary()}
	bad.canaries[0] = exactly(bad.canaries[0], make([]uint32, 4096), wordOf("word"))
	var log []string
	library := *good.library
	library.options.Log = func(line string) { log = append(log, line) }
	bad.library = &library
	want := "check adapter broken card: it computes wrong results: copy: word 1 is "
	for range 2 {
		_, measured := bad.Measure(t.Context())
		d, opened := bad.Open(t.Context(), plan.Requires{})
		for _, err := range []error{measured, opened} {
			var fault *plan.DeviceError
			if !errors.As(err, &fault) || fault.Fault != plan.Miscomputes || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if d != nil {
			d.Close()
			t.Error("it was opened")
		}
	}
	checks, err := bad.Checks(t.Context())
	if err == nil || len(checks) != 2 || checks[0].OK || checks[0].Effect != refusedEffect || !checks[1].OK {
		t.Errorf("%+v, %v", checks, err)
	}
	if len(log) != 1 || !strings.HasPrefix(log[0], "adapter broken card: copy: word 1 is ") || !strings.HasSuffix(log[0], "; the adapter is refused") {
		t.Errorf("log %q", log)
	}

	log = nil
	next := *good
	next.library = &library
	library.adapters = []*Adapter{&bad, &next}
	library.options.Adapter = "" // the list above stands
	t.Setenv("KGEN_ADAPTER", "")
	d, err := library.openFirst(t.Context(), plan.Requires{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Device().Name != good.info.Name || !strings.HasPrefix(log[0], "adapter broken card is passed over: "+want) {
		t.Errorf("opened %s, log %q", d.Device().Name, log)
	}
	library.adapters = []*Adapter{&bad}
	if _, err := library.openFirst(t.Context(), plan.Requires{}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("with no other: %v", err)
	}
}

// TestMeasureCanceled leaves the adapter as it was.
func TestMeasureCanceled(t *testing.T) {
	a := *testAdapter(t)
	a.measured, a.checks = false, nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Measure(ctx); !errors.Is(err, context.Canceled) || a.measured {
		t.Errorf("got %v", err)
	}
	if _, err := a.Measure(t.Context()); err != nil || !a.measured {
		t.Errorf("after it: %v", err)
	}
}
