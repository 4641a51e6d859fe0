package plan

// Recipe says how the bytes of a weight in its file become the planes that kernels read. A file stores a row as blocks of
// BlockBytes bytes; each plane takes some bits of every block. The bits of all planes together are the bits of the
// block, each once, so a recipe loses nothing and can be run backwards.
type Recipe struct {
	Type       string // the GGUF type, for messages
	Rows       int
	RowBlocks  int
	BlockBytes int
	Planes     []Plane
}

// Plane is where some bits of each block go. Block b of row r starts at byte r·RowStride + b·BlockBytes of To, for a plane
// whose BlockBits is a multiple of 8; To.Bytes covers the last row, rounded up to 4.
type Plane struct {
	Name      string // what kernels call it: codes, scales
	BlockBits int
	RowStride int
	Fields    []Field
	To        Range
}

// Field copies Bits bits that start at bit From of a source block to bit At of the plane's block. Bit 0 is the lowest bit
// of byte 0.
type Field struct{ From, At, Bits int }
