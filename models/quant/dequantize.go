package quant

import "math"

// RowBytes returns the number of bytes of a row of the given number of columns. It fails with a [SizeError] when the
// columns are negative, no multiple of the type's block or too many, and with an [UnsupportedError] for an unknown type.
func RowBytes(t Type, columns int) (int, error) {
	b, ok := t.Block()
	if !ok {
		return 0, &UnsupportedError{t}
	}
	if columns < 0 || columns%b.Elems != 0 || columns/b.Elems > math.MaxInt/b.Bytes {
		return 0, &SizeError{Type: t, Columns: columns, Bytes: -1}
	}
	return columns / b.Elems * b.Bytes, nil
}

// Dequantize reads len(dst) values of type t from src, which must be exactly as long as they are stored. One call may
// take a row, part of a row cut at a block, or several rows. It fails with an [UnsupportedError] or a [SizeError].
func Dequantize(t Type, dst []float32, src []byte) error {
	read := reader(t)
	if read == nil {
		return &UnsupportedError{t}
	}
	want, err := RowBytes(t, len(dst))
	if err != nil {
		return err
	}
	if len(src) != want {
		return &SizeError{Type: t, Columns: len(dst), Bytes: len(src)}
	}
	read(dst, src)
	return nil
}

// Supported reports whether Dequantize reads the type.
func Supported(t Type) bool { return reader(t) != nil }

// reader returns the function that reads blocks of a type; lengths are checked before it is called.
func reader(t Type) func(dst []float32, src []byte) {
	switch t {
	case F32:
		return readF32
	case F16:
		return readF16
	case BF16:
		return readBF16
	case Q8_0:
		return readQ8_0
	case Q4_0:
		return readQ4_0
	case Q4_1:
		return readQ4_1
	}
	return nil
}

func readF32(dst []float32, src []byte) {
	for i := range dst {
		b := src[4*i : 4*i+4]
		dst[i] = math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
	}
}

func readF16(dst []float32, src []byte) {
	for i := range dst {
		b := src[2*i : 2*i+2]
		h := uint32(b[0]) | uint32(b[1])<<8
		if h&0x7c00-0x400 < 0x7800 { // as in half, which is too big to be inlined
			dst[i] = math.Float32frombits(h&0x8000<<16 | h&0x7fff<<13 + 112<<23)
		} else {
			dst[i] = rareHalf(h)
		}
	}
}

func readBF16(dst []float32, src []byte) {
	for i := range dst {
		b := src[2*i : 2*i+2]
		dst[i] = math.Float32frombits(uint32(b[0])<<16 | uint32(b[1])<<24)
	}
}

// readQ8_0: d at 0, 32 signed bytes at 2; d·code.
func readQ8_0(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 34 {
		d := half(src)
		values, codes := dst[:32], src[2:34]
		for i, c := range codes {
			values[i] = d * float32(int8(c))
		}
		dst, src = dst[32:], src[34:]
	}
}

// readQ4_0: d at 0, 16 bytes of codes at 2; d·(code-8). Low nibbles are values 0..15, high nibbles 16..31.
func readQ4_0(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 18 {
		d := half(src)
		var value [16]float32
		for code := range value {
			value[code] = d * float32(code-8)
		}
		spread(dst[:32], src[2:18], &value)
		dst, src = dst[32:], src[18:]
	}
}

// readQ4_1: d at 0, m at 2, 16 bytes of codes at 4 in the order of Q4_0; d·code+m. The product is rounded before the sum: the conversion
// keeps compilers from fusing the two.
func readQ4_1(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 20 {
		d, m := half(src), half(src[2:])
		var value [16]float32
		for code := range value {
			value[code] = float32(d*float32(code)) + m
		}
		spread(dst[:32], src[4:20], &value)
		dst, src = dst[32:], src[20:]
	}
}

// spread looks up the values of 32 codes of four bits, low nibbles first. A block has half as many distinct values as
// elements, so they are computed once.
func spread(dst []float32, codes []byte, value *[16]float32) {
	low, high := dst[:16], dst[16:32]
	for i, c := range codes[:16] {
		low[i] = value[c&15]
		high[i] = value[c>>4]
	}
}

// half converts the little-endian IEEE binary16 at the start of b: the exponent moves from binary16's bias, 15, to
// binary32's, 127. The two ends of
// the exponent's range go elsewhere.
func half(b []byte) float32 {
	h := uint32(b[0]) | uint32(b[1])<<8
	if h&0x7c00-0x400 < 0x7800 {
		return math.Float32frombits(h&0x8000<<16 | h&0x7fff<<13 + 112<<23)
	}
	return rareHalf(h)
}

// rareHalf converts zeros, subnormals, infinities and NaN. A subnormal gets the smallest exponent, as if it had a leading one,
// which the subtraction takes away again, exactly; arithmetic on a subnormal float32 would be slow.
func rareHalf(h uint32) float32 {
	sign, rest := h&0x8000<<16, h&0x7fff<<13
	if h&0x7c00 != 0 {
		return math.Float32frombits(sign | rest | 0xff<<23)
	}
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(rest+113<<23)-0x1p-14))
}
