package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q5_0 is blocks of 22 bytes: d as f16, 4 bytes of fifth bits, 16 bytes of the low four. A value is d·(q−16).
type q5_0 struct{ blocks }

func (q5_0) planes() []plan.Plane {
	return []plan.Plane{nibblePlane(48), fifthPlane(16), halfScalePlane()}
}

func (b q5_0) operands(rows int) []bind.Operand {
	return []bind.Operand{b.nibbleCodes(rows), b.fifths(rows), b.halfScales(rows)}
}

func (b q5_0) load(m *wgsl.Module, r string) {
	loadFifths(m, r)
	b.loadHalfScale(m, r)
}

// unpack makes the codes signed: q−16 is, byte by byte, (q+112) with its top bit flipped.
func (q5_0) unpack(m *wgsl.Module, r string) {
	m.Let("low"+r, "((%s) + vec4<u32>(0x70707070u)) ^ vec4<u32>(0x80808080u)", lowFifths(r))
	m.Let("high"+r, "((%s) + vec4<u32>(0x70707070u)) ^ vec4<u32>(0x80808080u)", highFifths(r))
}
