package chat

import (
	"time"

	"github.com/ardanlabs/jinja"
)

// run is the state of the renderings of one prompt: how much of each bound is used up.
type run struct {
	now      time.Time // what strftime_now tells
	deadline time.Time
	maxValue int   // bytes of a value
	maxText  int   // bytes of the rendering
	maxTotal int64 // bytes of all values printed and stored, and of text in loops
	maxWork  int64 // bytes of template run through
	meter
}

// meter counts what one rendering has used.
type meter struct {
	work, total  int64
	nodes, depth int
	passed       map[*jinja.List]bool // lists that were measured, until a container changes
}

// newRun sets the bounds for data of so many bytes. Templates print most of the data once and store it a few times.
func newRun(data int, now time.Time) *run {
	return &run{
		now: now, deadline: time.Now().Add(maxTime),
		maxValue: 1<<20 + 2*data, maxText: 4<<20 + 8*data,
		maxTotal: 64<<20 + 64*int64(data), maxWork: 256<<20 + 2*turnCost*int64(data),
	}
}

func limit(format string, args ...any) *Error { return errorf(ClassLimit, 0, format, args...) }

// functions are what templates can call, guards and filters included.
func (r *run) functions(data map[string]jinja.Value) {
	add := func(name string, f func(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error)) {
		data[name] = jinja.NewCallable(name, f)
	}
	add(guardStep, r.step)
	add(guardEnter, r.enter)
	add(guardLeave, r.leave)
	add(guardPrint, r.print)
	add(guardKeep, r.keep)
	add(guardPass, r.pass)
	add(guardTest, r.test)
	add(guardResult, r.result)
	add(guardStored, r.stored)
	add(guardNumber, factor)
	add(guardBound, bound)
	add("range", rangeList)
	add("raise_exception", raise)
	add("strftime_now", r.strftime)
	add("__kgen_tojson", r.tojson)
	add("__kgen_replace", r.replace)
	add("__kgen_split", split)
	add("__kgen_join", r.join)
	add("__kgen_indent", r.indent)
	add("__kgen_list", list)
	add("__kgen_string", r.stringFilter)
	add("__kgen_map", r.mapList)
	add("__kgen_trim", r.trim)
	add("__kgen_unique", unique)
	add("__kgen_escape", r.escape)
	add("__kgen_format", r.format)
}

// step charges a loop turn with the bytes of template that it runs through and of text that it may print.
func (r *run) step(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	r.work += args[0].AsInt() + turnCost
	r.total += args[1].AsInt()
	switch {
	case r.work > r.maxWork:
		return jinja.None(), limit("too many loop turns")
	case r.total > r.maxTotal:
		return jinja.None(), limit("more than %d bytes of text", r.maxTotal)
	}
	return jinja.None(), r.clock()
}

func (r *run) clock() error {
	if time.Now().After(r.deadline) {
		return limit("rendering takes longer than %v", maxTime)
	}
	return nil
}

// enter charges a macro as a loop turn; its parameters follow.
func (r *run) enter(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	if r.depth++; r.depth > maxMacroDepth {
		return jinja.None(), limit("more than %d macros within each other", maxMacroDepth)
	}
	if len(args) > 2 {
		if _, err := r.pass(args[2:], nil); err != nil {
			return jinja.None(), err
		}
	}
	return r.step(args, kwargs)
}

// pass lets values go into a loop, a macro or the body of a call, where they may be joined anew: without a bound there,
// each level would double them. It gives back the first one.
func (r *run) pass(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	for _, v := range args {
		if v.IsList() && r.passed[v.AsList()] {
			continue
		}
		if _, err := r.measure(v, nil, 0); err != nil {
			return jinja.None(), err
		}
		if v.IsList() {
			if r.passed == nil {
				r.passed = make(map[*jinja.List]bool)
			}
			r.passed[v.AsList()] = true
		}
	}
	return args[0], r.clock()
}

// test charges the condition of a loop as a turn.
func (r *run) test(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if r.work += turnCost; r.work > r.maxWork {
		return jinja.None(), limit("too many loop turns")
	}
	return args[0], r.clock()
}

// result bounds what a filter gave, so that a row of filters neither makes a text grow nor nests lists nor runs on for long.
func (r *run) result(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if args[0].IsString() {
		if _, err := r.sized(args[0].AsString()); err != nil {
			return jinja.None(), err
		}
	}
	// Filters that nest, such as batch, do so for all elements alike.
	for v, depth := args[0], 0; v.IsList() && v.AsList().Len() > 0; v = v.AsList().Items[0] {
		if depth++; depth > maxDepth {
			return jinja.None(), limit("a value nested deeper than %d", maxDepth)
		}
	}
	return args[0], r.clock()
}

func (r *run) leave([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
	r.depth--
	return jinja.None(), nil
}

// keep lets a value pass that is stored or printed, within bounds on size and nesting. A second argument is the
// dictionary that it is stored in, which it may not hold.
func (r *run) keep(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	var owner *jinja.Dict
	if len(args) > 1 && args[1].IsDict() {
		owner = args[1].AsDict()
	}
	size, err := r.measure(args[0], owner, 0)
	if err != nil {
		return jinja.None(), err
	}
	if r.total += int64(size); r.total > r.maxTotal {
		return jinja.None(), limit("more than %d bytes of values", r.maxTotal)
	}
	return args[0], r.clock()
}

// stored checks a container (the second argument) after something was put into it.
func (r *run) stored(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	clear(r.passed)
	if _, err := r.measure(args[1], nil, 0); err != nil {
		return jinja.None(), err
	}
	return args[0], r.clock()
}

// measure adds up the bytes of strings and elements in v. A container that holds itself exceeds the bound on nesting.
func (r *run) measure(v jinja.Value, owner *jinja.Dict, depth int) (size int, err error) {
	if r.nodes++; r.nodes > maxNodes {
		return 0, limit("more than %d values", maxNodes)
	}
	add := func(item jinja.Value) {
		var n int
		if err == nil {
			n, err = r.measure(item, owner, depth+1)
			size += n
		}
		if err == nil && size > r.maxValue {
			err = limit("a value of more than %d bytes", r.maxValue)
		}
	}
	switch {
	case depth > maxDepth:
		return 0, limit("a value nested deeper than %d", maxDepth)
	case v.IsString():
		size = len(v.AsString())
	case v.IsList():
		size = elementCost * v.AsList().Len()
		for _, item := range v.AsList().Items {
			add(item)
		}
	case v.IsDict():
		if v.AsDict() == owner {
			return 0, limit("a dictionary stored in itself")
		}
		for _, key := range v.AsDict().Keys {
			size += len(key) + elementCost
			add(v.AsDict().Data[key])
		}
	}
	if err == nil && size > r.maxValue {
		err = limit("a value of more than %d bytes", r.maxValue)
	}
	return size, err
}

// factor lets the left side of a product pass, unless it is a string, which would be repeated.
func factor(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if args[0].IsString() {
		return jinja.None(), errorf(ClassUnsupported, 0, "a string is multiplied")
	}
	return args[0], nil
}

// bound brings the bound of a slice into a range that the engine can loop over. It cannot give an error: the engine
// overlooks those of bounds.
func bound(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if !args[0].IsInt() {
		return jinja.None(), nil
	}
	return jinja.NewInt(max(-maxBound, min(args[0].AsInt(), maxBound))), nil
}

func raise(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	message := ""
	if len(args) > 0 {
		message = text(args[0])
	}
	return jinja.None(), &Error{Class: ClassRaised, Detail: message}
}

// rangeList is range(stop), range(start, stop) and range(start, stop, step), bounded.
func rangeList(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	bounds := [3]int64{0, 0, 1}
	for _, arg := range args {
		if !arg.IsInt() {
			return jinja.None(), errorf(ClassRender, 0, "range of %s", arg)
		}
	}
	switch len(args) {
	case 1:
		bounds[1] = args[0].AsInt()
	case 2, 3:
		for i, arg := range args {
			bounds[i] = arg.AsInt()
		}
	default:
		return jinja.None(), errorf(ClassRender, 0, "range with %d arguments", len(args))
	}
	start, stop, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return jinja.None(), errorf(ClassRender, 0, "range with a step of 0")
	}
	const far = 1 << 40 // keeps the sums below from wrapping around
	for _, b := range bounds {
		if b > far || b < -far {
			return jinja.None(), limit("range up to %d", b)
		}
	}
	var items []jinja.Value
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		if len(items) == maxRange {
			return jinja.None(), limit("range of more than %d numbers", maxRange)
		}
		items = append(items, jinja.NewInt(i))
	}
	return jinja.NewList(items), nil
}
