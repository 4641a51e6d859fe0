package schedules

// RowReduce says how a kernel that reduces rows, such as RMSNorm, is cut: a workgroup for each row, whose threads meet in
// workgroup memory.
type RowReduce struct {
	Workgroup int // a power of two: the tree halves it
	Reduce    Reduce
}

// Legal returns nil when rows of the given length can be reduced so, else an *IllegalError with every reason.
func (s RowReduce) Legal(columns int, p Profile) error {
	var r reasons
	r.unless(columns > 0, "Columns", "%d is not positive", columns)
	checkTree(&r, s.Workgroup, 4, p)
	is(&r, "Reduce", s.Reduce, ReduceTree)
	checkTrips(&r, "Columns", s.Trips(columns), p)
	return r.err(s.String())
}

// Trips returns the loop trips of one invocation, counted as plan.Device counts: it goes over the row twice.
func (s RowReduce) Trips(columns int) int { return 2 * loop(share(columns, s.Workgroup)) }

// DefaultRowReduce gives each thread at least four values, in workgroups of 32 to 128: more would exceed profile compat, which
// the variants for portable serve too.
func DefaultRowReduce(columns int, p Profile) RowReduce {
	return RowReduce{Workgroup: tree(columns/4, min(128, p.Limits.Invocations)), Reduce: ReduceTree}
}

// ArgMax says how the largest of many values is found: Partials workgroups scan a part each, then one workgroup of the
// same size scans what they found.
type ArgMax struct {
	Workgroup int // a power of two
	Partials  int
}

// Legal returns nil when n values can be scanned so, else an *IllegalError with every reason.
func (s ArgMax) Legal(n int, p Profile) error {
	var r reasons
	r.unless(n > 0, "Values", "%d is not positive", n)
	checkTree(&r, s.Workgroup, 8, p)
	r.unless(s.Partials > 0 && s.Partials <= p.Limits.Workgroups, "Partials", "%d is not within 1..%d", s.Partials, p.Limits.Workgroups)
	checkTrips(&r, "Values", s.Trips(n), p)
	return r.err(s.String())
}

// Trips returns the most loop trips of one invocation of either kernel, counted as plan.Device counts.
func (s ArgMax) Trips(n int) int {
	return loop(max(share(share(n, s.Partials), s.Workgroup), share(s.Partials, s.Workgroup)))
}

// DefaultArgMax gives each thread at least four values, in at most 128 workgroups.
func DefaultArgMax(n int, p Profile) ArgMax {
	w := tree(n/4, min(128, p.Limits.Invocations))
	return ArgMax{Workgroup: w, Partials: min(max(1, n/(4*w)), 128)}
}

// Elementwise says how kernels without any reduction are cut: a thread for each element.
type Elementwise struct{ Workgroup int }

// Legal returns nil when n elements can be computed so, else an *IllegalError with every reason.
func (s Elementwise) Legal(n int, p Profile) error {
	var r reasons
	most := min(p.Limits.Invocations, p.Limits.WorkgroupX)
	r.unless(n > 0, "Elements", "%d is not positive", n)
	r.unless(s.Workgroup > 0 && s.Workgroup <= most, "Workgroup", "%d is not within 1..%d", s.Workgroup, most)
	return r.err(s.String())
}

// DefaultElementwise uses workgroups of 64.
func DefaultElementwise(p Profile) Elementwise { return Elementwise{min(64, p.Limits.Invocations)} }

// QuantQ8 says how a vector is quantised to blocks of 8-bit codes: a thread for each block of 32 values.
type QuantQ8 struct{ Workgroup int }

// Legal returns nil when a vector of the given length can be quantised so, else an *IllegalError with every reason.
func (s QuantQ8) Legal(columns int, p Profile) error {
	var r reasons
	most := min(p.Limits.Invocations, p.Limits.WorkgroupX)
	r.unless(columns > 0 && columns%32 == 0, "Columns", "%d is not a positive multiple of 32", columns)
	r.unless(s.Workgroup > 0 && s.Workgroup <= most, "Workgroup", "%d is not within 1..%d", s.Workgroup, most)
	return r.err(s.String())
}

// DefaultQuantQ8 uses workgroups of 32, so that several cores share the blocks of a long vector.
func DefaultQuantQ8(p Profile) QuantQ8 { return QuantQ8{min(32, p.Limits.Invocations)} }

// Attention says how decode attention is cut: a workgroup for each query head walks the keys in tiles of Workgroup keys,
// one key for each thread; then each thread adds up elements of the values.
type Attention struct {
	Workgroup int // a power of two, and the keys in a tile
}

// AttentionProblem is one query token of Heads heads of Size values against at most Context keys of KVHeads heads.
type AttentionProblem struct {
	Heads, KVHeads, Size int
	Context              int
	F16                  bool // the cache's elements
}

// Legal returns nil when the attention can be computed so, else an *IllegalError with every reason.
func (s Attention) Legal(b AttentionProblem, p Profile) error {
	var r reasons
	r.unless(b.Heads > 0 && b.KVHeads > 0 && b.Heads%max(1, b.KVHeads) == 0, "KVHeads",
		"%d key heads do not divide %d query heads", b.KVHeads, b.Heads)
	r.within(b.Heads <= p.Limits.Workgroups, "Heads", "%d exceed the grid's limit, %d", b.Heads, p.Limits.Workgroups)
	vector := 4 // elements that a load takes
	if b.F16 {
		vector = 8
	}
	r.unless(b.Size > 0 && b.Size%vector == 0 && b.Size <= 512, "Size", "%d is not a multiple of %d up to 512", b.Size, vector)
	r.unless(b.Context > 0, "Context", "%d is not positive", b.Context)
	checkTree(&r, s.Workgroup, 12, p)
	r.unless(s.Workgroup%4 == 0, "Workgroup", "%d is not a multiple of 4", s.Workgroup)
	if len(r) == 0 {
		checkTrips(&r, "Context", s.Trips(b), p)
	}
	return r.err(s.String())
}

// Trips returns the most loop trips of one invocation, counted as plan.Device counts: for each tile one, and twice its keys
// four at a time.
func (s Attention) Trips(b AttentionProblem) int {
	tiles := share(b.Context, s.Workgroup)
	return loop(tiles * (1 + 2*loop(share(s.Workgroup, 4))))
}

// DefaultAttention takes about a thread for each element of a head, within 32 to 128.
func DefaultAttention(b AttentionProblem, p Profile) Attention {
	return Attention{Workgroup: tree(b.Size, min(128, p.Limits.Invocations))}
}

// checkTree checks a workgroup whose threads meet in a tree with the given bytes of workgroup memory for each.
func checkTree(r *reasons, workgroup, bytes int, p Profile) {
	most := min(p.Limits.Invocations, p.Limits.WorkgroupX)
	r.unless(workgroup > 0 && workgroup <= most && workgroup&(workgroup-1) == 0, "Workgroup",
		"%d is not a power of two within 1..%d", workgroup, most)
	r.within(workgroup*bytes <= p.Limits.WorkgroupBytes, "Workgroup",
		"%d bytes of workgroup memory exceed %d", workgroup*bytes, p.Limits.WorkgroupBytes)
}

func checkTrips(r *reasons, field string, trips int, p Profile) {
	r.within(p.LoopTrips == 0 || trips <= p.LoopTrips, field,
		"%d loop trips exceed those that profile %s survives, %d", trips, p.Name, p.LoopTrips)
}

// loop is what a loop of n trips counts: the last look at its condition is one more.
func loop(n int) int { return n + 1 }

// share is the most of n things that one of several gets.
func share(n, among int) int { return (n + max(1, among) - 1) / max(1, among) }

// tree is the largest power of two up to want, but at least 32 and at most most.
func tree(want, most int) int {
	w := 32
	for w*2 <= min(want, most) {
		w *= 2
	}
	return min(w, most)
}
