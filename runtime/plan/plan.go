package plan

import "strings"

// Format1 is the layout of Plan that this package reads. Generated code names the constant it was made for, so that a
// runtime that is too old or too new fails to compile.
const Format1 = 1

// Plan is everything a Backend needs to run a model: kernels, buffers, weights with the recipes that place them, bind
// groups, and lists of dispatches. A Builder makes it. The numbers in a Plan index its own slices.
type Plan struct {
	Format   int
	Name     string   // model, profile, path and KV type, for messages
	Profile  string   // the device profile the kernels were made for
	Requires Requires // what the device must offer
	Kernels  []Kernel
	Buffers  []Buffer
	Weights  []Weight
	Tables   []Table
	Groups   []Group
	Lists    []List
	Outputs  []Output
	Params   Params
	KV       KV
	Vocab    int // logits per position
	Context  int // positions the KV cache and the tables hold
}

// Requires lists the least a device must offer. Zero fields ask for nothing. Every Backend is opened with these limits.
type Requires struct {
	Limits
	Subgroups    bool
	SubgroupSize int // the size that the kernels rely on; 0 when they rely on none
	F16          bool
	PackedDot    bool // kernels use dot4I8Packed, which every device has and some have wrong
	LoopTrips    int  // the most trips of one invocation, counted as in Device
}

// Limits are the device limits that kernels can exceed, by WebGPU's definitions.
type Limits struct {
	StorageBuffers   int    // storage buffers per shader stage
	UniformBuffers   int    // uniform buffers per shader stage
	BindingBytes     uint64 // largest storage binding
	UniformBytes     uint64 // largest uniform binding
	BufferBytes      uint64 // largest buffer
	WorkgroupBytes   int    // workgroup memory of one workgroup
	Invocations      int    // invocations in one workgroup
	WorkgroupX       int    // largest x, y and z of a workgroup
	WorkgroupY       int
	WorkgroupZ       int
	Workgroups       int // workgroups in one dimension of a grid
	OffsetAlignment  int // bind range offsets are multiples of it
	DispatchesInPass int // dispatches in one compute pass
}

// Access is how a kernel uses one binding.
type Access uint8

// The accesses, which are the buffer binding types of WebGPU.
const (
	Uniform Access = iota + 1
	Read
	ReadWrite
)

// String returns the access as WGSL writes it.
func (a Access) String() string {
	switch a {
	case Uniform:
		return "uniform"
	case Read:
		return "read"
	}
	return "read_write"
}

// Binding is one entry of a kernel's bind group 0. Bytes is the size of the array or struct that the text declares:
// the range bound must hold at least that much.
type Binding struct {
	Name   string
	Access Access
	Bytes  uint64
}

// Kernel is one compute pipeline: entry point main of Text.
type Kernel struct {
	Name           string // op, format and shape, then a hash of Text: gemv_q4_1_576x576_1f3a09c2
	Text           string // WGSL in the dialect of Tint, see EnableSubgroups
	Bindings       []Binding
	Workgroup      [3]int
	WorkgroupBytes int
	Proved         bool // every index was proved in bounds: the kernel may be created without bounds checks
}

// EnableSubgroups is the one line by which the dialects of WGSL differ: Tint requires it in text that uses subgroup
// operations, naga refuses it. Kernel.Text has it; a Backend whose compiler is naga calls Naga first.
const EnableSubgroups = "enable subgroups;\n"

// BufferKind says what a buffer holds, and with that its usage.
type BufferKind uint8

// The kinds of buffers.
const (
	WeightsBuffer BufferKind = iota + 1 // planes of weights, written once
	TableBuffer                         // cos and sin tables, written once
	ParamsBuffer                        // the params block
	KVBuffer                            // pages of the KV cache
	ArenaBuffer                         // activations
	OutputBuffer                        // results that are read back, such as logits
)

// String names the kind.
func (k BufferKind) String() string {
	names := [...]string{"buffer?", "weights", "table", "params", "kv", "arena", "output"}
	if int(k) >= len(names) {
		return names[0]
	}
	return names[k]
}

// Buffer is one allocation on the device.
type Buffer struct {
	Name  string
	Kind  BufferKind
	Bytes uint64
}

// Range is part of a buffer. Offset is a multiple of 256, Bytes of 4.
type Range struct {
	Buffer int
	Offset uint64
	Bytes  uint64
}

// Group is a bind group: the ranges bound to the bindings of a kernel, in order. Kernels with the same accesses share a
// layout, so a group fits all of them.
type Group struct {
	Layout []Access
	Ranges []Range
}

// Weight is rows of one tensor of the model file and where their bytes go.
type Weight struct {
	Tensor string // its name in the file
	From   int    // the first row; the recipe has their number
	Recipe Recipe
}

// Table asks the runtime for an f32 table of cos and sin in To: for position p < Positions and i < Dims/2, word
// (p·Dims/2 + i)·2 holds cos and the word after it sin of p·Base^(-2i/Dims)·Factor / factors[i], computed in f64.
type Table struct {
	To        Range
	Base      float64
	Dims      int
	Factor    float64
	Positions int
	Factors   string // tensor with the factors, f32 [Dims/2]; empty for none
}

// Phase says what a list of dispatches is for.
type Phase uint8

// The phases.
const (
	Prefill Phase = iota + 1 // feed a token, no logits; the next token is read from the ring and the record moves on
	Decode                   // feed a token; its argmax goes to the ring, becomes the next token, and the record moves on
	Forward                  // feed a token, logits go to their output; the host writes the record of the next token
)

// Phases returns all phases, in the order in which a plan has its lists.
func Phases() []Phase { return []Phase{Prefill, Decode, Forward} }

// String names the phase.
func (p Phase) String() string {
	switch p {
	case Prefill:
		return "prefill"
	case Decode:
		return "decode"
	case Forward:
		return "forward"
	}
	return "phase?"
}

// List is one replayable sequence of dispatches. Records holds RecordWords words for each.
type List struct {
	Phase   Phase
	Columns int // tokens of a sequence that one replay feeds
	Records []uint32
}

// RecordWords is the number of words of a dispatch record: kernel, group, and the grid's x, y and z.
const RecordWords = 5

// Output is a value that can be read back after a replay.
type Output struct {
	Name  string
	Range Range
}

// Output returns the output with the given name.
func (p *Plan) Output(name string) (Output, bool) {
	for _, o := range p.Outputs {
		if o.Name == name {
			return o, true
		}
	}
	return Output{}, false
}

// List returns the list of a phase and column count.
func (p *Plan) List(phase Phase, columns int) (*List, bool) {
	for i := range p.Lists {
		if p.Lists[i].Phase == phase && p.Lists[i].Columns == columns {
			return &p.Lists[i], true
		}
	}
	return nil, false
}

// Naga returns kernel text with an empty line for the one that naga refuses, so that lines keep their numbers.
func Naga(text string) string { return strings.Replace(text, EnableSubgroups, "\n", 1) }
