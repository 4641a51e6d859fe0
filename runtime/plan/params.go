package plan

// Params describes the params block, an array of u32 in one buffer that every kernel binds whole. It starts with one
// record of ParamsRecordWords words for each sequence; then come the page ids of all sequences and then the ring.
// The host writes it at the start of a burst, the sampling kernel after; all other kernels bind it read-only, so that
// loop bounds taken from it are uniform.
type Params struct {
	Range     Range
	Sequences int
	PagesAt   int // word where the page ids start
	Pages     int // page ids per sequence
	RingAt    int // word where the ring starts
	Ring      int // words of the ring per sequence
}

// ParamsRecordWords is the length of a sequence's record.
const ParamsRecordWords = 8

// The words of a sequence's record.
const (
	ParamsToken  = iota // the token to feed
	ParamsPos           // its position
	ParamsLen           // keys it sees: position + 1
	ParamsFault         // 0, or 1 more than the ring entries written when no logit was a number
	ParamsRNG           // counter of the random numbers drawn
	ParamsPages         // word of the sequence's first page id
	ParamsOut           // word of the sequence's ring
	ParamsOutLen        // ring entries written, or read while prefilling
)

// Words returns the length of the block.
func (p Params) Words() int { return p.RingAt + p.Sequences*p.Ring }

// KV describes the cache: pages of PageTokens positions. The keys and the values of a layer have a range each, in the same order:
// page p starts at element p·PageTokens·heads·size, within it position t, head h and element e at (t·heads + h)·size + e.
type KV struct {
	PageTokens int
	Pages      int // pages in each range
	F16        bool
	Layers     []Range // of each cache layer the keys, then the values
}
