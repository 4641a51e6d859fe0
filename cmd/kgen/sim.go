package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	kgenrt "github.com/kgen-wgsl/kgen/runtime"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

type simVerb struct {
	flags
	File          string   `arg:"" name:"file.wgsl" help:"The kernel."`
	Grid          string   `required:"" placeholder:"X,Y,Z" help:"Workgroups in each dimension; Y and Z are 1 if left out."`
	Entry         string   `placeholder:"NAME" help:"The entry point, for a file that has several."`
	Buffer        []string `sep:"none" placeholder:"BINDING=BYTES[:seed=N|:file=PATH|:as=BINDING]" help:"What a binding gets; once for each."`
	Const         []string `sep:"none" placeholder:"NAME=VALUE" help:"The value of an override, by its name or the number of its @id; true and false are 1 and 0."`
	Subgroup      string   `default:"32" placeholder:"N" help:"Invocations in a subgroup: 4, 8, 16, 32, 64, 128, or all for a run with each (${default})."`
	Profile       string   `default:"portable" placeholder:"NAME" help:"The device profile whose limits hold (${default}): ${profiles}."`
	ZeroWorkgroup bool     `help:"Let workgroup memory start as zero, as WGSL says, instead of reporting reads of what nobody wrote."`
	Trap          bool     `help:"End the run at the first access out of bounds."`
	LoopTrips     int      `default:"65535" placeholder:"N" help:"Loop trips of one invocation above which there is a finding; 0 for none (${default})."`
	Seed          uint64   `default:"0" placeholder:"N" help:"Orders the workgroups (${default})."`
	Workers       int      `default:"0" placeholder:"N" help:"Workgroups that run at the same time: 1 makes a race repeatable, 0 is one for each processor, or 1 with --subgroup all (${default})."`
	Print         int      `default:"8" placeholder:"N" help:"How many values of each output to show (${default})."`
	Out           []string `sep:"none" placeholder:"BINDING=PATH" help:"Write what a binding holds after the run to a file."`
}

func (simVerb) Help() string {
	return `Runs one dispatch of a kernel, without a GPU or a driver, and reports data races, accesses out of bounds, reads of memory that nobody wrote,
barriers that not all invocations reach, NaN and infinity from finite input, exceeded limits, aliased buffers and endless loops.

BINDING is the number of a binding of group 0, GROUP.BINDING, or the variable's name. A buffer is zero unless said. seed=N fills
it with numbers that are the same for each N: floats uniform in [-1, 1), integers of any 32 bits. file=PATH fills it from a file, in
the layout of memory, little-endian; what lies beyond the file's end is zero. as=BINDING binds the other binding's buffer here too. BYTES may be left out
where the variable's type has a size, or the file; a binding of such a type that isn't mentioned gets a buffer of zeros.

With --subgroup all, outputs are those with 32, and others are compared with them. Findings go to stdout, a line for each:

  FILE:LINE:COLUMN: KIND: VARIABLE[INDEX]: what is wrong (the invocations)

The status is 1 when there are any. Example:

  kgen sim sum.wgsl --grid 4 --buffer values=16384:seed=1 --buffer sums=16`
}

func (v *simVerb) Run(ctx context.Context, t *terminal) error {
	v.apply(t)
	s, err := v.prepare(t)
	if err != nil {
		return err
	}
	if err := s.run(ctx, t); err != nil {
		return err
	}
	if err := s.writeFiles(); err != nil {
		return err
	}
	if v.JSON {
		err = s.printJSON(t)
	} else {
		err = s.print(t, v.Print)
	}
	if err == nil && len(s.findings) > 0 {
		err = errReported
	}
	return err
}

// simulation is one run of a kernel, or one for each size of subgroups, and what came of it.
type simulation struct {
	program   *sim.Program
	grid      [3]int
	options   sim.Options
	sizes     []int // of subgroups; outputs are those with the first
	inputs    []simInput
	files     []simFile
	divergent []*wgsl.Error // what compilers refuse in the text

	findings    []simFinding
	outputs     []simOutput
	differences []simDifference // of the other sizes
}

// prepare does all that can fail before anything runs.
func (v *simVerb) prepare(t *terminal) (*simulation, error) {
	s := &simulation{}
	var err error
	if s.grid, err = parseGrid(v.Grid); err != nil {
		return nil, err
	}
	if s.sizes, err = parseSubgroup(v.Subgroup); err != nil {
		return nil, err
	}
	if s.options, err = v.simOptions(); err != nil {
		return nil, err
	}
	constants, err := parseConstants(v.Const)
	if err != nil {
		return nil, err
	}
	requests, err := parseBuffers(v.Buffer)
	if err != nil {
		return nil, err
	}
	file, divergent, err := readKernel(v.File)
	if err != nil {
		return nil, err
	}
	s.divergent = divergent
	entry, err := chooseEntry(file, v.File, v.Entry)
	if err != nil {
		return nil, err
	}
	if s.program, err = sim.CompileWith(file, entry, constants); err != nil {
		return nil, compileFault(file, err)
	}
	bindings := simBindings{file: file, used: s.program.Bindings(), limits: s.options.Limits}
	if s.findings = bindings.overLimit(); len(s.findings) > 0 {
		return s, nil // there is no memory to run it in
	}
	if s.inputs, err = bindings.inputs(requests); err != nil {
		return nil, err
	}
	for _, name := range bindings.zeros {
		t.note("%s has no --buffer: it holds zeros", name)
	}
	for _, flag := range bindings.unused {
		t.note("--buffer %s: %s does not use that binding", flag, entry)
	}
	s.files, err = bindings.outputFiles(v.Out)
	return s, err
}

func (v *simVerb) simOptions() (sim.Options, error) {
	profile, err := schedules.Lookup(v.Profile)
	switch {
	case err != nil:
		return sim.Options{}, usagef("--profile: %v", err)
	case v.LoopTrips < 0:
		return sim.Options{}, usagef("--loop-trips: %d is less than none", v.LoopTrips)
	case v.Workers < 0:
		return sim.Options{}, usagef("--workers: %d is less than none", v.Workers)
	case v.Print < 0:
		return sim.Options{}, usagef("--print: %d is less than none", v.Print)
	}
	trips := v.LoopTrips
	if trips == 0 {
		trips = -1
	}
	return sim.Options{
		Limits: profile.Limits, ZeroWorkgroup: v.ZeroWorkgroup, Trap: v.Trap, LoopTrips: trips, Workers: v.Workers, Seed: v.Seed,
	}, nil
}

// mostWorkgroups is how many workgroups are run: days of work, and less than an index of them overflows at.
const mostWorkgroups = 1 << 26

// parseGrid reads X, X,Y or X,Y,Z.
func parseGrid(text string) ([3]int, error) {
	grid := [3]int{1, 1, 1}
	fields := strings.Split(text, ",")
	if len(fields) > 3 {
		return grid, usagef("--grid: %q has more than three dimensions", text)
	}
	total := uint64(1)
	for i, field := range fields {
		n, err := strconv.ParseUint(strings.TrimSpace(field), 10, 31)
		if err != nil || n == 0 {
			return grid, usagef("--grid: %q is no number of workgroups: give X, X,Y or X,Y,Z, each at least 1", field)
		}
		if total *= n; total > mostWorkgroups {
			return grid, usagef("--grid: %s are more than %d workgroups", text, mostWorkgroups)
		}
		grid[i] = int(n)
	}
	return grid, nil
}

// parseConstants reads the values of overrides.
func parseConstants(list []string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, text := range list {
		name, number, ok := strings.Cut(text, "=")
		value, err := strconv.ParseFloat(number, 64)
		if number == "true" || number == "false" {
			value, err = map[string]float64{"true": 1}[number], nil
		}
		_, twice := out[name]
		switch {
		case !ok || name == "" || err != nil:
			return nil, usagef("--const: %q is not NAME=VALUE with a number, true or false", text)
		case twice:
			return nil, usagef("--const: %s has two values", name)
		}
		out[name] = value
	}
	return out, nil
}

// compileFault says which flag is wrong or missing, where a text can't be compiled for want of the values of its overrides.
func compileFault(file *wgsl.File, err error) error {
	var value *plan.KernelError
	if errors.As(err, &value) {
		return usagef("--const: %s", value.Detail)
	}
	var mistake *wgsl.Error
	errors.As(err, &mistake)
	for _, d := range file.Decls {
		o, ok := d.(*wgsl.Override)
		if !ok || mistake == nil || o.Init != nil || o.Pos != mistake.Pos {
			continue
		}
		name := o.Symbol.Name
		if o.ID >= 0 {
			name = strconv.Itoa(o.ID)
		}
		return plainError{fmt.Errorf("%w, by --const %s=VALUE", err, name)}
	}
	return plainError{err}
}

// parseSubgroup reads a size of subgroups, or all.
func parseSubgroup(text string) ([]int, error) {
	all := sim.SubgroupSizes()
	if text == "all" {
		const first = 32 // the size that most devices have
		rest := slices.DeleteFunc(slices.Clone(all), func(n int) bool { return n == first })
		return append([]int{first}, rest...), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || !slices.Contains(all, n) {
		names := make([]string, len(all))
		for i, size := range all {
			names[i] = strconv.Itoa(size)
		}
		return nil, usagef("--subgroup: %q is not one of %s or all", text, strings.Join(names, ", "))
	}
	return []int{n}, nil
}

// readKernel parses a file. Barriers that not all invocations are sure to reach are returned apart.
func readKernel(path string) (*wgsl.File, []*wgsl.Error, error) {
	data, err := readWGSL(path)
	if err != nil {
		return nil, nil, err
	}
	if fault := faultOf(string(data)); fault.Message != "" {
		if fault.Line > 0 {
			path = fmt.Sprintf("%s:%d:%d", path, fault.Line, fault.Column)
		}
		return nil, nil, plainError{errors.New(path + ": " + fault.Message)}
	}
	file, divergent, err := wgsl.ParseLenient(path, string(data))
	if err != nil {
		return nil, nil, plainError{err}
	}
	return file, divergent, nil
}

// chooseEntry returns the name of the entry point to run: the one that was asked for, or the only one.
func chooseEntry(file *wgsl.File, path, name string) (string, error) {
	var names []string
	for _, d := range file.Decls {
		if f, ok := d.(*wgsl.Func); ok && f.Entry() {
			names = append(names, f.Name)
		}
	}
	switch {
	case len(names) == 0:
		return "", plainError{fmt.Errorf("%s has no entry point: a function with @compute", path)}
	case name == "" && len(names) > 1:
		return "", usagef("--entry: %s has several entry points: %s", path, strings.Join(names, ", "))
	case name == "":
		return names[0], nil
	case !slices.Contains(names, name):
		return "", usagef("--entry: %s has no entry point %s, but %s", path, name, strings.Join(names, ", "))
	}
	return name, nil
}

// run runs the kernel with each size of subgroups.
func (s *simulation) run(ctx context.Context, t *terminal) error {
	if len(s.findings) > 0 {
		return nil
	}
	w := s.program.Workgroup()
	t.note("%s: %d×%d×%d workgroups of %d×%d×%d invocations, subgroups of %s",
		s.program.Entry(), s.grid[0], s.grid[1], s.grid[2], w[0], w[1], w[2], s.sizesText())
	options := s.options
	if len(s.sizes) > 1 && options.Workers == 0 {
		options.Workers = 1 // so that nothing but the size makes outputs differ
	}
	defer t.counted(&options, int64(s.grid[0])*int64(s.grid[1])*int64(s.grid[2])*int64(len(s.sizes)))()
	for _, size := range s.sizes {
		options.SubgroupSize = size
		buffers := makeBuffers(s.inputs)
		result, err := s.program.Run(ctx, s.grid, bind(s.inputs, buffers), options)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			return plainError{err}
		}
		s.addFindings(result.Findings, size)
		s.addOutputs(buffers, size)
	}
	s.addDivergent()
	return nil
}

func (s *simulation) sizesText() string {
	if len(s.sizes) > 1 {
		return "every size"
	}
	return strconv.Itoa(s.sizes[0])
}

// counted makes options that show how many of all workgroups were begun, on a terminal; done takes the bar away.
func (t *terminal) counted(options *sim.Options, total int64) (done func()) {
	progress := t.progress()
	if progress == nil {
		return func() {}
	}
	var lock sync.Mutex
	begun := int64(0)
	options.Groups = func(int) bool {
		lock.Lock()
		defer lock.Unlock()
		progress(kgenrt.Progress{Stage: "workgroups", Done: begun, Total: total})
		begun++
		return true
	}
	return func() { progress(kgenrt.Progress{Stage: "workgroups", Done: total, Total: total}) }
}
