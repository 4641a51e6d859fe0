package tokenizer

import (
	"strings"
	"sync"
)

// Tokenizer encodes and decodes by one model's vocabulary.
type Tokenizer struct {
	pre       preTokenizer
	pieces    pieces
	byteIDs   [256]int32 // id of the token for one byte, None where the vocabulary has none
	merges    map[pair]merge
	specials  *specials
	kinds     []int32 // type per id; nil when all are Normal
	ends      map[uint32]bool
	bos, eos  int32
	addBOS    bool
	addEOS    bool
	workPool  sync.Pool // of *work
	tokenText []string
}

// New builds a tokenizer; errors are of type *Error. It keeps the slices of v, which must not change afterwards.
func New(v Vocab) (*Tokenizer, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	ids, err := v.index()
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{
		pre: pres[v.Pre], kinds: v.Types, tokenText: v.Tokens,
		ends: endIDs(&v, ids), bos: v.BOS, eos: v.EOS, addBOS: v.AddBOS, addEOS: v.AddEOS,
	}
	for b, r := range byteRunes() {
		t.byteIDs[b] = None
		if id, ok := ids[string(r)]; ok {
			t.byteIDs[b] = int32(id)
		}
	}
	if t.merges, err = readMerges(v.Merges, ids); err != nil {
		return nil, err
	}
	t.pieces = newPieces(&v)
	t.specials = newSpecials(&v)
	t.workPool.New = func() any { return new(work) }
	return t, nil
}

// readMerges resolves "left right" lines to ids; the line number is the rank. The space that separates the halves is
// the first one that leaves a non-empty left half.
func readMerges(lines []string, ids map[string]uint32) (map[pair]merge, error) {
	merges := make(map[pair]merge, len(lines))
	for rank, line := range lines {
		cut := 0
		if len(line) > 0 {
			cut = 1 + strings.IndexByte(line[1:], ' ')
		}
		if cut == 0 || cut == len(line)-1 {
			return nil, &Error{"merges", rank, quote(line) + " is not two tokens with a space between"}
		}
		left, leftOK := ids[line[:cut]]
		right, rightOK := ids[line[cut+1:]]
		whole, wholeOK := ids[line[:cut]+line[cut+1:]]
		if !leftOK || !rightOK || !wholeOK {
			return nil, &Error{"merges", rank, quote(line) + " names or makes a token that the vocabulary does not have"}
		}
		p := newPair(left, right)
		if _, ok := merges[p]; !ok {
			merges[p] = merge{rank: uint32(rank), id: whole}
		}
	}
	return merges, nil
}

// Len is the number of tokens. Ids at or above it, which padded output layers may produce, have no text.
func (t *Tokenizer) Len() int { return len(t.tokenText) }

// Encode turns text into ids, without framing (see Frame). With special, control tokens that stand in the text as
// text become those tokens; without, they stay text. User-defined tokens are recognised either way.
func (t *Tokenizer) Encode(text string, special bool) []uint32 {
	if special {
		return t.EncodeSpans(text, nil)
	}
	return t.EncodeSpans(text, [][2]int{{0, len(text)}})
}

// EncodeSpans turns a rendered conversation into ids. untrusted lists, in ascending order and without overlap, the
// byte ranges [from, to) that users wrote: no control token is recognised that touches one of them. Words may
// cross the borders of these ranges, as they do in the text that models were trained on.
func (t *Tokenizer) EncodeSpans(text string, untrusted [][2]int) []uint32 {
	w := t.workPool.Get().(*work)
	defer t.workPool.Put(w)
	w.ids = nil
	start := 0
	for i := 0; i < len(text); {
		for len(untrusted) > 0 && untrusted[0][1] <= i {
			untrusted = untrusted[1:]
		}
		id, length := t.specials.longest(text, i, untrusted)
		if length == 0 {
			i++
			continue
		}
		t.encodeText(w, text[start:i])
		w.ids = append(w.ids, id)
		i += length
		start = i
	}
	t.encodeText(w, text[start:])
	w.trim()
	return w.ids
}

// encodeText appends the ids of text that holds no special token.
func (t *Tokenizer) encodeText(w *work, text string) {
	if t.pre.nfc {
		text = normalizeNFC(text)
	}
	for len(text) > 0 {
		n := t.pre.next(text)
		t.encodeWord(w, text[:n])
		text = text[n:]
	}
}

// Frame makes ids one input of the model: the BOS token in front when the model wants one and ids do not begin with
// it already (as after a template that writes it), and the EOS token behind when the model wants that.
func (t *Tokenizer) Frame(ids []uint32) []uint32 {
	framed := make([]uint32, 0, len(ids)+2)
	if t.addBOS && t.bos != None && (len(ids) == 0 || ids[0] != uint32(t.bos)) {
		framed = append(framed, uint32(t.bos))
	}
	framed = append(framed, ids...)
	if t.addEOS && t.eos != None && (len(ids) == 0 || ids[len(ids)-1] != uint32(t.eos)) {
		framed = append(framed, uint32(t.eos))
	}
	return framed
}

// Decode joins the pieces of ids. With special, control tokens give their text, without, nothing. The bytes are
// valid UTF-8 only where the ids make complete characters; Stream gives text in any case.
func (t *Tokenizer) Decode(ids []uint32, special bool) []byte {
	var text []byte
	for _, id := range ids {
		if special || !t.IsSpecial(id) {
			text = append(text, t.Piece(id)...)
		}
	}
	return text
}

// Piece gives the bytes of one token, for a special token those of its text; nil for an id that is not in the
// vocabulary. The caller must not change them.
func (t *Tokenizer) Piece(id uint32) []byte { return t.pieces.get(id) }

// IsSpecial tells control and unknown tokens, which stand for no text.
func (t *Tokenizer) IsSpecial(id uint32) bool {
	if int(id) >= len(t.kinds) {
		return false
	}
	return t.kinds[id] == Control || t.kinds[id] == Unknown
}

// IsEnd tells tokens that end a generation.
func (t *Tokenizer) IsEnd(id uint32) bool { return t.ends[id] }

// Specials lists the texts of the special tokens, in the order of their ids.
func (t *Tokenizer) Specials() []string {
	var texts []string
	for id, text := range t.tokenText {
		if t.IsSpecial(uint32(id)) && text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// BOS gives the id and text of the token that begins an input; ok is false when the model has none.
func (t *Tokenizer) BOS() (id uint32, text string, ok bool) { return t.named(t.bos) }

// EOS gives the id and text of the token that ends a text; ok is false when the model has none.
func (t *Tokenizer) EOS() (id uint32, text string, ok bool) { return t.named(t.eos) }

func (t *Tokenizer) named(id int32) (uint32, string, bool) {
	if id == None {
		return 0, "", false
	}
	return uint32(id), t.tokenText[id], true
}
