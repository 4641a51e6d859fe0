package quant

import "strconv"

// Type is a GGUF tensor type, with the numbers that files hold.
type Type uint32

// The tensor types of GGUF files. Numbers that are missing here (4, 5, 31-33, 36-38) were removed from the format.
const (
	F32     Type = 0
	F16     Type = 1
	Q4_0    Type = 2
	Q4_1    Type = 3
	Q5_0    Type = 6
	Q5_1    Type = 7
	Q8_0    Type = 8
	Q8_1    Type = 9
	Q2_K    Type = 10
	Q3_K    Type = 11
	Q4_K    Type = 12
	Q5_K    Type = 13
	Q6_K    Type = 14
	Q8_K    Type = 15
	IQ2_XXS Type = 16
	IQ2_XS  Type = 17
	IQ3_XXS Type = 18
	IQ1_S   Type = 19
	IQ4_NL  Type = 20
	IQ3_S   Type = 21
	IQ2_S   Type = 22
	IQ4_XS  Type = 23
	I8      Type = 24
	I16     Type = 25
	I32     Type = 26
	I64     Type = 27
	F64     Type = 28
	IQ1_M   Type = 29
	BF16    Type = 30
	TQ1_0   Type = 34
	TQ2_0   Type = 35
	MXFP4   Type = 39
	NVFP4   Type = 40
	Q1_0    Type = 41
	Q2_0    Type = 42
)

// Block says how a type stores its values: Elems consecutive values of a row in Bytes bytes.
type Block struct {
	Name         string
	Elems, Bytes int
}

// blocks lists every type that a file may name; sizes from the format's specification. Q8_1 and Q8_K are activation
// formats of other programs' dot products and are not stored; for Q8_1 (f16 d, f16 d·Σcodes, 32 codes) some tools count the
// two scales as f32 and so 40 bytes.
var blocks = map[Type]Block{
	F32: {"F32", 1, 4}, F16: {"F16", 1, 2}, BF16: {"BF16", 1, 2}, F64: {"F64", 1, 8},
	I8: {"I8", 1, 1}, I16: {"I16", 1, 2}, I32: {"I32", 1, 4}, I64: {"I64", 1, 8},
	Q4_0: {"Q4_0", 32, 18}, Q4_1: {"Q4_1", 32, 20}, Q5_0: {"Q5_0", 32, 22}, Q5_1: {"Q5_1", 32, 24},
	Q8_0: {"Q8_0", 32, 34}, Q8_1: {"Q8_1", 32, 36},
	Q2_K: {"Q2_K", 256, 84}, Q3_K: {"Q3_K", 256, 110}, Q4_K: {"Q4_K", 256, 144}, Q5_K: {"Q5_K", 256, 176},
	Q6_K: {"Q6_K", 256, 210}, Q8_K: {"Q8_K", 256, 292},
	IQ2_XXS: {"IQ2_XXS", 256, 66}, IQ2_XS: {"IQ2_XS", 256, 74}, IQ2_S: {"IQ2_S", 256, 82},
	IQ3_XXS: {"IQ3_XXS", 256, 98}, IQ3_S: {"IQ3_S", 256, 110},
	IQ1_S: {"IQ1_S", 256, 50}, IQ1_M: {"IQ1_M", 256, 56},
	IQ4_NL: {"IQ4_NL", 32, 18}, IQ4_XS: {"IQ4_XS", 256, 136},
	TQ1_0: {"TQ1_0", 256, 54}, TQ2_0: {"TQ2_0", 256, 66},
	MXFP4: {"MXFP4", 32, 17}, NVFP4: {"NVFP4", 64, 36}, Q1_0: {"Q1_0", 128, 18}, Q2_0: {"Q2_0", 64, 18},
}

// Block returns how t is stored; ok is false for a number that is no type of the format.
func (t Type) Block() (b Block, ok bool) {
	b, ok = blocks[t]
	return b, ok
}

// block is Block for a type known to exist; the zero type of a wrong number has blocks of one value in no bytes.
func (t Type) block() Block {
	if b, ok := blocks[t]; ok {
		return b
	}
	return Block{Elems: 1}
}

// String returns the name of the type as the field writes it, such as Q4_1.
func (t Type) String() string {
	if b, ok := blocks[t]; ok {
		return b.Name
	}
	return "type " + strconv.FormatUint(uint64(t), 10)
}

// ParseType returns the type with the given name, as String prints it.
func ParseType(name string) (Type, bool) {
	for t, b := range blocks {
		if b.Name == name {
			return t, true
		}
	}
	return 0, false
}
