package sim

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Kind says what sort of fault a finding is.
type Kind string

// The kinds of findings.
const (
	Race          Kind = "race"          // two invocations touch a location, one of them writes, and nothing orders them
	OutOfBounds   Kind = "out-of-bounds" // an index beyond an array, a vector or an operand
	Uninitialized Kind = "uninitialized" // memory read that nothing wrote, or that belongs to another tensor by now
	Divergent     Kind = "divergent"     // a barrier or subgroup operation that only some invocations reach
	NaN           Kind = "nan"           // a NaN or infinity made of finite values, and used
	Limit         Kind = "limit"         // more than the device or profile grants
	Alias         Kind = "alias"         // a buffer bound to be written and by another binding too
	LoopCap       Kind = "loop-cap"      // more loop trips than a driver is known to run
)

// Finding is one fault, seen once or often: findings of the same kind, place and variable are one.
type Finding struct {
	Kind     Kind
	Kernel   string // as the caller calls it; empty for a program run alone
	File     string
	Line     int // from 1; 0 where the fault is in no line
	Column   int
	Variable string // the variable or operand; empty where there is none
	Index    int64  // the element of the variable, counted in its scalars or vectors as the text indexes it; -1 for none
	Detail   string // a sentence for people

	// Invocations are those concerned: none, one, or the two of a race, the one that was there first before the other.
	Invocations []Invocation
	Count       int // how often it was seen
}

// Invocation is one invocation of a dispatch.
type Invocation struct {
	Workgroup [3]int // workgroup_id
	Local     int    // local_invocation_index
}

func (i Invocation) String() string {
	var b strings.Builder
	b.WriteString("workgroup ")
	for n, v := range i.Workgroup {
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(v))
	}
	b.WriteString(" invocation ")
	b.WriteString(strconv.Itoa(i.Local))
	return b.String()
}

// String returns the finding as one line: file:line:column: kind: variable[index]: detail, and the invocations.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		b.WriteString(":" + strconv.Itoa(f.Line) + ":" + strconv.Itoa(f.Column))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(string(f.Kind) + ": ")
	if f.Variable != "" {
		b.WriteString(f.Variable)
		if f.Index >= 0 {
			b.WriteString("[" + strconv.FormatInt(f.Index, 10) + "]")
		}
		b.WriteString(": ")
	}
	b.WriteString(f.Detail)
	for n, i := range f.Invocations {
		b.WriteString([]string{" (", "; "}[min(n, 1)] + i.String())
	}
	if len(f.Invocations) > 0 {
		b.WriteByte(')')
	}
	if f.Count > 1 {
		b.WriteString(", seen " + strconv.Itoa(f.Count) + " times")
	}
	return b.String()
}

// place is what makes two findings the same.
type place struct {
	kind         Kind
	kernel, file string
	line, column int
	variable     string
	limit        string // what of several limits is exceeded in one place
	between      bool   // of a race: between two workgroups
}

// findings collects findings, each place once.
type findings struct {
	list  []Finding
	at    map[place]int
	sites map[seen]int // findings of one workgroup alone
}

// again counts a finding that was seen before at a site, and reports whether that is all there is to do: of many, few are worth a
// sentence.
func (fs *findings) again(at seen, index int64, who []Invocation) bool {
	n, ok := fs.sites[at]
	if !ok || smaller(who, index, &fs.list[n]) {
		return false
	}
	fs.list[n].Count++
	return true
}

// smaller reports whether a finding of these invocations and this index is told of rather than another of the same place.
func smaller(who []Invocation, index int64, than *Finding) bool {
	return cmp.Or(slices.CompareFunc(who, than.Invocations, compareInvocations), cmp.Compare(index, than.Index)) < 0
}

// seen is a site at which a kind of finding was seen.
type seen struct {
	kind     Kind
	variable string
	site     int32
}

// add counts a finding. Of those of one place the one with the smallest invocations is kept, so that the order in which
// workgroups ran doesn't show.
func (fs *findings) add(f Finding) int {
	if fs.at == nil {
		fs.at = map[place]int{}
	}
	f.Count = max(f.Count, 1)
	key := f.place()
	n, ok := fs.at[key]
	if !ok {
		fs.at[key] = len(fs.list)
		fs.list = append(fs.list, f)
		return len(fs.list) - 1
	}
	old := &fs.list[n]
	count := old.Count + f.Count
	if smaller(f.Invocations, f.Index, old) {
		*old = f
	}
	old.Count = count
	return n
}

func compareInvocations(a, b Invocation) int {
	return cmp.Or(cmp.Compare(a.Workgroup[2], b.Workgroup[2]), cmp.Compare(a.Workgroup[1], b.Workgroup[1]),
		cmp.Compare(a.Workgroup[0], b.Workgroup[0]), cmp.Compare(a.Local, b.Local))
}

// Same reports whether two findings are of one fault: of one kind, place and variable, and of races both within a workgroup or both
// between two.
func (f Finding) Same(other Finding) bool { return f.place() == other.place() }

func (f *Finding) place() place {
	p := place{kind: f.Kind, kernel: f.Kernel, file: f.File, line: f.Line, column: f.Column, variable: f.Variable}
	if f.Kind == Limit {
		p.limit = f.Detail
	}
	p.between = len(f.Invocations) == 2 && f.Invocations[0].Workgroup != f.Invocations[1].Workgroup
	return p
}

// sorted returns the findings by place.
func (fs *findings) sorted() []Finding {
	out := slices.Clone(fs.list)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Variable, b.Variable))
	})
	return out
}
