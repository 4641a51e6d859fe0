package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// iq4_nl is blocks of 18 bytes: d as f16, then 16 bytes of codes. A value is d·level(q).
type iq4_nl struct {
	blocks
	levels
}

func newIQ4NL(columns int) signedCodes {
	return signedCodes{iq4_nl{blocks{columns}, levels{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}}}
}

func (b iq4_nl) declare(m *wgsl.Module) { b.levels.declare(m) }

func (iq4_nl) planes() []plan.Plane { return []plan.Plane{nibblePlane(16), halfScalePlane()} }

func (b iq4_nl) operands(rows int) []bind.Operand {
	return []bind.Operand{b.nibbleCodes(rows), b.halfScales(rows)}
}

func (b iq4_nl) load(m *wgsl.Module, r string) {
	m.Let("q"+r, Codes+"[at%s]", r)
	b.loadHalfScale(m, r)
}
