package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// mxfp4 is blocks of 17 bytes: an exponent e, then 16 bytes of codes of E2M1. A value is 2^(e−128)·level(q), where levels are twice
// those of the codes.
type mxfp4 struct {
	blocks
	levels
}

func newMXFP4(columns int) signedCodes {
	return signedCodes{mxfp4{blocks{columns}, levels{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}}}
}

func (b mxfp4) declare(m *wgsl.Module) { b.levels.declare(m) }

func (mxfp4) planes() []plan.Plane {
	return []plan.Plane{nibblePlane(8), {Name: Scales, BlockBits: 8, Fields: []plan.Field{{From: 0, At: 0, Bits: 8}}}}
}

func (b mxfp4) operands(rows int) []bind.Operand {
	return []bind.Operand{b.nibbleCodes(rows), weightOperand(Scales, "u32", (rows*b.perRow()+3)/4)}
}

// load makes the scale from its bits. Those for an e of 0 and 1 are subnormal, and a device may take them for 0.
func (mxfp4) load(m *wgsl.Module, r string) {
	m.Let("q"+r, Codes+"[at%s]", r)
	m.Let("e"+r, "unpack4xU8("+Scales+"[at%[1]s >> 2u])[at%[1]s & 3u]", r)
	m.Let("d"+r, "bitcast<f32>(select((e%[1]s - 1u) << 23u, 0x200000u << (e%[1]s & 1u), e%[1]s < 2u))", r)
}
