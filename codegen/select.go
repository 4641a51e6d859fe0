package codegen

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// selectKernels turns nodes into steps in graph order. RoPE of queries and keys becomes part of the step that stores keys
// and values; reshapes become nothing.
func selectKernels(c *compilation) error {
	for _, name := range c.opts.Keep {
		if !hasValue(c.graph, name) {
			return fmt.Errorf("no value is called %s, which is to be kept", name)
		}
	}
	s := &selection{compilation: c, users: map[*ir.Tensor][]int{}, roped: map[*ir.Tensor]*ir.Node{}}
	for i, n := range c.graph.Nodes {
		for _, t := range n.In {
			s.users[t] = append(s.users[t], i)
		}
	}
	for i, n := range c.graph.Nodes {
		s.index = i
		if err := s.node(n); err != nil {
			return err
		}
	}
	return s.sampler()
}

// selection is the state of selectKernels.
type selection struct {
	*compilation
	index int // of the node at hand
	users map[*ir.Tensor][]int
	roped map[*ir.Tensor]*ir.Node // results of RoPE nodes that no step has computed yet
}

// oneToken is the shape that plans are made for.
var oneToken = ir.Sizes{T: 1, S: 1, B: 1}

func (s *selection) node(n *ir.Node) error {
	if err := s.checkMemory(n); err != nil {
		return err
	}
	switch n.Op {
	case ir.Embed:
		return s.embed(n)
	case ir.RMSNorm:
		return s.rmsNorm(n)
	case ir.Linear, ir.LinearQ8:
		return s.linear(n)
	case ir.QuantQ8:
		return s.quantQ8(n)
	case ir.Reshape, ir.Last:
		return s.values.share(n.In[0], n.Out[0])
	case ir.RoPE:
		s.roped[n.Out[0]] = n
		// The step that stores the keys reads the operand later, when it rotates.
		s.users[n.In[0]] = append(s.users[n.In[0]], s.rotatedAt(n)...)
		return nil
	case ir.KVAppend:
		return s.store(n)
	case ir.Attention:
		return s.attention(n)
	case ir.GLU:
		return s.glu(n)
	case ir.Add:
		return s.add(n)
	case ir.Softcap:
		return s.softcap(n)
	}
	return unsupported(n, "there is no kernel for it")
}

func unsupported(n *ir.Node, format string, args ...any) error {
	return &UnsupportedError{Subject: subject(n), Why: fmt.Sprintf(format, args...)}
}

func subject(n *ir.Node) string { return fmt.Sprintf("node %s (%v)", n.Out[0].Name, n.Op) }

// checkMemory refuses a node that reads what no step computes: a cache otherwise than by attention, a rotated value
// otherwise than by the step that rotates it, or a kept value that has no memory of its own.
func (s *selection) checkMemory(n *ir.Node) error {
	for i, t := range n.In {
		stored := i == 1 && n.Op == ir.Attention || i == 0 && (n.Op == ir.KVAppend || n.Op == ir.Attention)
		if t.Kind == ir.Value && s.values.of[t] == nil && !stored {
			return unsupported(n, "its operand %s has no value in memory", t.Name)
		}
	}
	if n.Op == ir.RoPE || n.Op == ir.KVAppend {
		for _, t := range n.Out {
			if s.keeps(t) {
				return unsupported(n, "its result is made in place, which is not kept readable")
			}
		}
	}
	return nil
}

// rotatedAt returns the indices of the nodes whose step rotates a RoPE's operand: that of the keys, or of the keys that the
// queries attend to.
func (s *selection) rotatedAt(rope *ir.Node) []int {
	var at []int
	for _, i := range s.users[rope.Out[0]] {
		switch user := s.graph.Nodes[i]; {
		case user.Op == ir.KVAppend && user.In[0] == rope.Out[0]:
			at = append(at, i)
		case user.Op == ir.Attention && user.In[0] == rope.Out[0]:
			at = append(at, slices.Index(s.graph.Nodes, user.In[1].Def))
		}
	}
	return at
}

// emit adds a step; built is what a kernel family and its schedule returned.
func (s *selection) emit(n *ir.Node, k kernels.Kernel, err error, schedule fmt.Stringer, named map[string]arg) error {
	if err != nil {
		return refused(subject(n), err)
	}
	args, err := bindArgs(k, named)
	if err != nil {
		return err
	}
	s.steps = append(s.steps, &step{node: n.Out[0].Name, kernel: k, schedule: schedule.String(), args: args})
	return nil
}

// refused gives the error of a kernel family its subject. Unless a limit is at fault, the shape is one that no kernel
// computes.
func refused(subject string, err error) error {
	var illegal *schedules.IllegalError
	var limit *plan.LimitError
	if errors.As(err, &limit) || errors.As(err, &illegal) && illegal.BeyondLimits() {
		return fmt.Errorf("%s: %w", subject, err)
	}
	return &UnsupportedError{Subject: subject, Why: err.Error()}
}

// result gives a value memory, which stays readable when the value or another name of it is kept.
func (s *selection) result(t *ir.Tensor) arg {
	s.values.add(t, uint64(t.Elements(oneToken))*4, s.keepsAlias(t))
	s.order = append(s.order, t)
	return arg{value: t}
}

// weights names the planes of the stack of some shards for a kernel that reads them.
func (s *selection) weights(named map[string]arg, shards ...shard) (*stack, error) {
	st, err := s.stackOf(shards...)
	if err != nil {
		return nil, err
	}
	for i, p := range st.recipe.Planes {
		named[p.Name] = arg{plane: &planeOf{st, i}}
	}
	return st, nil
}

// embed has a step for each shard of the weight; one of them finds the token among its rows.
func (s *selection) embed(n *ir.Node) error {
	w, y := n.In[0], s.result(n.Out[0])
	shards, err := s.shards(w)
	if err != nil {
		return err
	}
	for _, part := range shards {
		named := map[string]arg{kernels.Params: {params: true}, kernels.Y: y}
		st, err := s.weights(named, part)
		if err != nil {
			return err
		}
		schedule := schedules.DefaultElementwise(s.opts.Profile)
		k, err := kernels.Embed{
			Format: st.format, Rows: part.rows, Columns: st.columns, From: part.from, Of: weightRows(w),
			Scale: n.Attrs.Scale, Params: s.program.Params,
		}.Kernel(schedule, s.opts.Profile)
		if err := s.emit(n, k, err, schedule, named); err != nil {
			return err
		}
	}
	return nil
}

func (s *selection) rmsNorm(n *ir.Node) error {
	x, w := n.In[0], n.In[1]
	if w.Kind != ir.Weight {
		return unsupported(n, "its weights are computed: kernels read them from the file")
	}
	if w.Elem != ir.F32 {
		return unsupported(n, "norm weights of type %v: kernels read f32", w.Elem)
	}
	st, err := s.stackOf(whole(w))
	if err != nil {
		return err
	}
	named := map[string]arg{kernels.NormWeights: {plane: &planeOf{st, 0}}}
	// Heads are normed where they lie, so that queries, keys and values stay side by side.
	inPlace := s.values.of[x] != nil && s.values.of[x].unit != nil && !s.keepsAlias(n.Out[0]) && s.diesHere(x)
	if inPlace {
		if err := s.values.share(x, n.Out[0]); err != nil {
			return err
		}
		named[kernels.X] = arg{value: x, makes: n.Out[0]}
	} else {
		named[kernels.X], named[kernels.Y] = arg{value: x}, s.result(n.Out[0])
	}
	schedule := schedules.DefaultRowReduce(x.Columns(), s.opts.Profile)
	norm := kernels.RMSNorm{Rows: x.Rows(oneToken), Columns: x.Columns(), Eps: n.Attrs.Eps, InPlace: inPlace}
	k, err := norm.Kernel(schedule, s.opts.Profile)
	return s.emit(n, k, err, schedule, named)
}

// linear computes the products of a node, all in one step where it can.
func (s *selection) linear(n *ir.Node) error {
	x, weights, form := n.In[0], n.In[1:], schedules.XF32
	if n.Op == ir.LinearQ8 {
		weights, form = n.In[3:], schedules.XQ8
		if err := s.readsQ8(n); err != nil {
			return err
		}
	}
	weights, biases := weights[:len(n.Out)], weights[len(n.Out):]
	products, err := s.products(weights, n.Out)
	if err != nil {
		return err
	}
	for _, t := range n.Out {
		s.result(t)
	}
	for _, p := range products {
		if err := s.values.join(p.results); err != nil {
			return unsupported(n, "%v", err)
		}
		named := map[string]arg{kernels.X: {value: x}}
		st, err := s.weights(named, p.shards...)
		if err != nil {
			return err
		}
		g := kernels.GEMV{Format: st.format, Columns: x.Columns(), X: form, Bias: n.Attrs.Bias, Epilogue: kernels.Store}
		var added []shard
		for i, part := range p.shards {
			g.Results = append(g.Results, part.rows)
			named[kernels.Result(i)] = arg{value: p.results[i], part: part.span}
			if n.Attrs.Bias {
				added = append(added, shard{biases[slices.Index(n.Out, p.results[i])], part.span})
			}
		}
		if n.Attrs.Bias {
			if named[kernels.Bias], err = s.biases(added); err != nil {
				return err
			}
		}
		schedule := schedules.DefaultGEMV(g.Problem(), s.opts.Profile)
		k, err := g.Kernel(schedule, s.opts.Profile)
		step := &ir.Node{Op: n.Op, Out: p.results}
		if err := s.emit(step, k, err, schedule, named); err != nil {
			return err
		}
	}
	return nil
}

// biases is the operand of the elements of biases that belong to the rows of a stack: one after another, like those.
func (s *selection) biases(parts []shard) (arg, error) {
	recipe, err := kernels.Recipe(quant.Type(parts[0].weight.Elem), 1)
	if err != nil {
		return arg{}, &UnsupportedError{"weight " + parts[0].weight.Name, err.Error()}
	}
	st := &stack{shards: parts, format: quant.F32, columns: 1, recipe: recipe}
	for _, part := range parts {
		if part.weight.Elem != ir.F32 || s.holder[part] != nil {
			return arg{}, &UnsupportedError{"weight " + part.weight.Name, "a bias is f32, and of one product"}
		}
		s.holder[part] = st
	}
	s.stacks = append(s.stacks, st)
	return arg{plane: &planeOf{st, 0}}, nil
}

// product is what one step computes of a linear: shards in one stack, and the result that each gives rows of.
type product struct {
	shards  []shard
	results []*ir.Tensor
}

// products divides the weights of a linear among steps. Weights of several types, those that cannot follow each other without a
// gap, and those that exceed a binding together get a step each; a weight that exceeds one alone, a step for each of its shards.
func (s *selection) products(weights, results []*ir.Tensor) ([]product, error) {
	if len(weights) > 1 && !mixed(weights) && s.stackable(weights) {
		together := product{results: results}
		for _, w := range weights {
			together.shards = append(together.shards, whole(w))
		}
		return []product{together}, nil
	}
	var all []product
	for i, w := range weights {
		shards, err := s.shards(w)
		if err != nil {
			return nil, err
		}
		for _, part := range shards {
			all = append(all, product{[]shard{part}, results[i : i+1]})
		}
	}
	return all, nil
}

// mixed reports whether weights differ in type.
func mixed(weights []*ir.Tensor) bool {
	return slices.ContainsFunc(weights, func(w *ir.Tensor) bool { return w.Elem != weights[0].Elem })
}

// add is in place on its first operand when nobody needs that afterwards and neither it nor the sum must stay readable.
func (s *selection) add(n *ir.Node) error {
	a, b, sum := n.In[0], n.In[1], n.Out[0]
	count := a.Elements(oneToken)
	left, right := s.values.of[a], s.values.of[b]
	inPlace := !s.keepsAlias(sum) && !left.output && s.diesHere(a) && left != right && (left.unit == nil || left.unit != right.unit)
	named := map[string]arg{kernels.AddRight: {value: b}}
	if inPlace {
		if err := s.values.share(a, sum); err != nil {
			return err
		}
		named[kernels.AddLeft] = arg{value: a, makes: sum}
	} else {
		named[kernels.AddLeft], named[kernels.Y] = arg{value: a}, s.result(sum)
	}
	schedule := schedules.DefaultElementwise(s.opts.Profile)
	k, err := kernels.Add{N: count, InPlace: inPlace}.Kernel(schedule, s.opts.Profile)
	return s.emit(n, k, err, schedule, named)
}

// diesHere reports whether the node at hand is the last to use the memory of a value.
func (s *selection) diesHere(t *ir.Tensor) bool {
	for other, slot := range s.values.of {
		if slot != s.values.of[t] {
			continue
		}
		for _, user := range s.users[other] {
			if user > s.index {
				return false
			}
		}
	}
	return true
}

func (s *selection) glu(n *ir.Node) error {
	gate, up := n.In[0], n.In[1]
	schedule := schedules.DefaultElementwise(s.opts.Profile)
	k, err := kernels.GLU{N: gate.Elements(oneToken), Act: n.Attrs.Act}.Kernel(schedule, s.opts.Profile)
	return s.emit(n, k, err, schedule, map[string]arg{
		kernels.Gate: {value: gate}, kernels.Up: {value: up}, kernels.Y: s.result(n.Out[0]),
	})
}

func (s *selection) softcap(n *ir.Node) error {
	x := n.In[0]
	schedule := schedules.DefaultElementwise(s.opts.Profile)
	k, err := kernels.Softcap{N: x.Elements(oneToken), Cap: n.Attrs.Cap}.Kernel(schedule, s.opts.Profile)
	return s.emit(n, k, err, schedule, map[string]arg{kernels.X: {value: x}, kernels.Y: s.result(n.Out[0])})
}

// store is the step that rotates queries and keys and writes keys and values to the cache.
func (s *selection) store(n *ir.Node) error {
	rope := s.roped[n.In[0]]
	if rope == nil {
		return unsupported(n, "keys without RoPE are not built yet")
	}
	query, err := s.queryOf(n)
	if err != nil {
		return err
	}
	if query.Attrs != rope.Attrs || !slices.Equal(query.In[1:], rope.In[1:]) {
		return unsupported(n, "queries and keys rotate differently")
	}
	if len(rope.In) > 1 && (rope.In[1].Kind != ir.Weight || rope.In[1].Elem != ir.F32) {
		return unsupported(n, "RoPE factors %s are no f32 tensor of the file", rope.In[1].Name)
	}
	q, k, v := query.In[0], rope.In[0], n.In[1]
	if places := s.values.of; places[q] == places[k] || places[q] == places[v] || places[k] == places[v] {
		return unsupported(n, "queries, keys and values are not three values")
	}
	if !s.diesHere(q) {
		return unsupported(n, "%s is read after it was rotated in place", q.Name)
	}
	if err := s.values.share(q, query.Out[0]); err != nil {
		return err
	}
	if err := s.values.join([]*ir.Tensor{q, k, v}); err != nil {
		return unsupported(n, "%v", err)
	}
	delete(s.roped, query.Out[0])
	delete(s.roped, rope.Out[0])
	if rope.Attrs.Dims < int(q.Shape[2]) {
		s.partly[query.Out[0]] = q
	}
	cache := n.Out[0]
	s.caches = append(s.caches, cache)
	table := s.table(rope)
	schedule := schedules.DefaultElementwise(s.opts.Profile)
	kernel, err := kernels.RoPEKV{
		Heads: int(q.Shape[1]), KVHeads: int(k.Shape[1]), Size: int(k.Shape[2]), Dims: rope.Attrs.Dims, Style: rope.Attrs.Style,
		Positions: s.opts.Context, Params: s.program.Params, KV: s.cacheLayout(cache),
	}.Kernel(schedule, s.opts.Profile)
	return s.emit(n, kernel, err, schedule, map[string]arg{
		kernels.Params: {params: true}, kernels.RoPETable: {table: &table}, kernels.Q: {value: q, makes: query.Out[0]}, kernels.K: {value: k}, kernels.V: {value: v},
		kernels.KeyCache: {cache: cache}, kernels.ValueCache: {cache: cache, values: true},
	})
}

// cacheLayout describes the cache as kernels see it: without the ranges of layers.
func (s *selection) cacheLayout(cache *ir.Tensor) plan.KV {
	return plan.KV{PageTokens: pageTokens, Pages: s.program.Params.Pages, F16: cache.Elem == ir.F16}
}

// queryOf finds the RoPE of the queries that attend to what a KVAppend stores.
func (s *selection) queryOf(n *ir.Node) (*ir.Node, error) {
	var found *ir.Node
	for _, i := range s.users[n.Out[0]] {
		user := s.graph.Nodes[i]
		rope := s.roped[user.In[0]]
		if user.Op != ir.Attention || rope == nil || found != nil {
			return nil, unsupported(n, "one attention with rotated queries must read it")
		}
		found = rope
	}
	if found == nil {
		return nil, unsupported(n, "nothing attends to it")
	}
	return found, nil
}

// table returns the number of the position table of a RoPE, shared by all that rotate alike.
func (s *selection) table(rope *ir.Node) int {
	t := plan.Table{Base: rope.Attrs.Base, Dims: rope.Attrs.Dims, Factor: rope.Attrs.Factor, Positions: s.opts.Context}
	if t.Factor == 0 {
		t.Factor = 1
	}
	if len(rope.In) > 1 {
		t.Factors = rope.In[1].Name
	}
	for i, have := range s.program.Tables {
		if have == t {
			return i
		}
	}
	s.program.Tables = append(s.program.Tables, t)
	return len(s.program.Tables) - 1
}

func (s *selection) attention(n *ir.Node) error {
	q, cache := n.In[0], n.In[1]
	if s.values.of[q] == nil {
		return unsupported(n, "its queries are not rotated with the keys it reads")
	}
	a := kernels.AttentionDecode{
		Heads: int(q.Shape[1]), KVHeads: int(cache.Shape[2]), Size: int(q.Shape[2]), Scale: n.Attrs.Scale, Window: n.Attrs.Window,
		Params: s.program.Params, KV: s.cacheLayout(cache),
	}
	schedule := schedules.DefaultAttention(a.Problem(), s.opts.Profile)
	k, err := a.Kernel(schedule, s.opts.Profile)
	return s.emit(n, k, err, schedule, map[string]arg{
		kernels.Params: {params: true}, kernels.Q: {value: q}, kernels.KeyCache: {cache: cache}, kernels.ValueCache: {cache: cache, values: true}, kernels.Y: s.result(n.Out[0]),
	})
}

// sampler adds the steps that choose the next token: argmax for decode, the ring's next entry for prefill.
func (s *selection) sampler() error {
	if len(s.graph.Outputs) != 1 {
		return &UnsupportedError{"the graph", fmt.Sprintf("it has %d outputs; a plan is made for one, the logits", len(s.graph.Outputs))}
	}
	logits := s.graph.Outputs[0]
	if s.values.of[logits] == nil || logits.Elem != ir.F32 || logits.Rows(oneToken) != 1 || logits.Name != "logits" {
		return &UnsupportedError{"output " + logits.Name, "a plan has one output, f32 logits of one token, called logits"}
	}
	s.program.Vocab = logits.Columns()
	schedule := schedules.DefaultArgMax(s.program.Vocab, s.opts.Profile)
	partials := &ir.Tensor{Name: "argmax.partials", Kind: ir.Value, Elem: ir.U32, Shape: []ir.Dim{ir.Dim(schedule.Partials), 2}}
	k, err := kernels.ArgMaxPartials{N: s.program.Vocab}.Kernel(schedule, s.opts.Profile)
	err = s.extra(plan.Decode, partials.Name, k, err, schedule, map[string]arg{kernels.X: {value: logits}, kernels.Partials: s.result(partials)})
	if err != nil {
		return err
	}
	k, err = kernels.ArgMaxFinal{N: s.program.Vocab, Params: s.program.Params}.Kernel(schedule, s.opts.Profile)
	err = s.extra(plan.Decode, "argmax", k, err, schedule, map[string]arg{kernels.Partials: {value: partials}, kernels.Params: {params: true}})
	if err != nil {
		return err
	}
	k, err = kernels.Advance{Params: s.program.Params}.Kernel()
	return s.extra(plan.Prefill, "advance", k, err, schedules.Elementwise{Workgroup: 1}, map[string]arg{kernels.Params: {params: true}})
}

// extra adds a step that no node asks for, to the list of one phase.
func (s *selection) extra(phase plan.Phase, name string, k kernels.Kernel, err error, schedule fmt.Stringer, named map[string]arg) error {
	n := &ir.Node{Op: ir.ArgMax, Out: []*ir.Tensor{{Name: name}}}
	if err := s.emit(n, k, err, schedule, named); err != nil {
		return err
	}
	s.steps[len(s.steps)-1].phases = []plan.Phase{phase}
	return nil
}
