package tokenizer

// pieces holds the bytes of all tokens in one block: token id occupies [starts[id], starts[id+1]).
type pieces struct {
	block  []byte
	starts []uint32
}

func newPieces(v *Vocab) pieces {
	alphabet := runeBytes()
	total := 0 // of the texts; no piece is longer than its text
	for _, text := range v.Tokens {
		total += len(text)
	}
	p := pieces{block: make([]byte, 0, total), starts: make([]uint32, 0, len(v.Tokens)+1)}
	for id, text := range v.Tokens {
		p.starts = append(p.starts, uint32(len(p.block)))
		if kind := v.kind(id); kind == Normal || kind == Unused {
			p.block = appendPiece(p.block, text, alphabet)
		} else {
			p.block = append(p.block, text...)
		}
	}
	p.starts = append(p.starts, uint32(len(p.block)))
	return p
}

func (p *pieces) get(id uint32) []byte {
	if int64(id) >= int64(len(p.starts)-1) {
		return nil
	}
	from, to := p.starts[id], p.starts[id+1]
	return p.block[from:to:to]
}
