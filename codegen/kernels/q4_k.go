package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q4_k is blocks of 144 bytes: d and the unit of minima as f16, 12 bytes of scales and minima, 128 bytes of codes. A value is
// d·scale·q − unit·minimum.
type q4_k struct{ superblock }

func (q4_k) planes() []plan.Plane {
	return []plan.Plane{bytesPlane(Codes, 16, 128), bytesPlane(Scales, 0, 16)}
}

func (b q4_k) operands(rows int) []bind.Operand {
	return []bind.Operand{b.bytes(Codes, rows, 128), b.bytes(Scales, rows, 16)}
}

func (q4_k) load(m *wgsl.Module, r string) {
	loadFour(m, r)
	loadPairs(m, r)
}

func (q4_k) unpack(m *wgsl.Module, r string) {
	m.Let("low"+r, four("q", r))
	m.Let("high"+r, four("p", r))
}
