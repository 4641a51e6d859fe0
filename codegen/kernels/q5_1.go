package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q5_1 is blocks of 24 bytes: d and m as f16, 4 bytes of fifth bits, 16 bytes of the low four. A value is d·q + m.
type q5_1 struct{ blocks }

func (q5_1) planes() []plan.Plane {
	return []plan.Plane{nibblePlane(64), fifthPlane(32), pairScalePlane()}
}

func (b q5_1) operands(rows int) []bind.Operand {
	return []bind.Operand{b.nibbleCodes(rows), b.fifths(rows), weightOperand(Scales, "u32", rows*b.perRow())}
}

func (q5_1) load(m *wgsl.Module, r string) {
	loadFifths(m, r)
	m.Let("dm"+r, "unpack2x16float("+Scales+"[at%s])", r)
	m.Let("d"+r, "dm%s.x", r)
	m.Let("m"+r, "dm%s.y", r)
}

func (q5_1) unpack(m *wgsl.Module, r string) {
	m.Let("low"+r, lowFifths(r))
	m.Let("high"+r, highFifths(r))
}
