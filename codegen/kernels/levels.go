package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// The formats whose codes stand for uneven numbers look those up: sixteen signed bytes, four in a word.

// levels are the numbers that codes of four bits stand for.
type levels [16]int8

// declare declares level: the bytes of four codes, one in each lane.
func (l levels) declare(m *wgsl.Module) {
	var words [4]uint32
	for i, v := range l {
		words[i/4] |= uint32(uint8(v)) << (i % 4 * 8)
	}
	m.Func("level", "code: vec4<u32>", "vec4<u32>", func() {
		m.Let("odd", "(code & vec4<u32>(4u)) != vec4<u32>(0u)")
		m.Let("four", "select(%s, %s, (code & vec4<u32>(8u)) != vec4<u32>(0u))", fourLevels(words[0], words[1]), fourLevels(words[2], words[3]))
		m.Return("(four >> ((code & vec4<u32>(3u)) * vec4<u32>(8u))) & vec4<u32>(0xffu)")
	})
}

func fourLevels(even, odd uint32) string {
	return fmt.Sprintf("select(vec4<u32>(%#08xu), vec4<u32>(%#08xu), odd)", even, odd)
}

// unpack declares low<r> and high<r> from nibbles q<r>.
func (levels) unpack(m *wgsl.Module, r string) {
	m.Let("low"+r, levelsFrom("q"+r, 0))
	m.Let("high"+r, levelsFrom("q"+r, 4))
}

// levelsFrom is the text for the levels of the nibbles that start at bit 0 or 4 of each byte.
func levelsFrom(q string, from int) string {
	text := ""
	for at := 0; at < 32; at += 8 {
		if at > 0 {
			text += " | "
		}
		text += fmt.Sprintf("(level((%s >> vec4<u32>(%du)) & vec4<u32>(0xfu)) << vec4<u32>(%du))", q, from+at, at)
	}
	return text
}
