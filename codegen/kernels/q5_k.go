package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q5_k is blocks of 176 bytes: as in q4_k, with 32 bytes of fifth bits before the codes.
type q5_k struct{ superblock }

func (q5_k) planes() []plan.Plane {
	return []plan.Plane{bytesPlane(Codes, 48, 128), bytesPlane(High, 16, 32), bytesPlane(Scales, 0, 16)}
}

func (b q5_k) operands(rows int) []bind.Operand {
	return []bind.Operand{b.bytes(Codes, rows, 128), b.bytes(High, rows, 32), b.bytes(Scales, rows, 16)}
}

func (q5_k) load(m *wgsl.Module, r string) {
	loadFour(m, r)
	loadBits(m, r)
	loadPairs(m, r)
}

func (q5_k) unpack(m *wgsl.Module, r string) {
	m.Let("low"+r, "(%s) | ((%s) << vec4<u32>(4u))", four("q", r), bit("g", r))
	m.Let("high"+r, "(%s) | ((%s) << vec4<u32>(4u))", four("p", r), bit("h", r))
}
