package sim

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// words are values at which integer functions change their way, and random ones.
func words() []uint32 {
	list := []uint32{0, 1, 2, 3, 5, 31, 32, 33, 127, 128, 255, 256, 0x7fffffff, 0x80000000, 0x80000001, 0xffffff80, 0xffffffff, 0xfffffffe, 0xaaaaaaaa}
	r := rand.New(rand.NewPCG(13, 14))
	for range 40 {
		list = append(list, r.Uint32(), r.Uint32()>>r.IntN(32))
	}
	return list
}

func value(x uint32, signed bool) *big.Int {
	if signed {
		return big.NewInt(int64(int32(x)))
	}
	return big.NewInt(int64(x))
}

// word is an integer of any size modulo 2^32.
func word(x *big.Int) uint32 {
	return uint32(new(big.Int).And(x, big.NewInt(math.MaxUint32)).Uint64())
}

func TestDivision(t *testing.T) {
	type operator func(a, b uint32) uint32
	for _, signed := range []bool{true, false} {
		divide, rest, right := operator(divideUnsigned), operator(remainderUnsigned), operator(shiftRightUnsigned)
		if signed {
			divide, rest, right = divideSigned, remainderSigned, shiftRightSigned
		}
		for _, a := range words() {
			for _, b := range words() {
				x, y := value(a, signed), value(b, signed)
				quotient, remainder := a, uint32(0)
				if y.Sign() != 0 { // the quotient 2^31 wraps to what WGSL wants
					quotient, remainder = word(new(big.Int).Quo(x, y)), word(new(big.Int).Rem(x, y))
				}
				if got := divide(a, b); got != quotient {
					t.Fatalf("%v / %v = %#x, want %#x", x, y, got, quotient)
				}
				if got := rest(a, b); got != remainder {
					t.Fatalf("%v %% %v = %#x, want %#x", x, y, got, remainder)
				}
				n := uint(b % 32)
				if got, want := shiftLeft(a, b), word(new(big.Int).Lsh(x, n)); got != want {
					t.Fatalf("%v << %d = %#x, want %#x", x, b, got, want)
				}
				if got, want := right(a, b), word(new(big.Int).Rsh(x, n)); got != want {
					t.Fatalf("%v >> %d = %#x, want %#x", x, b, got, want)
				}
			}
		}
	}
}

// TestIntegerUnary compares with what the 32 digits of a word say.
func TestIntegerUnary(t *testing.T) {
	for _, signed := range []bool{true, false} {
		for _, x := range words() {
			v, digits := value(x, signed), fmt.Sprintf("%032b", x)
			reversed := ""
			for _, d := range digits {
				reversed = string(d) + reversed
			}
			var mirror uint32
			fmt.Sscanf(reversed, "%b", &mirror)
			lead := strings.Index(digits, "1")
			if signed && digits[0] == '1' {
				lead = strings.Index(digits, "0")
			}
			if lead < 0 {
				lead = 32
			}
			trail := strings.Index(reversed, "1")
			zeros := trail
			if trail < 0 {
				zeros = 32
			}
			want := map[string]uint32{
				"abs": word(new(big.Int).Abs(v)), "negate": word(new(big.Int).Neg(v)), "sign": uint32(v.Sign()),
				"countLeadingZeros": uint32(strings.Index(digits+"1", "1")), "countTrailingZeros": uint32(zeros),
				"countOneBits": uint32(strings.Count(digits, "1")), "firstLeadingBit": uint32(31 - lead), "firstTrailingBit": uint32(trail),
				"reverseBits": mirror,
			}
			for name, w := range want {
				if got := integerUnary(name, signed)(x); got != w {
					t.Fatalf("%s(%v) = %#x, want %#x", name, v, got, w)
				}
			}
		}
	}
}

func TestIntegerBinary(t *testing.T) {
	for _, signed := range []bool{true, false} {
		largest, least, clamp := integerBinary("max", signed), integerBinary("min", signed), clampInteger(signed)
		for _, a := range words() {
			for _, b := range words() {
				high, low := a, b
				if value(a, signed).Cmp(value(b, signed)) < 0 {
					high, low = b, a
				}
				if largest(a, b) != high || least(a, b) != low {
					t.Fatalf("of %#x and %#x max is %#x and min %#x (signed %v)", a, b, largest(a, b), least(a, b), signed)
				}
				if clamp(a, low, high) != a || clamp(low, high, high) != high || clamp(high, low, low) != low || clamp(a, high, low) != low {
					t.Fatalf("clamp with %#x and %#x (signed %v)", low, high, signed)
				}
			}
		}
	}
}

// TestBitFields moves bit by bit.
func TestBitFields(t *testing.T) {
	edges := []uint32{0, 1, 2, 7, 8, 15, 16, 24, 30, 31, 32, 33, 100, math.MaxUint32}
	all := words()
	for i, x := range all {
		replacement := all[len(all)-1-i]
		for _, offset := range edges {
			for _, count := range edges {
				o := min(offset, 32)
				c := min(count, 32-o)
				extracted, inserted := uint32(0), x
				for bit := range c {
					extracted |= x >> (o + bit) & 1 << bit
					inserted = inserted&^(1<<(o+bit)) | replacement>>bit&1<<(o+bit)
				}
				sign := extracted
				for bit := c; c > 0 && bit < 32; bit++ {
					sign |= extracted >> (c - 1) & 1 << bit
				}
				if got := extractBits(false)(x, offset, count); got != extracted {
					t.Fatalf("extractBits(%#x, %d, %d) = %#x, want %#x", x, offset, count, got, extracted)
				}
				if got := extractBits(true)(x, offset, count); got != sign {
					t.Fatalf("signed extractBits(%#x, %d, %d) = %#x, want %#x", x, offset, count, got, sign)
				}
				if got := insertBits(x, replacement, offset, count); got != inserted {
					t.Fatalf("insertBits(%#x, %#x, %d, %d) = %#x, want %#x", x, replacement, offset, count, got, inserted)
				}
			}
		}
	}
}
