//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// A canary is one or more kernels with a known answer. Its expected words are computed in Go, by the definition of what the
// kernels do.
type canary struct {
	name    string
	applies func(d plan.Device) bool // nil for every device
	input   []uint32                 // what binding 0 holds
	kernels []*plan.Kernel           // each with binding 0 to read and binding 1 to write
	groups  uint32                   // workgroups of each kernel
	answer  [][]uint32               // what each writes on a sound device, if there is but one answer
	// judge looks at what the kernels wrote. It says what was found, or what is wrong, and notes in d what follows.
	judge func(out [][]uint32, d *plan.Device) (detail string, ok bool)
	// wrong says what follows from a wrong answer, and notes it in d. Without it, or when it says nothing, the adapter is refused.
	wrong func(d *plan.Device) (effect string)
}

// canaries lists them in the order in which they run. The reported sizes of subgroups are the library's, 0 when it tells none.
func canaries(reportedLeast, reportedMost int) []canary {
	return []canary{
		copyCanary(),
		workgroupCanary(),
		integersCanary(),
		floatsCanary(),
		controlCanary(),
		unpackCanary(),
		loopsCanary(),
		packedDotCanary(),
		halfCanary(),
		subgroupsCanary(reportedLeast, reportedMost),
	}
}

// refusedEffect is what follows when an adapter computes what every kernel needs wrong.
const refusedEffect = "the adapter is refused"

// examine runs the canaries that concern info on a backend that was opened with all features of info. It returns info with what
// they found, and what came of each. The error is a *plan.DeviceError with fault Miscomputes when the adapter is refused;
// errors of the context and of an allocation are returned as they are.
func examine(ctx context.Context, b plan.Backend, info plan.Device, list []canary) (plan.Device, []Check, error) {
	var checks []Check
	var refused []string
	e := examiner{backend: b}
	if err := e.allocate(list); err != nil {
		return info, nil, err
	}
	for _, c := range list {
		if c.applies != nil && !c.applies(info) {
			continue
		}
		start := time.Now()
		check := Check{Name: c.name}
		out, err := e.run(ctx, c)
		switch detail, ends := trouble(err); {
		case ends:
			return info, checks, err
		case err != nil:
			check.Detail = detail
		default:
			check.Detail, check.OK = c.judge(out, &info)
		}
		if !check.OK {
			if c.wrong != nil {
				check.Effect = c.wrong(&info)
			}
			if check.Effect == "" {
				check.Effect = refusedEffect
				refused = append(refused, c.name+": "+check.Detail)
			}
		}
		check.Nanos = time.Since(start).Nanoseconds()
		checks = append(checks, check)
	}
	if len(refused) > 0 {
		return info, checks, &plan.DeviceError{
			Fault: plan.Miscomputes, Call: "check adapter " + info.Name, Detail: "it computes wrong results: " + strings.Join(refused, "; "),
		}
	}
	return info, checks, nil
}

// trouble describes an error of running a canary, and says whether it ends the examination without a verdict.
func trouble(err error) (detail string, ends bool) {
	var device *plan.DeviceError
	var kernel *plan.KernelError
	switch {
	case errors.As(err, &kernel):
		return oneLine(kernel.Error()), false
	case errors.As(err, &device):
		return device.Error(), device.Fault != plan.Lost && device.Fault != plan.Failed
	}
	return "", err != nil
}

// examiner has the buffers of all canaries.
type examiner struct {
	backend  plan.Backend
	in, out  plan.Handle
	inBytes  uint64
	outBytes uint64
}

func (e *examiner) allocate(list []canary) error {
	for _, c := range list {
		end := uint64(0)
		for _, k := range c.kernels {
			end = align(end) + k.Bindings[1].Bytes
		}
		e.inBytes, e.outBytes = max(e.inBytes, 4*uint64(len(c.input))), max(e.outBytes, end)
	}
	var err error
	if e.in, err = e.backend.NewBuffer(plan.Buffer{Name: "canary input", Kind: plan.ArenaBuffer, Bytes: e.inBytes}); err != nil {
		return err
	}
	e.out, err = e.backend.NewBuffer(plan.Buffer{Name: "canary output", Kind: plan.OutputBuffer, Bytes: e.outBytes})
	return err
}

func align(at uint64) uint64 { return (at + plan.RangeAlignment - 1) &^ (plan.RangeAlignment - 1) }

// run runs the kernels of a canary in one submit and returns the words that each wrote.
func (e *examiner) run(ctx context.Context, c canary) ([][]uint32, error) {
	data := make([]byte, 4*len(c.input))
	for i, w := range c.input {
		binary.LittleEndian.PutUint32(data[4*i:], w)
	}
	if err := e.backend.Write(e.in, 0, data); err != nil {
		return nil, err
	}
	var work plan.Work
	var records []uint32
	at := uint64(0)
	for _, k := range c.kernels {
		pipeline, err := e.backend.NewPipeline(k, true)
		if err != nil {
			return nil, err
		}
		to := plan.Range{Buffer: int(e.out), Offset: align(at), Bytes: k.Bindings[1].Bytes}
		at = to.Offset + to.Bytes
		group, err := e.backend.NewGroup(k.Accesses(), []plan.Range{{Buffer: int(e.in), Bytes: e.inBytes}, to})
		if err != nil {
			return nil, err
		}
		records = append(records, uint32(pipeline), uint32(group), c.groups, 1, 1)
		work.Reads = append(work.Reads, to)
	}
	work.Replays = [][]uint32{records}
	ticket, err := e.backend.Submit(work)
	if err != nil {
		return nil, err
	}
	answer, err := e.backend.Wait(ctx, ticket)
	if err != nil {
		return nil, err
	}
	out := make([][]uint32, len(c.kernels))
	for i, r := range work.Reads {
		for n := range r.Bytes / 4 {
			out[i] = append(out[i], binary.LittleEndian.Uint32(answer[4*n:]))
		}
		answer = answer[r.Bytes:]
	}
	return out, nil
}

// canaryKernel is a kernel over x, the input, and y, words that it writes. body is what follows the bindings: an entry point
// main with the given workgroup; header comes before them. Like most kernels, it is compiled without bounds checks: its indices are
// within the ranges that run binds.
func canaryKernel(name, header string, workgroup, words int, body string) *plan.Kernel {
	return &plan.Kernel{
		Name: "canary_" + name,
		Text: header + `@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
` + body,
		Bindings:  []plan.Binding{{Name: "x", Access: plan.Read, Bytes: 4}, {Name: "y", Access: plan.ReadWrite, Bytes: 4 * uint64(words)}},
		Workgroup: [3]int{workgroup, 1, 1},
		Proved:    true,
	}
}

// noise is n words that no kernel could guess; the first ones are the ends of the ranges of integers.
func noise(n int) []uint32 {
	edges := []uint32{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<31 + 1, 2, 0x80808080}
	words := make([]uint32, n)
	state := uint32(n)
	for i := range words {
		state = state*1664525 + 1013904223
		words[i] = state ^ state>>15
	}
	for i, e := range edges {
		words[i*7%n] = e
		words[n/2+i] = e // pairs of halves meet it with something else
	}
	return words
}

// firstWrong compares words and describes the first difference.
func firstWrong(got, want []uint32, what func(i int) string) (string, bool) {
	wrong, at := 0, 0
	for i := range want {
		if got[i] != want[i] {
			if wrong == 0 {
				at = i
			}
			wrong++
		}
	}
	if wrong == 0 {
		return "", true
	}
	return what(at) + " is " + utoa(uint64(got[at])) + ", not " + utoa(uint64(want[at])) + "; " + strconv.Itoa(wrong) + " of " + strconv.Itoa(len(want)) + " are wrong", false
}

// exactly completes a canary of one kernel whose every word has one right value.
func exactly(c canary, want []uint32, what func(i int) string) canary {
	c.answer = [][]uint32{want}
	c.judge = func(out [][]uint32, _ *plan.Device) (string, bool) { return firstWrong(out[0], want, what) }
	return c
}

// wordOf names a word of the answer.
func wordOf(what string) func(int) string {
	return func(i int) string { return what + " " + strconv.Itoa(i) }
}

// of names a word of the answer by the item, of as many words as there are names, that it belongs to.
func of(item string, names ...string) func(int) string {
	return func(i int) string { return names[i%len(names)] + " of " + item + " " + strconv.Itoa(i/len(names)) }
}
