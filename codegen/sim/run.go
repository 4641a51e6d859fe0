package sim

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// dispatch is one run of a program: what its workers share.
type dispatch struct {
	program   *Program
	kernel    string // for findings
	grid      [3]int
	options   Options
	subgroup  int
	loopTrips uint32
	stopTrips uint32
	bound     []bound // for each of the program's bindings
	number    uint32  // of the dispatch, for cells
	tensors   []string
	next      atomic.Uint64
	stop      atomic.Bool
	done      atomic.Int64
	steps     atomic.Int64
	merge     merging
}

func (d *dispatch) stopped() bool { return d.stop.Load() }

func (d *dispatch) tensor(id uint32) string {
	if int(id) < len(d.tensors) {
		return d.tensors[id]
	}
	return "another tensor"
}

// Run dispatches a grid of workgroups. What WebGPU refuses is a finding if the program can run all the same, and an error otherwise:
// a *plan.PlanError for bindings that are missing, not of the buffer or too small. Bindings that the program doesn't use are no matter. A context that ends gives its error.
func (p *Program) Run(ctx context.Context, grid [3]int, bindings []Binding, o Options) (*Result, error) {
	d, err := p.prepare(grid, bindings, o)
	if err != nil {
		return nil, err
	}
	return d.run(ctx)
}

func (p *Program) prepare(grid [3]int, bindings []Binding, o Options) (*dispatch, error) {
	d := &dispatch{program: p, grid: grid, options: o, subgroup: o.SubgroupSize, number: dispatches.Add(1)}
	if d.subgroup == 0 {
		d.subgroup = defaultSubgroup
	}
	d.stopTrips = uint32(min(max(o.StopTrips, 0), 1<<30))
	if d.stopTrips == 0 {
		d.stopTrips = defaultStopTrips
	}
	switch {
	case o.LoopTrips == 0:
		d.loopTrips = min(defaultLoopTrips, d.stopTrips)
	case o.LoopTrips < 0:
		d.loopTrips = d.stopTrips
	default:
		d.loopTrips = min(uint32(min(o.LoopTrips, 1<<30)), d.stopTrips)
	}
	if err := checkOptions(grid, o, d.subgroup); err != nil {
		return nil, err
	}
	if err := d.bind(bindings); err != nil {
		return nil, err
	}
	d.limits()
	d.aliases(bindings)
	return d, nil
}

// dispatches numbers the dispatches of all programs: buffers may be used by several, and their cells name the last.
var dispatches atomic.Uint32

func checkOptions(grid [3]int, o Options, subgroup int) error {
	if subgroup < 4 || subgroup > 128 || subgroup&(subgroup-1) != 0 {
		return &plan.PlanError{Subject: "subgroup size", Detail: decimal(int64(subgroup)) + " is not 4, 8, 16, 32, 64 or 128"}
	}
	all := uint64(1)
	for _, n := range grid {
		if n < 0 || n > 1<<20 {
			return &plan.PlanError{Subject: "grid", Detail: decimal(int64(n)) + " workgroups in a dimension are not within 0 to 1048576"}
		}
		all *= uint64(n)
	}
	if all > 1<<32-2 {
		return &plan.PlanError{Subject: "grid", Detail: decimal(int64(all)) + " workgroups are too many to be simulated"}
	}
	return nil
}

// run runs all workgroups on workers and collects what they found.
func (d *dispatch) run(ctx context.Context) (*Result, error) {
	end := context.AfterFunc(ctx, func() { d.stop.Store(true) })
	defer end()
	groups := uint64(d.grid[0]) * uint64(d.grid[1]) * uint64(d.grid[2])
	workers := d.options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = int(min(uint64(workers), groups, uint64(d.program.together())))
	var wait sync.WaitGroup
	for range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			d.work(groups)
		}()
	}
	wait.Wait()
	for i := range d.bound {
		d.bound[i].buffer.settle()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.races()
	return &Result{Findings: d.merge.findings.sorted(), Groups: int(d.done.Load()), Steps: d.steps.Load()}, nil
}

// together returns how many workgroups may run at the same time, by the memory that each takes.
func (p *Program) together() int {
	const most = 1 << 27 // words
	return max(1, most/max(1, p.slots*p.invocations+p.sharedWords))
}

// work runs workgroups until none is left.
func (d *dispatch) work(groups uint64) {
	m := d.program.machine()
	m.dispatch = d
	m.ended, m.found = false, findings{}
	for i := range d.bound {
		m.local[i].resize(len(d.bound[i].words))
	}
	for !d.stopped() {
		n := d.next.Add(1) - 1
		if n >= groups {
			break
		}
		linear := shuffled(n, groups, d.options.Seed)
		if d.options.Groups != nil && !d.options.Groups(int(linear)) {
			continue
		}
		m.begin(linear)
		all := &m.masks[0]
		all.all(m.n)
		m.run(d.program.body, all)
		m.finish()
		d.done.Add(1)
		if m.ended {
			d.stop.Store(true)
		}
	}
	d.steps.Add(m.steps)
	m.steps = 0
	d.merge.Lock()
	for _, f := range m.found.list {
		d.merge.findings.add(f)
	}
	d.merge.Unlock()
	d.program.release(m)
}

// shuffled is a permutation of 0 to n-1: a stride that has no divisor in common with n, from a start.
func shuffled(i, n, seed uint64) uint64 {
	seed = seed*0x9e3779b97f4a7c15 + 0x7f4a7c15
	stride := (seed>>33)%n | 1
	for gcd(stride, n) != 1 {
		stride += 2
	}
	return (seed%n + i*(stride%n)) % n
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
