package wgsl

// builtins gives the signature of each built-in function: parameters, then -> and the result. A letter is a type that all
// its occurrences share, scalar or vector: N a number, F a float, I an integer, B a bool; V is a vector of floats. E is
// the component of V, N or F. Others are types. "special" is checked by code.
var builtins = map[string]string{
	"abs": "N -> N", "sign": "N -> N", "min": "N N -> N", "max": "N N -> N", "clamp": "N N N -> N",

	"acos": "F -> F", "acosh": "F -> F", "asin": "F -> F", "asinh": "F -> F", "atan": "F -> F", "atanh": "F -> F",
	"atan2": "F F -> F", "ceil": "F -> F", "cos": "F -> F", "cosh": "F -> F", "degrees": "F -> F", "exp": "F -> F",
	"exp2": "F -> F", "floor": "F -> F", "fma": "F F F -> F", "fract": "F -> F", "inverseSqrt": "F -> F", "log": "F -> F",
	"log2": "F -> F", "mix": "special", "pow": "F F -> F", "radians": "F -> F", "round": "F -> F", "saturate": "F -> F",
	"sin": "F -> F", "sinh": "F -> F", "smoothstep": "F F F -> F", "sqrt": "F -> F", "step": "F F -> F", "tan": "F -> F",
	"tanh": "F -> F", "trunc": "F -> F", "quantizeToF16": "F -> F",

	"dot": "special", "length": "F -> E", "distance": "F F -> E", "normalize": "V -> V",

	"countLeadingZeros": "I -> I", "countOneBits": "I -> I", "countTrailingZeros": "I -> I", "firstLeadingBit": "I -> I",
	"firstTrailingBit": "I -> I", "reverseBits": "I -> I", "extractBits": "I u32 u32 -> I", "insertBits": "I I u32 u32 -> I",

	"all": "B -> bool", "any": "B -> bool", "select": "special",

	"dot4I8Packed": "u32 u32 -> i32", "dot4U8Packed": "u32 u32 -> u32",
	"pack4xI8": "vec4i -> u32", "pack4xU8": "vec4u -> u32", "pack4xI8Clamp": "vec4i -> u32", "pack4xU8Clamp": "vec4u -> u32",
	"unpack4xI8": "u32 -> vec4i", "unpack4xU8": "u32 -> vec4u",
	"pack2x16float": "vec2f -> u32", "unpack2x16float": "u32 -> vec2f",
	"pack4x8snorm": "vec4f -> u32", "pack4x8unorm": "vec4f -> u32", "pack2x16snorm": "vec2f -> u32", "pack2x16unorm": "vec2f -> u32",
	"unpack4x8snorm": "u32 -> vec4f", "unpack4x8unorm": "u32 -> vec4f", "unpack2x16snorm": "u32 -> vec2f",
	"unpack2x16unorm": "u32 -> vec2f",

	"subgroupAdd": "N -> N", "subgroupMul": "N -> N", "subgroupMax": "N -> N", "subgroupMin": "N -> N",
	"subgroupExclusiveAdd": "N -> N", "subgroupInclusiveAdd": "N -> N", "subgroupExclusiveMul": "N -> N",
	"subgroupInclusiveMul": "N -> N", "subgroupAnd": "I -> I", "subgroupOr": "I -> I", "subgroupXor": "I -> I",
	"subgroupAll": "bool -> bool", "subgroupAny": "bool -> bool", "subgroupBallot": "bool -> vec4u",
	"subgroupBroadcast": "special", "subgroupBroadcastFirst": "N -> N", "subgroupShuffle": "special",
	"subgroupShuffleXor": "N u32 -> N", "subgroupShuffleUp": "N u32 -> N", "subgroupShuffleDown": "N u32 -> N",

	"workgroupBarrier": "->", "storageBarrier": "->", "workgroupUniformLoad": "special", "arrayLength": "special",

	"atomicLoad": "special", "atomicStore": "special", "atomicAdd": "special", "atomicSub": "special", "atomicMax": "special",
	"atomicMin": "special", "atomicAnd": "special", "atomicOr": "special", "atomicXor": "special", "atomicExchange": "special",
	"atomicCompareExchangeWeak": "special",

	"cross": "special", "faceForward": "V V V -> V", "frexp": "special", "ldexp": "special", "modf": "special", "reflect": "V V -> V",
	"refract": "special", "quadBroadcast": "special", "quadSwapX": "N -> N", "quadSwapY": "N -> N", "quadSwapDiagonal": "N -> N",
}

// builtinValues gives the types of the built-in values of an entry point's parameters.
var builtinValues = map[string]Type{
	"workgroup_id":           Vector{U32, 3},
	"num_workgroups":         Vector{U32, 3},
	"local_invocation_id":    Vector{U32, 3},
	"local_invocation_index": U32,
	"global_invocation_id":   Vector{U32, 3},
	"subgroup_size":          U32,
	"subgroup_invocation_id": U32,
	"subgroup_id":            U32,
	"num_subgroups":          U32,
}

// The effects that decide where a call may stand and what its statement means.

func isSubgroupName(name string) bool {
	return len(name) > 8 && name[:8] == "subgroup" || len(name) > 4 && name[:4] == "quad" || name == "num_subgroups"
}
func isAtomic(name string) bool { return len(name) > 6 && name[:6] == "atomic" }
func isBarrier(name string) bool {
	return name == "workgroupBarrier" || name == "storageBarrier" || name == "workgroupUniformLoad"
}

// collective reports whether a built-in function must be called in uniform control flow.
func collective(name string) bool { return isBarrier(name) || isSubgroupName(name) }

// pure reports whether calls of a built-in function with the same arguments can be merged, dropped or repeated.
func pure(name string) bool { return !collective(name) && !isAtomic(name) }
