package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Runner runs cases. Its methods are not for more than one goroutine at a time.
type Runner struct {
	name     string
	device   *device // nil for the simulator
	subgroup int     // of the simulator
}

// Simulator returns a runner with subgroups of the given size, 32 for 0. Each case gets a device that no other ran on, and what the
// simulator finds is an error.
func Simulator(subgroup int) *Runner {
	if subgroup == 0 {
		subgroup = 32
	}
	return &Runner{name: fmt.Sprintf("simulator with subgroups of %d", subgroup), subgroup: subgroup}
}

// Device returns a runner for a backend, which stays the caller's. The first run of each text is made twice: as a plan has it, and
// without the compiler's bounds checks and with wider bindings, so that nothing but the kernel's own tests keeps it in bounds.
func Device(b plan.Backend) *Runner { return &Runner{name: b.Device().Name, device: newDevice(b)} }

// String names what the cases run on.
func (r *Runner) String() string { return r.name }

// Run runs a kernel whole and returns the operands that it may write. Inputs are the bytes of operands. Every byte outside of them has
// to keep the sentinel.
func (r *Runner) Run(ctx context.Context, k *Kernel, inputs map[string][]byte) (map[string][]byte, error) {
	parts := map[string][]Part{}
	for name, data := range inputs {
		if len(data) != k.bytes(name) {
			return nil, fmt.Errorf("%s has %d bytes, not %d", name, len(data), k.bytes(name))
		}
		parts[name] = Whole(data)
	}
	var out map[string][]byte
	err := r.open(plan.Requires{}, nil, func(s *session) (err error) {
		out, err = s.run(ctx, k, parts)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s, kernel %s: %w", r, k.Plan.Name, err)
	}
	return out, nil
}

// session is a device on which the trials of a case run one after another.
type session struct {
	*device
	sim      *sim.Device // nil for a device
	infinite bool        // see Trial
}

// open calls f with the runner's device, or with a simulated one that is as the case requires and runs some workgroups, nil for all.
func (r *Runner) open(requires plan.Requires, groups []int, f func(s *session) error) error {
	if r.device != nil {
		if groups != nil {
			return errors.New("a device runs all workgroups")
		}
		return f(&session{device: r.device})
	}
	o := sim.Options{SubgroupSize: r.subgroup, Workers: 1}
	if groups != nil {
		o.Groups = func(linear int) bool { _, ok := slices.BinarySearch(groups, linear); return ok }
	}
	d, err := sim.Open(requires, o)
	if err != nil {
		return err
	}
	defer d.Close()
	simulated := newDevice(d)
	simulated.describe = func(record []uint32, uses []plan.Use) {
		d.Describe(&plan.Plan{Lists: []plan.List{{Records: record}}}, [][][]plan.Use{{uses}})
	}
	return f(&session{device: simulated, sim: d})
}

// run runs a kernel once, or twice with a text that is new to a device, and returns what it may write.
func (s *session) run(ctx context.Context, k *Kernel, inputs map[string][]Part) (map[string][]byte, error) {
	before, err := k.images(inputs)
	if err != nil {
		return nil, err
	}
	onDevice := s.sim == nil
	first := !s.ran[k.Plan.Text]
	s.ran[k.Plan.Text] = true
	after, err := s.dispatch(ctx, k, before, onDevice)
	if err != nil {
		return nil, err
	}
	if onDevice && first {
		checked, err := s.dispatch(ctx, k, before, false)
		if err == nil {
			err = k.sameWithChecks(checked, after)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.found(); err != nil {
		return nil, err
	}
	return k.results(before, after)
}

// found returns what the simulator found so far.
func (s *session) found() error {
	if s.sim == nil {
		return nil
	}
	found := slices.DeleteFunc(s.sim.Findings(), func(f sim.Finding) bool { return s.infinite && f.Kind == sim.NaN })
	if len(found) == 0 {
		return nil
	}
	var lines []string
	for _, f := range found[:min(len(found), 3)] {
		lines = append(lines, f.String())
	}
	return fmt.Errorf("%d findings: %s", len(found), strings.Join(lines, "; "))
}

// sameWithChecks compares what a kernel leaves with and without bounds checks: bit for bit, but for values of f32, which two
// compilations may round differently: WGSL lets them contract products and sums. On an H200 small GEMVs do differ; that it is for
// this reason was not shown.
func (k *Kernel) sameWithChecks(checked, unchecked map[int]image) error {
	for number := range checked {
		for i, p := range checked[number].parts {
			left, right := slices.Clone(p.Data), slices.Clone(unchecked[number].parts[i].Data)
			for _, o := range k.Operands {
				from := o.Place.Offset - p.Offset
				if o.Place.Buffer != number || o.Access != plan.ReadWrite || !strings.Contains(o.Elem, "f32") || from >= uint64(len(left)) {
					continue
				}
				to := from + o.Place.Bytes
				if bytes.Equal(left[from:to], right[from:to]) {
					continue
				}
				var want []float64
				for _, v := range Unfloats(left[from:to]) {
					want = append(want, float64(v))
				}
				if e := NMSE(Unfloats(right[from:to]), want); !(e <= 1e-10) {
					return fmt.Errorf("%s differs without bounds checks by an NMSE of %.2g", o.Name, e)
				}
				copy(right[from:to], left[from:to])
			}
			if !bytes.Equal(left, right) {
				return fmt.Errorf("buffer %d differs without bounds checks", number)
			}
		}
	}
	return nil
}
