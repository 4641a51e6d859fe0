package gguf

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
)

const (
	tokenizerKeys = "tokenizer.ggml."
	maxTokens     = 1 << 19 // vocabularies in use have up to 290,000
	maxTokenBytes = 1 << 12 // of one token; those in use have up to 300
	maxMerges     = 1 << 20 // vocabularies in use have up to 520,000
)

// vocabulary checks that the arrays of the vocabulary and the embedding table have one entry per token, that ids lie
// within it and that no two tokens have the same text. A file without a vocabulary passes.
func (c *checker) vocabulary() {
	const key = tokenizerKeys + "tokens"
	if c.err != nil || !c.file.Has(key) {
		return
	}
	tokens, err := c.file.array(key, "strings", isString)
	if err != nil {
		c.err = err
		return
	}
	if tokens.Count > maxTokens {
		c.fail(ClassCountTooLarge, key, strconv.Itoa(tokens.Count)+" tokens, at most "+strconv.Itoa(maxTokens)+" are supported")
	}
	if t, err := c.file.Tensor("token_embd.weight"); err == nil && t.Rows() != tokens.Count {
		c.fail(ClassVocabMismatch, key, strconv.Itoa(tokens.Count)+" tokens, token_embd.weight has "+strconv.Itoa(t.Rows())+" rows")
	}
	if e, err := c.file.Entry(tokenizerKeys + "merges"); err == nil && e.Count > maxMerges {
		c.fail(ClassCountTooLarge, e.Key, strconv.Itoa(e.Count)+" merges, at most "+strconv.Itoa(maxMerges)+" are supported")
	}
	c.sameLength(tokenizerKeys+"token_type", tokens.Count)
	c.sameLength(tokenizerKeys+"scores", tokens.Count)
	for _, e := range c.file.entries {
		if strings.HasPrefix(e.Key, tokenizerKeys) && strings.HasSuffix(e.Key, "_token_id") {
			c.tokenID(e.Key, tokens.Count)
		}
	}
	c.distinct(tokens)
}

func (c *checker) sameLength(key string, tokens int) {
	if e, err := c.file.Entry(key); err == nil && (e.Type != Array || e.Count != tokens) {
		c.fail(ClassVocabMismatch, key, strconv.Itoa(e.Count)+" entries for "+strconv.Itoa(tokens)+" tokens")
	}
}

func (c *checker) tokenID(key string, tokens int) {
	if c.err != nil {
		return
	}
	id, err := c.file.Uint(key)
	if err != nil {
		c.err = err
	} else if id >= uint64(tokens) {
		c.fail(ClassOutOfRange, key, "id "+strconv.FormatUint(id, 10)+" in a vocabulary of "+strconv.Itoa(tokens))
	}
}

// distinct finds tokens of one text. Empty ones are only fillers and may repeat. It compares sorted hashes, which take less
// memory than a map of the texts, and looks at the texts where two hashes are equal.
func (c *checker) distinct(tokens *Entry) {
	if c.err != nil {
		return
	}
	seed := maphash.MakeSeed()
	hashes := make([]uint64, 0, tokens.Count)
	for id, text := range c.file.texts(tokens) {
		if n := text.to - text.from; n > maxTokenBytes {
			c.fail(ClassStringLength, tokens.Key, "token "+strconv.Itoa(id)+" of "+strconv.Itoa(n)+" bytes, at most "+strconv.Itoa(maxTokenBytes)+" are supported")
			return
		} else if n > 0 {
			hashes = append(hashes, c.hash(seed, text))
		}
	}
	slices.Sort(hashes)
	shared := hashes[:0]
	for i := 1; i < len(hashes); i++ {
		if h := hashes[i]; h == hashes[i-1] && (len(shared) == 0 || shared[len(shared)-1] != h) {
			shared = append(shared, h)
		}
	}
	if len(shared) > 0 {
		c.sameTexts(tokens, seed, shared)
	}
}

func (c *checker) hash(seed maphash.Seed, text span) uint64 {
	return maphash.Bytes(seed, c.file.header.part(text.from, text.to))
}

// sameTexts names the first token whose text another one has had. It looks at those with one of the hashes, which are
// sorted.
func (c *checker) sameTexts(tokens *Entry, seed maphash.Seed, hashes []uint64) {
	type token struct{ id, from, to uint32 } // to is 0 until one is found
	first := make([]token, len(hashes))
	for id, text := range c.file.texts(tokens) {
		i, found := slices.BinarySearch(hashes, c.hash(seed, text))
		if !found {
			continue
		}
		if first[i].to == 0 {
			first[i] = token{uint32(id), uint32(text.from), uint32(text.to)}
			continue
		}
		same := c.file.header.text(text.from, text.to)
		if string(c.file.header.part(int(first[i].from), int(first[i].to))) == same {
			c.fail(ClassDuplicateToken, tokens.Key, "tokens "+strconv.Itoa(int(first[i].id))+" and "+strconv.Itoa(id)+" are both "+printable(same))
			return
		}
	}
}
