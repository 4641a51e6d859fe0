package sim

import "math"

// dot4Signed returns dot4I8Packed: the sum of the products of the four i8 in two words.
func dot4Signed(a, b uint32) uint32 {
	sum := int32(0)
	for shift := 0; shift < 32; shift += 8 {
		sum += int32(int8(a>>shift)) * int32(int8(b>>shift))
	}
	return uint32(sum)
}

// dot4Unsigned returns dot4U8Packed: the sum of the products of the four u8 in two words.
func dot4Unsigned(a, b uint32) uint32 {
	sum := uint32(0)
	for shift := 0; shift < 32; shift += 8 {
		sum += a >> shift & 0xff * (b >> shift & 0xff)
	}
	return sum
}

// packer returns how a built-in function packs a vector into a word: the vector's width, and what makes the bits of one component.
// They are the lowest ones of what it returns, component 0 at the bottom of the word. The width is 0 for a name that is none.
func packer(name string) (width int, code func(uint32) uint32) {
	switch name {
	case "pack4xI8", "pack4xU8":
		return 4, func(x uint32) uint32 { return x }
	case "pack4xI8Clamp":
		return 4, func(x uint32) uint32 { return uint32(min(max(int32(x), -128), 127)) }
	case "pack4xU8Clamp":
		return 4, func(x uint32) uint32 { return min(x, 255) }
	case "pack4x8snorm":
		return 4, func(x uint32) uint32 { return normal(x, -1, 127) }
	case "pack4x8unorm":
		return 4, func(x uint32) uint32 { return normal(x, 0, 255) }
	case "pack2x16snorm":
		return 2, func(x uint32) uint32 { return normal(x, -1, 32767) }
	case "pack2x16unorm":
		return 2, func(x uint32) uint32 { return normal(x, 0, 65535) }
	case "pack2x16float":
		return 2, func(x uint32) uint32 { return uint32(halfBits(math.Float32frombits(x))) }
	}
	return 0, nil
}

// normal returns floor(0.5 + scale·x) of an f32 clamped to low..1. NaN counts as low.
func normal(x uint32, low, scale float64) uint32 {
	f := wide(x)
	if f != f {
		f = low
	}
	product := scale * min(max(f, low), 1)
	return uint32(int32(math.Floor(0.5 + product)))
}

// pack puts the codes of a vector's components side by side.
func pack(vector []uint32, code func(uint32) uint32) uint32 {
	width := 32 / len(vector)
	word := uint32(0)
	for i, x := range vector {
		word |= code(x) & (1<<width - 1) << (i * width)
	}
	return word
}

// unpacker returns how a built-in function reads a vector from a word: the vector's width, and what makes a component of its bits,
// which are the lowest ones, with zeros above. The width is 0 for a name that is none. Component i begins at bit 32/width·i.
func unpacker(name string) (width int, value func(uint32) uint32) {
	switch name {
	case "unpack4xI8":
		return 4, func(x uint32) uint32 { return uint32(int32(int8(x))) }
	case "unpack4xU8":
		return 4, func(x uint32) uint32 { return x }
	case "unpack4x8snorm":
		return 4, func(x uint32) uint32 { return fraction(float32(int8(x)), 127) }
	case "unpack4x8unorm":
		return 4, func(x uint32) uint32 { return fraction(float32(x), 255) }
	case "unpack2x16snorm":
		return 2, func(x uint32) uint32 { return fraction(float32(int16(x)), 32767) }
	case "unpack2x16unorm":
		return 2, func(x uint32) uint32 { return fraction(float32(x), 65535) }
	case "unpack2x16float":
		return 2, func(x uint32) uint32 { return math.Float32bits(halfFloat(uint16(x))) }
	}
	return 0, nil
}

// fraction returns code/scale, at least -1.
func fraction(code, scale float32) uint32 { return math.Float32bits(max(code/scale, -1)) }

// unpack writes the components of a word.
func unpack(vector []uint32, word uint32, value func(uint32) uint32) {
	width := 32 / len(vector)
	for i := range vector {
		vector[i] = value(word >> (i * width) & (1<<width - 1))
	}
}
