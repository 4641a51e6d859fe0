//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"errors"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// What is judged is compiled, refused with the name, and not kept.
func TestJudge(t *testing.T) {
	a := testAdapter(t)
	d, err := a.OpenWhole(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	info, limits := a.Info(), d.Device().Limits
	limits.OffsetAlignment = info.Limits.OffsetAlignment // nobody asks for less than the default
	if limits != info.Limits || d.Device().F16 != info.F16 || d.Device().Subgroups != info.Subgroups {
		t.Errorf("opened with %+v, the adapter has %+v", d.Device(), info)
	}
	if err := d.JudgeKernel(step(), true); err != nil { // makes the layout, which is kept
		t.Fatal(err)
	}
	live := d.api.live.Load()
	wrong := strings.Replace(step().Text, "3u", "3.5", 1)
	for name, err := range map[string]error{
		"text":          d.JudgeText("text", step().Text),
		"empty":         d.JudgeText("empty", ""),
		"kernel":        d.JudgeKernel(step(), true),
		"checked":       d.JudgeKernel(step(), false),
		"wrong text":    d.JudgeText("wrong text", wrong),
		"wrong kernel":  d.JudgeKernel(&plan.Kernel{Name: "wrong kernel", Text: wrong, Bindings: step().Bindings, Workgroup: step().Workgroup}, true),
		"wrong binding": d.JudgeKernel(&plan.Kernel{Name: "wrong binding", Text: step().Text, Workgroup: step().Workgroup}, true),
	} {
		var e *plan.KernelError
		if refused := errors.As(err, &e); refused != strings.HasPrefix(name, "wrong") || err != nil && !refused || refused && (e.Kernel != name || e.Detail == "") {
			t.Errorf("%s: got %T %v", name, err, err)
		}
	}
	if n := d.api.live.Load() - live; n != 2 { // the layout of no bindings and that of its pipelines
		t.Errorf("%d objects are left", n)
	}
	if len(d.pipelines) != 0 {
		t.Errorf("%d pipelines were kept", len(d.pipelines))
	}
	d.Close()
	for name, err := range map[string]error{"text": d.JudgeText("text", ""), "kernel": d.JudgeKernel(step(), true)} {
		isFault(t, name, err, plan.Closed)
	}
}
