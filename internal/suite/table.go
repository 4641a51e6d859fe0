package suite

import (
	"fmt"
	"math"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// Cases returns the table for a profile, by family and smallest first. Of a profile with subgroups, whose size must be set, it has the
// kernels that rely on them: the others are those of the profile without.
func Cases(p schedules.Profile) []Case {
	t := &table{profile: p}
	t.gemv()
	t.gemvTails()
	t.gemvExact()
	t.gemvQ8()
	if !p.Subgroups {
		t.gemvFolded()
		t.rows()
		t.elementwise()
		t.embed()
		t.quant()
		t.rope()
		t.attention()
		t.softmax()
		t.sampling()
	}
	return Sorted(t.cases)
}

type table struct {
	profile schedules.Profile
	cases   []Case
}

// params is a block for one sequence with 4 pages and a ring of 16.
var params = plan.Params{Sequences: 1, PagesAt: plan.ParamsRecordWords, Pages: 4, RingAt: plan.ParamsRecordWords + 4, Ring: 16}

func kv(f16 bool) plan.KV { return plan.KV{PageTokens: 32, Pages: 5, F16: f16} }

// add adds a case and returns it, to be changed before the next is added.
func (t *table) add(family, name string, size, turn int, build func() (kernels.Kernel, error), beside ...string) *Case {
	t.cases = append(t.cases, Case{
		Family: family, Name: t.profile.Name + "-" + name, Size: size, turn: turn, Requires: t.profile.Requires(),
		build: t.builder(build, beside...),
	})
	return &t.cases[len(t.cases)-1]
}

func (t *table) builder(build func() (kernels.Kernel, error), beside ...string) func() (*Kernel, error) {
	limits := t.profile.Limits
	return func() (*Kernel, error) {
		k, err := build()
		return Build(k, err, limits, beside...)
	}
}

// product adds a GEMV with its default schedule, or as change has it.
func (t *table) product(family string, turn int, g kernels.GEMV, change func(s *schedules.GEMV)) *Case {
	p := t.profile
	s := schedules.DefaultGEMV(g.Problem(), p)
	if change != nil {
		change(&s)
	}
	rows := g.Problem().Rows
	name := fmt.Sprintf("%v-%dx%d-of-%d-rows%d-group%d", g.Format, rows, g.Columns, len(g.Results), s.RowsPerThread, s.Workgroup)
	if g.Bias {
		name += "-bias"
	}
	if g.Epilogue.Name != "" {
		name += "-" + g.Epilogue.Name
	}
	if s.Order.Math == schedules.UnpackedI8 {
		name += "-unpacked"
	}
	return t.add(family, name, rows*g.Columns, turn, func() (kernels.Kernel, error) { return g.Kernel(s, p) })
}

// shape is the sizes and fused parts of a GEMV, and how many rows a thread takes.
type shape struct {
	columns  int
	rows     []int
	perRow   int
	bias     bool
	epilogue kernels.Epilogue
}

func shapes() []shape {
	return []shape{
		{32, []int{1}, 1, false, kernels.Store},
		{96, []int{131}, 4, true, kernels.AddResidual},
		{160, []int{64, 8, 65}, 2, true, kernels.Store},
		{1536, []int{33}, 1, true, kernels.Store},
		{576, []int{576}, 1, false, kernels.AddResidual},
		{576, []int{576, 192, 192}, 2, false, kernels.Store},
		{2080, []int{7}, 2, false, kernels.AddResidual},
	}
}

// scheduled is the schedule of a shape: every other one has workgroups of three subgroups, or of a number that is no power of two.
func (t *table) scheduled(perRow, i int) func(s *schedules.GEMV) {
	p := t.profile
	return func(s *schedules.GEMV) {
		s.RowsPerThread = perRow
		switch most := min(p.Limits.Invocations, p.Limits.WorkgroupX); {
		case i%2 == 0:
		case p.SubgroupSize > 0 && 3*p.SubgroupSize <= most:
			s.Workgroup = 3 * p.SubgroupSize
		case p.SubgroupSize == 0 && i%4 == 1:
			s.Workgroup = 24
		}
	}
}

func (t *table) gemv() {
	for j, format := range kernels.Formats() {
		for i, c := range shapes() {
			g := kernels.GEMV{Format: format, Columns: WholeBlocks(format, c.columns), Results: c.rows, Bias: c.bias, Epilogue: c.epilogue}
			t.product("gemv", i+j, g, t.scheduled(c.perRow, i))
		}
	}
	for i, g := range []kernels.GEMV{
		{Format: quant.F16, Columns: 6, Results: []int{5}, Epilogue: kernels.Store},
		{Format: quant.F16, Columns: 2, Results: []int{66, 3}, Epilogue: kernels.Store},
		{Format: quant.F32, Columns: 33, Results: []int{3, 7}, Epilogue: kernels.AddResidual},
		{Format: quant.F32, Columns: 1, Results: []int{1}, Epilogue: kernels.Store},
	} {
		t.product("gemv", i, g, nil)
	}
}

// gemvTails takes numbers of rows that fill no whole tile.
func (t *table) gemvTails() {
	for i, rows := range []int{1, 2, 3, 7, 31, 33, 63, 65, 127, 129, 1000, 1001} {
		for j, format := range kernels.Formats() {
			t.product("gemv_tails", i+j, kernels.GEMV{Format: format, Columns: WholeBlocks(format, 96), Results: []int{rows}, Epilogue: kernels.Store}, nil)
		}
		for j, format := range kernels.FormatsQ8() {
			g := kernels.GEMV{Format: format, Columns: WholeBlocks(format, 96), Results: []int{rows}, X: schedules.XQ8, Epilogue: kernels.Store}
			t.product("gemv_q8_tails", i+j, g, nil)
		}
	}
}

// gemvQ8 has both ways to add up integers, which give the same bits.
func (t *table) gemvQ8() {
	for j, format := range kernels.FormatsQ8() {
		for i, c := range shapes() {
			g := kernels.GEMV{Format: format, Columns: WholeBlocks(format, c.columns), Results: c.rows, X: schedules.XQ8, Bias: c.bias, Epilogue: c.epilogue}
			change := t.scheduled(c.perRow, i)
			how := func(m schedules.Math) func(s *schedules.GEMV) {
				return func(s *schedules.GEMV) { change(s); s.Order.Math = m }
			}
			s := schedules.DefaultGEMV(g.Problem(), t.profile)
			how(schedules.UnpackedI8)(&s)
			p := t.profile
			t.product("gemv_q8", i+j, g, how(schedules.Dot4I8)).twin = t.builder(func() (kernels.Kernel, error) { return g.Kernel(s, p) })
		}
	}
}

// gemvFolded has more workgroups than one dimension of a grid holds, and some to spare.
func (t *table) gemvFolded() {
	folded := *t
	folded.profile.Limits.Workgroups = 7
	for i, format := range []quant.Type{quant.Q4_0, quant.F16} {
		g := kernels.GEMV{Format: format, Columns: 64, Results: []int{31}, Epilogue: kernels.Store}
		c := folded.product("gemv_folded", i, g, func(s *schedules.GEMV) { s.Workgroup = 1 })
		c.Requires = t.profile.Requires()
		t.cases = append(t.cases, *c)
	}
}

// rows is norms of rows that fill no workgroup, and some that do.
func (t *table) rows() {
	p := t.profile
	for i, c := range [][2]int{{1, 576}, {9, 64}, {3, 80}, {1, 1}, {2, 255}, {3, 256}, {1, 257}, {2, 300}, {3, 512}, {1, 1000}, {5, 4}} {
		for j, inPlace := range []bool{false, true} {
			n := kernels.RMSNorm{Rows: c[0], Columns: c[1], Eps: 1e-5, InPlace: inPlace}
			for k, workgroup := range []int{0, 4} {
				s := schedules.DefaultRowReduce(n.Columns, p)
				if workgroup > 0 {
					s.Workgroup = workgroup
				}
				name := fmt.Sprintf("%dx%d-group%d", n.Rows, n.Columns, s.Workgroup)
				if inPlace {
					name += "-in-place"
				}
				t.add("rmsnorm", name, c[0]*c[1], i+j+k, func() (kernels.Kernel, error) { return n.Kernel(s, p) })
			}
		}
	}
}

func (t *table) elementwise() {
	p := t.profile
	for i, n := range []int{1, 63, 64, 65, 257, 1536} {
		for j, workgroup := range []int{0, 5} {
			s := schedules.DefaultElementwise(p)
			if workgroup > 0 {
				s.Workgroup = workgroup
			}
			add := func(name string, build func() (kernels.Kernel, error)) {
				t.add("elementwise", fmt.Sprintf("%s-%d-group%d", name, n, s.Workgroup), n, i+j, build)
			}
			add("add", func() (kernels.Kernel, error) { return kernels.Add{N: n}.Kernel(s, p) })
			add("add-in-place", func() (kernels.Kernel, error) { return kernels.Add{N: n, InPlace: true}.Kernel(s, p) })
			add("glu-silu", func() (kernels.Kernel, error) { return kernels.GLU{N: n, Act: ir.SiLU}.Kernel(s, p) })
			add("glu-gelu", func() (kernels.Kernel, error) { return kernels.GLU{N: n, Act: ir.GELU}.Kernel(s, p) })
			add("softcap", func() (kernels.Kernel, error) { return kernels.Softcap{N: n, Cap: 30}.Kernel(s, p) })
		}
	}
}

func (t *table) embed() {
	p := t.profile
	s := schedules.DefaultElementwise(p)
	add := func(i int, e kernels.Embed) {
		e.Params = params
		name := fmt.Sprintf("%v-%dx%d", e.Format, e.Rows, e.Columns)
		if e.Of > 0 {
			name += fmt.Sprintf("-from-%d-of-%d", e.From, e.Of)
		}
		if e.Scale > 0 {
			name += "-scaled"
		}
		t.add("embed", name, e.Rows*e.Columns, i, func() (kernels.Kernel, error) { return e.Kernel(s, p) })
	}
	for i, format := range kernels.Formats() {
		for j, columns := range []int{96, 160, 576} {
			add(i+j, kernels.Embed{Format: format, Rows: 37, Columns: WholeBlocks(format, columns)})
		}
	}
	for i, e := range []kernels.Embed{
		{Format: quant.F32, Rows: 37, Columns: 33}, {Format: quant.F16, Rows: 37, Columns: 6}, {Format: quant.F16, Rows: 1, Columns: 80},
		{Format: quant.Q8_0, Rows: 3, Columns: 64, Scale: 8}, {Format: quant.Q4_0, Rows: 100, Columns: 96, Scale: math.Sqrt(96)},
		{Format: quant.Q4_0, Rows: 16, Columns: 96, From: 0, Of: 37}, {Format: quant.Q4_0, Rows: 16, Columns: 96, From: 16, Of: 37}, {Format: quant.Q4_0, Rows: 5, Columns: 96, From: 32, Of: 37},
	} {
		add(i, e)
	}
}

func (t *table) quant() {
	p := t.profile
	for i, n := range []int{32, 64, 96, 576, 1536, 65 * 32} {
		for j, workgroup := range []int{0, 5} {
			s := schedules.DefaultQuantQ8(p)
			if workgroup > 0 {
				s.Workgroup = workgroup
			}
			t.add("quant_q8", fmt.Sprintf("%d-group%d", n, s.Workgroup), n, i+j, func() (kernels.Kernel, error) { return kernels.QuantQ8{Columns: n}.Kernel(s, p) })
		}
	}
}
