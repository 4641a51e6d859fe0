package plan

import (
	"cmp"
	"slices"
)

// Builder makes a Plan. Buffers come first, then kernels, then what uses them. The first mistake sticks: later calls do
// nothing of use, and Plan returns it.
type Builder struct {
	plan    Plan
	limits  Limits
	sizes   []uint64          // of the buffers
	halves  int               // keys and values placed
	kernels map[string]int    // by text
	names   map[string]bool   // of kernels
	groups  map[string]uint32 // by layout and ranges
	lists   []*ListBuilder
	err     error
}

// NewBuilder returns a builder of an empty plan for devices that offer what requires says. Limits that it leaves at zero
// are WebGPU's defaults.
func NewBuilder(name, profile string, requires Requires) *Builder {
	return &Builder{
		plan:    Plan{Format: Format1, Name: name, Profile: profile, Requires: requires},
		limits:  requires.Limits.WithDefaults(),
		kernels: map[string]int{},
		names:   map[string]bool{},
		groups:  map[string]uint32{},
	}
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *Builder) mistake(subject, detail string) {
	b.fail(&PlanError{Subject: subject, Detail: detail})
}

// Buffer adds a buffer and returns its number.
func (b *Builder) Buffer(u Buffer) int {
	switch {
	case u.Name == "" || u.Kind < WeightsBuffer || u.Kind > OutputBuffer:
		b.mistake("buffer "+u.Name, "it needs a name and a kind")
	case u.Bytes == 0 || u.Bytes%4 != 0:
		b.mistake("buffer "+u.Name, "its size "+utoa(u.Bytes)+" is not a positive multiple of 4")
	case u.Bytes > b.limits.BufferBytes:
		b.fail(&LimitError{Subject: "buffer " + u.Name, Limit: LimitBufferBytes, Need: u.Bytes, Have: b.limits.BufferBytes})
	case slices.ContainsFunc(b.plan.Buffers, func(o Buffer) bool { return o.Name == u.Name }):
		b.mistake("buffer "+u.Name, "there are two of this name")
	}
	b.plan.Buffers = append(b.plan.Buffers, u)
	b.sizes = append(b.sizes, u.Bytes)
	return len(b.plan.Buffers) - 1
}

// Kernel adds a kernel and returns its number; text that was added before has the number it got then.
func (b *Builder) Kernel(k Kernel) int {
	if n, ok := b.kernels[k.Text]; ok {
		if have := b.plan.Kernels[n]; have.Workgroup != k.Workgroup || have.Proved != k.Proved || !slices.Equal(have.Bindings, k.Bindings) {
			b.mistake("kernel "+k.Name, "its text was added before, as "+have.Name+", with another description")
		}
		return n
	}
	if err := k.Check(b.limits); err != nil {
		b.fail(err)
	}
	if b.names[k.Name] {
		b.mistake("kernel "+k.Name, "two texts have this name")
	}
	n := len(b.plan.Kernels)
	b.plan.Kernels = append(b.plan.Kernels, k)
	b.kernels[k.Text], b.names[k.Name] = n, true
	return n
}

// Weight adds rows of a tensor of the file and where they go.
func (b *Builder) Weight(w Weight) {
	subject := "weight " + w.Tensor
	if err := w.Recipe.Check(); err != nil {
		b.mistake(subject, err.(*PlanError).Detail)
	} else if why := w.checkFrom(); why != "" {
		b.mistake(subject, why)
	}
	for _, p := range w.Recipe.Planes {
		b.within(subject+", plane "+p.Name, p.To)
	}
	b.plan.Weights = append(b.plan.Weights, w)
}

// Table adds a table of cos and sin.
func (b *Builder) Table(t Table) {
	b.within("table", t.To)
	switch {
	case t.Dims < 2 || t.Dims%2 != 0 || t.Positions < 1 || t.Base <= 0 || t.Factor == 0:
		b.mistake("table", "it needs a base, a factor, positions, and an even number of dims")
	case uint64(t.Positions)*uint64(t.Dims) > t.To.Bytes/4:
		b.mistake("table", itoa(t.Positions)+" positions of "+itoa(t.Dims)+" words do not fit its range of "+utoa(t.To.Bytes)+" bytes")
	}
	b.plan.Tables = append(b.plan.Tables, t)
}

// Output adds a value that can be read back after a replay.
func (b *Builder) Output(name string, r Range) {
	b.within("output "+name, r)
	if _, ok := b.plan.Output(name); ok || name == "" {
		b.mistake("output "+name, "outputs need a name each")
	}
	b.plan.Outputs = append(b.plan.Outputs, Output{Name: name, Range: r})
}

// Params says where the params block is.
func (b *Builder) Params(p Params) {
	b.within("params", p.Range)
	records := p.Sequences * ParamsRecordWords
	switch {
	case p.Sequences < 1 || p.Pages < 0 || p.Ring < 0:
		b.mistake("params", "it needs at least one sequence")
	case p.PagesAt < records || p.RingAt < p.PagesAt+p.Sequences*p.Pages:
		b.mistake("params", "records, pages and ring overlap")
	case uint64(p.Words())*4 > p.Range.Bytes:
		b.mistake("params", itoa(p.Words())+" words do not fit its range of "+utoa(p.Range.Bytes)+" bytes")
	}
	b.plan.Params = p
}

// cacheName says what entry i of KV.Layers holds.
func cacheName(i int) string {
	return []string{"keys", "values"}[i%2] + " of layer " + itoa(i/2)
}

// KV describes the cache.
func (b *Builder) KV(kv KV) {
	if kv.PageTokens < 1 || kv.Pages < 1 {
		b.mistake("kv", "it needs pages and positions in them")
	} else if len(kv.Layers)%2 != 0 {
		b.mistake("kv", "it has keys without values")
	}
	for i, r := range kv.Layers {
		b.within(cacheName(i), r)
	}
	b.plan.KV = kv
}

// Model says how many logits a position has, and how many positions cache and tables hold.
func (b *Builder) Model(vocab, context int) { b.plan.Vocab, b.plan.Context = vocab, context }

// within checks a range that is not bound by itself: a plane, a table, an output.
func (b *Builder) within(subject string, r Range) {
	if r.Buffer < 0 || r.Buffer >= len(b.sizes) {
		b.mistake(subject, "there is no buffer "+itoa(r.Buffer))
	} else if why := r.inside(b.sizes[r.Buffer]); why != "" {
		b.mistake(subject, why)
	}
}

// Plan returns the finished plan, or the first mistake that was made. The builder is of no use afterwards.
func (b *Builder) Plan() (*Plan, error) {
	b.checkPlaced()
	b.checkLists()
	if b.err != nil {
		return nil, b.err
	}
	for _, l := range b.lists {
		b.plan.Lists = append(b.plan.Lists, l.list)
	}
	return &b.plan, nil
}

// checkPlaced looks for parts of buffers that were given away twice.
func (b *Builder) checkPlaced() {
	type part struct {
		subject string
		at      Range
	}
	var parts []part
	for _, w := range b.plan.Weights {
		for _, p := range w.Recipe.Planes {
			parts = append(parts, part{"weight " + w.Tensor + ", plane " + p.Name, p.To})
		}
	}
	for i, t := range b.plan.Tables {
		parts = append(parts, part{"table " + itoa(i), t.To})
	}
	for i, r := range b.plan.KV.Layers {
		parts = append(parts, part{cacheName(i), r})
	}
	if b.plan.Params.Sequences > 0 {
		parts = append(parts, part{"params", b.plan.Params.Range})
	}
	slices.SortStableFunc(parts, func(x, y part) int {
		return cmp.Or(cmp.Compare(x.at.Buffer, y.at.Buffer), cmp.Compare(x.at.Offset, y.at.Offset))
	})
	for i := 1; i < len(parts); i++ {
		if parts[i-1].at.Overlaps(parts[i].at) {
			b.mistake(parts[i].subject, "it overlaps "+parts[i-1].subject)
		}
	}
}

func (b *Builder) checkLists() {
	for i, l := range b.lists {
		if len(l.list.Records) == 0 {
			b.mistake(l.subject(), "it is empty")
		}
		for _, o := range b.lists[:i] {
			if o.list.Phase == l.list.Phase && o.list.Columns == l.list.Columns {
				b.mistake(l.subject(), "there are two of this phase and column count")
			}
		}
	}
}
