package sim

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/x448/float16"
)

func TestDots(t *testing.T) {
	for _, test := range []struct {
		a, b             uint32
		signed, unsigned int64
	}{
		{0x01020304, 0x05060708, 70, 70}, {0xffffffff, 0x01010101, -4, 1020}, {0x80808080, 0x80808080, 65536, 65536}, {0x7f7f7f7f, 0x80808080, -65024, 65024},
		{0xffffffff, 0xffffffff, 4, 260100}, {0xff000000, 0x02ffffff, -2, 510},
	} {
		if got := dot4Signed(test.a, test.b); got != uint32(test.signed) {
			t.Errorf("dot4I8Packed(%#x, %#x) = %d, want %d", test.a, test.b, int32(got), test.signed)
		}
		if got := dot4Unsigned(test.a, test.b); got != uint32(test.unsigned) {
			t.Errorf("dot4U8Packed(%#x, %#x) = %d, want %d", test.a, test.b, got, test.unsigned)
		}
	}
}

func floats(values ...float32) []uint32 {
	var list []uint32
	for _, v := range values {
		list = append(list, math.Float32bits(v))
	}
	return list
}

func TestPack(t *testing.T) {
	nan := float32(math.NaN())
	low := ^uint32(0) // -1
	for _, test := range []struct {
		name   string
		vector []uint32
		want   uint32
	}{
		{"pack4xI8", []uint32{1, low, 127, 0x80}, 0x807fff01}, {"pack4xI8", []uint32{0x101, 0x200, low - 1, 3}, 0x03fe0001},
		{"pack4xU8", []uint32{1, 2, 255, 256}, 0x00ff0201}, {"pack4xI8Clamp", []uint32{128, low, 0x80000000, 5}, 0x0580ff7f},
		{"pack4xU8Clamp", []uint32{256, 255, 0xffffffff, 5}, 0x05ffffff},
		{"pack4x8snorm", floats(1, -1, 0.5, -0.5), 0xc140817f}, // floor(64), floor(-63)
		{"pack4x8snorm", floats(2, -2, nan, 0), 0x0081817f}, {"pack4x8unorm", floats(1, -1, 0.5, 2), 0xff8000ff},
		{"pack4x8unorm", floats(0.5/255, 0.49/255, 1.5/255, nan), 0x00020001},
		{"pack2x16snorm", floats(1, -1), 0x80017fff}, {"pack2x16snorm", floats(0.5, -0.5), 0xc0014000}, {"pack2x16unorm", floats(1, 0.5), 0x8000ffff},
		{"pack2x16float", floats(1, -2), 0xc0003c00}, {"pack2x16float", floats(65504, 0x1p-24), 0x00017bff},
	} {
		width, code := packer(test.name)
		if got := pack(test.vector, code); width != len(test.vector) || got != test.want {
			t.Errorf("%s(%#x) = %#08x, want %#08x", test.name, test.vector, got, test.want)
		}
	}
}

// TestUnpack reads words by encoding/binary.
func TestUnpack(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for i := range 70000 {
		w := r.Uint32()
		if i < 1<<16 {
			w = uint32(i) | uint32(i)*40503<<16
		}
		bytes := binary.LittleEndian.AppendUint32(nil, w)
		want := map[string][]uint32{}
		for _, b := range bytes {
			want["unpack4xI8"] = append(want["unpack4xI8"], uint32(int32(int8(b))))
			want["unpack4xU8"] = append(want["unpack4xU8"], uint32(b))
			want["unpack4x8snorm"] = append(want["unpack4x8snorm"], nearest(float64(int8(b))/127))
			want["unpack4x8unorm"] = append(want["unpack4x8unorm"], nearest(float64(b)/255))
		}
		for at := 0; at < 4; at += 2 {
			h := binary.LittleEndian.Uint16(bytes[at:])
			want["unpack2x16snorm"] = append(want["unpack2x16snorm"], nearest(float64(int16(h))/32767))
			want["unpack2x16unorm"] = append(want["unpack2x16unorm"], nearest(float64(h)/65535))
			if f := float16.Frombits(h).Float32(); f == f {
				want["unpack2x16float"] = append(want["unpack2x16float"], math.Float32bits(f))
			}
		}
		for name, components := range want {
			width, value := unpacker(name)
			vector := make([]uint32, width)
			unpack(vector, w, value)
			if width == len(components) && !slices.Equal(vector, components) {
				t.Fatalf("%s(%#x) = %#x, want %#x", name, w, vector, components)
			}
		}
	}
}

func nearest(x float64) uint32 { return math.Float32bits(float32(max(x, -1))) }

// TestPackUnpack packs what was unpacked: all codes come back, but the least of snorm, which means the same as the next.
func TestPackUnpack(t *testing.T) {
	for suffix, width := range map[string]int{"4xI8": 4, "4xU8": 4, "4x8unorm": 4, "2x16snorm": 2, "2x16unorm": 2, "2x16float": 2} {
		_, value := unpacker("unpack" + suffix)
		_, code := packer("pack" + suffix)
		vector := make([]uint32, width)
		for i := range uint32(1 << 16) {
			w := i | (i^0x5a5a)<<16
			if suffix == "2x16snorm" && (i == 0x8000 || i^0x5a5a == 0x8000) {
				continue
			}
			unpack(vector, w, value)
			nan := slices.ContainsFunc(vector, func(x uint32) bool { f := math.Float32frombits(x); return f != f })
			if got := pack(vector, code); got != w && !(suffix == "2x16float" && nan) {
				t.Fatalf("%#08x became %#08x by %s", w, got, suffix)
			}
		}
	}
}
