package codegen

import (
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// span is rows from a first one on.
type span struct{ from, rows int }

// shard is rows of a weight: all, unless the weight is cut.
type shard struct {
	weight *ir.Tensor
	span
}

// shardRows is what the rows of a shard are a multiple of, but for the last. The results of a shard are bound where they lie in
// those of the whole weight, f32 from a multiple of plan.RangeAlignment on.
const shardRows = plan.RangeAlignment / 4

// cut divides rows of rowBytes each so that no shard exceeds limit: into as few shards as that takes, all of one size but for the
// last, so that their kernels have one text. Rows that no cut makes fit are left whole, for whoever binds them to refuse.
func cut(rows int, rowBytes, limit uint64) []span {
	most := int(min(limit/max(1, rowBytes), uint64(rows)))
	if most < rows {
		most = most / shardRows * shardRows
	}
	if most == 0 || most >= rows {
		return []span{{0, rows}}
	}
	n := (rows + most - 1) / most
	each := (rows + n*shardRows - 1) / (n * shardRows) * shardRows
	var all []span
	for from := 0; from < rows; from += each {
		all = append(all, span{from, min(each, rows-from)})
	}
	return all
}

// shards cuts a weight where what is bound of it exceeds a binding.
func (c *compilation) shards(w *ir.Tensor) ([]shard, error) {
	row, err := c.boundRow(w)
	if err != nil {
		return nil, err
	}
	var all []shard
	for _, s := range cut(weightRows(w), row, c.opts.Profile.Limits.BindingBytes) {
		all = append(all, shard{w, s})
	}
	return all, nil
}

// stackable reports whether weights of one type can follow each other in one stack whose planes fit a binding each.
func (c *compilation) stackable(weights []*ir.Tensor) bool {
	row, err := c.boundRow(weights[0])
	g := kernels.GEMV{Format: quant.Type(weights[0].Elem), Columns: weights[0].Columns()}
	rows := 0
	for _, w := range weights {
		g.Results = append(g.Results, weightRows(w))
		rows += weightRows(w)
	}
	return err == nil && g.Stackable() && uint64(rows)*row <= c.opts.Profile.Limits.BindingBytes
}

// boundRow is the bytes of a row that must fit a binding: in the largest plane. Where a device offers so few storage buffers that
// planes can't have one each beside x, a bias and a result, in those that are bound as one.
func (c *compilation) boundRow(w *ir.Tensor) (uint64, error) {
	recipe, err := recipeOf(w)
	if err != nil {
		return 0, err
	}
	plane, run, err := kernels.RowBytes(quant.Type(w.Elem), w.Columns())
	if len(recipe.Planes)+3 > c.opts.Profile.Limits.StorageBuffers {
		return uint64(run), err
	}
	return uint64(plane), err
}

func recipeOf(w *ir.Tensor) (plan.Recipe, error) {
	recipe, err := kernels.Recipe(quant.Type(w.Elem), w.Columns())
	if err != nil {
		return recipe, &UnsupportedError{"weight " + w.Name, err.Error()}
	}
	return recipe, nil
}

// whole is all of a weight.
func whole(w *ir.Tensor) shard { return shard{w, span{0, weightRows(w)}} }
