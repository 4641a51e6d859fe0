package schedules

import (
	"slices"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// GEMV says how y = W·x is cut. Order fixes the order of the sum, and with it the bits of the result; the other fields are
// free. Some values are named that no kernel has yet: Legal refuses them.
type GEMV struct {
	Workgroup     int // threads in a workgroup
	RowsPerThread int // rows of a team of threads that share one load of x
	ScaleFetch    ScaleFetch
	XSource       XSource
	Grid          Grid
	Order         Order
}

// Order holds the choices that fix in which order products are added up.
type Order struct {
	ThreadsPerRow int // threads that share a row along K: 1, or the guaranteed size of subgroups
	VecWidth      int // 32-bit words of W in one load
	Unroll        int // loads of W in flight for each row
	XType         XType
	Math          Math
	Reduce        Reduce
	SplitK        int // workgroups along K
}

// ScaleFetch says how block scales reach the threads.
type ScaleFetch string

// XSource says where the inner loop reads x.
type XSource string

// Grid says how tiles of rows are given to workgroups.
type Grid string

// XType is the form of x.
type XType string

// Math is the inner product.
type Math string

// Reduce says how the threads of a row, or of a workgroup, add up their parts.
type Reduce string

// The choices of each kind.
const (
	ScalePerThread  ScaleFetch = "thread"
	ScaleBroadcast  ScaleFetch = "broadcast"
	ScalePrefetched ScaleFetch = "prefetched"

	XGlobal    XSource = "global"
	XStaged    XSource = "staged" // in workgroup memory
	XRegisters XSource = "registers"

	GridTile       Grid = "tile" // a tile for each workgroup; the grid is folded to 2-D when it has more than one dimension holds
	GridPersistent Grid = "persistent"

	XF32      XType = "f32"
	XF16Pairs XType = "f16"
	XQ8       XType = "q8" // with a scale and a sum for each block

	Dequantise    Math = "dequantise" // (d·q + m)·x, value by value
	DeferredScale Math = "deferred"   // d·Σ q·x + m·Σ x, block by block
	F16Pairs      Math = "f16"
	Dot4I8        Math = "dot4i8"   // the same with q8 x: sums of integers, four products an instruction
	UnpackedI8    Math = "unpacked" // the same sums, to the bit, for devices that only emulate that instruction

	ReduceNone              Reduce = "none" // one thread has it all
	ReduceSubgroup          Reduce = "subgroup"
	ReduceSubgroupWorkgroup Reduce = "subgroup+workgroup"
	ReduceTree              Reduce = "tree" // in workgroup memory
)

// GEMVProblem is y [Rows] = W [Rows, Columns] · x [Columns], for N vectors x. The rows of weights that share x may be
// stacked: Rows is their sum.
type GEMVProblem struct {
	Rows, Columns int
	Format        quant.Type
	RowBytes      int // of a row in the largest plane that kernels read
	N             int
	X             XType // how x is given; empty means f32
}

// xType is X, or what an empty one means.
func (b GEMVProblem) xType() XType {
	if b.X == "" {
		return XF32
	}
	return b.X
}

// RowsPerWorkgroup is the tile: the rows that one workgroup computes.
func (s GEMV) RowsPerWorkgroup() int {
	return s.Workgroup / max(1, s.Order.ThreadsPerRow) * s.RowsPerThread
}

// Legal returns nil when the kernels of p can compute problem as s says, else an *IllegalError with every reason.
func (s GEMV) Legal(problem GEMVProblem, p Profile) error {
	var r reasons
	problem.check(&r, p)
	s.checkShape(&r, p)
	s.checkBuilt(&r, problem)
	if len(r) == 0 {
		s.checkFit(&r, problem, p)
	}
	return r.err(s.String())
}

// check refuses shapes and formats that no schedule computes.
func (b GEMVProblem) check(r *reasons, p Profile) {
	r.unless(b.Rows > 0, "Rows", "%d is not positive", b.Rows)
	r.unless(b.Columns > 0, "Columns", "%d is not positive", b.Columns)
	r.unless(b.N == 1, "N", "%d columns are not built yet, only 1", b.N)
	block, ok := b.Format.Block()
	if !ok {
		r.unless(false, "Format", "%v is no type", b.Format)
		return
	}
	r.unless(b.xType() == XF32 || b.xType() == XQ8 && block.Elems > 1, "X", "%s is not built yet for weights of %v", b.X, b.Format)
	if b.Columns > 0 {
		multiple := max(block.Elems, 4/block.Bytes) // a row starts at a whole word
		r.unless(b.Columns%multiple == 0, "Columns", "%d is not a multiple of %d", b.Columns, multiple)
	}
	if b.Rows > 0 && b.RowBytes > 0 {
		bytes := uint64(b.Rows) * uint64(b.RowBytes)
		r.within(bytes <= p.Limits.BindingBytes, "Rows",
			"a plane of %d bytes exceeds the largest binding, %d: cut the weight by rows", bytes, p.Limits.BindingBytes)
	}
}

// VecWidths returns the legal values of Order.VecWidth: 32-bit words in one load, which divide a row evenly.
func (b GEMVProblem) VecWidths() []int {
	block, _ := b.Format.Block()
	if block.Elems > 1 || b.Columns*block.Bytes%16 == 0 {
		return []int{4}
	}
	return []int{1}
}

func (s GEMV) checkShape(r *reasons, p Profile) {
	most := min(p.Limits.Invocations, p.Limits.WorkgroupX)
	threads := s.Order.ThreadsPerRow
	r.unless(s.Workgroup > 0 && s.Workgroup <= most, "Workgroup", "%d is not within 1..%d", s.Workgroup, most)
	r.unless(s.RowsPerThread == 1 || s.RowsPerThread == 2 || s.RowsPerThread == 4, "RowsPerThread",
		"%d is not 1, 2 or 4", s.RowsPerThread)
	switch {
	case threads == 1:
		r.unless(s.Order.Reduce == ReduceNone, "Order.Reduce", "%s with one thread for a row, which needs none", s.Order.Reduce)
		return
	case threads < 1:
		r.unless(false, "Order.ThreadsPerRow", "%d is not positive", threads)
		return
	}
	r.unless(s.Order.Reduce == ReduceSubgroup, "Order.Reduce", "%s is not built yet, only subgroup, or none with one thread for a row", s.Order.Reduce)
	r.unless(p.Subgroups, "Order.Reduce", "profile %s has no subgroups", p.Name)
	r.unless(threads == p.SubgroupSize, "Order.ThreadsPerRow",
		"%d is not the size of subgroups that profile %s guarantees (%d; 0 is unknown)", threads, p.Name, p.SubgroupSize)
	r.unless(s.Workgroup%threads == 0, "Order.ThreadsPerRow", "%d does not divide Workgroup %d", threads, s.Workgroup)
}

// checkBuilt refuses choices that are named but that no kernel has.
func (s GEMV) checkBuilt(r *reasons, b GEMVProblem) {
	is(r, "ScaleFetch", s.ScaleFetch, ScalePerThread)
	is(r, "XSource", s.XSource, XGlobal)
	is(r, "Grid", s.Grid, GridTile)
	is(r, "Order.Unroll", s.Order.Unroll, 1)
	r.unless(s.Order.XType == b.xType(), "Order.XType", "%s where x is given as %s", s.Order.XType, b.xType())
	is(r, "Order.SplitK", s.Order.SplitK, 1)
	built := b.maths()
	r.unless(slices.Contains(built, s.Order.Math), "Order.Math", "%s is not built for x of %s, only %v", s.Order.Math, b.xType(), built)
}

// maths lists the inner products that are built for a problem.
func (b GEMVProblem) maths() []Math {
	if b.xType() == XQ8 {
		return []Math{Dot4I8, UnpackedI8}
	}
	if block, ok := b.Format.Block(); ok && block.Elems > 1 {
		return []Math{DeferredScale}
	}
	return []Math{Dequantise}
}

// defaultMath chooses without measuring.
func (b GEMVProblem) defaultMath(p Profile) Math {
	if b.xType() == XQ8 && !p.PackedDot {
		return UnpackedI8
	}
	return b.maths()[0]
}

// checkFit refuses what depends on the shape and the schedule together.
func (s GEMV) checkFit(r *reasons, b GEMVProblem, p Profile) {
	widths := b.VecWidths()
	r.unless(slices.Contains(widths, s.Order.VecWidth), "Order.VecWidth",
		"%d: rows of %d %v values are read %v words at a time", s.Order.VecWidth, b.Columns, b.Format, widths)
	checkTrips(r, "Columns", s.Trips(b), p)
	groups := (b.Rows + s.RowsPerWorkgroup() - 1) / s.RowsPerWorkgroup()
	most := p.Limits.Workgroups
	r.within(groups <= most*most, "Rows", "%d workgroups exceed %d in each of two dimensions", groups, most)
}

// Trips returns the loop trips of one invocation, counted as plan.Device counts.
func (s GEMV) Trips(b GEMVProblem) int {
	threads := max(1, s.Order.ThreadsPerRow)
	return loop((b.loads(max(1, s.Order.VecWidth)) + threads - 1) / threads)
}

// tripValues is the values of a trip of a loop over a row of blocks: those that share a scale of q8 x.
const tripValues = 32

// loads is the trips of a loop over a row by one thread: runs of tripValues, or loads of plain values.
func (b GEMVProblem) loads(vec int) int {
	block, _ := b.Format.Block()
	if block.Elems > 1 {
		return b.Columns / tripValues
	}
	return (b.Columns*block.Bytes + 4*vec - 1) / (4 * vec)
}

// DefaultGEMV chooses without measuring. Where the profile guarantees the size of subgroups, a subgroup takes each row, or
// two when there are many; elsewhere a thread takes each row, so that no barrier is needed.
func DefaultGEMV(b GEMVProblem, p Profile) GEMV {
	s := GEMV{
		Workgroup: min(64, p.Limits.Invocations), RowsPerThread: 1,
		ScaleFetch: ScalePerThread, XSource: XGlobal, Grid: GridTile,
		Order: Order{ThreadsPerRow: 1, VecWidth: b.VecWidths()[0], Unroll: 1, XType: b.xType(), Math: b.defaultMath(p),
			Reduce: ReduceNone, SplitK: 1},
	}
	if p.Subgroups && p.SubgroupSize > 1 {
		s.Workgroup = max(64, p.SubgroupSize)
		s.Order.ThreadsPerRow, s.Order.Reduce = p.SubgroupSize, ReduceSubgroup
		if b.Rows >= manyRows {
			s.RowsPerThread = 2
		}
	}
	return s
}

// manyRows is where two rows for each team still leave every core of a large GPU work: 8192 rows in tiles of 4 are 2048
// workgroups.
const manyRows = 8192
