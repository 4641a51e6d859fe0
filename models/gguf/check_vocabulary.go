package gguf

import (
	"strconv"
	"strings"
)

const tokenizerKeys = "tokenizer.ggml."

// vocabulary checks that the arrays of the vocabulary and the embedding table have one entry per token, that ids lie
// within it and that no two tokens have the same text. A file without a vocabulary passes.
func (c *checker) vocabulary() {
	const key = tokenizerKeys + "tokens"
	if c.err != nil || !c.file.Has(key) {
		return
	}
	tokens, err := c.file.Strings(key)
	if err != nil {
		c.err = err
		return
	}
	if t, err := c.file.Tensor("token_embd.weight"); err == nil && t.Rows() != len(tokens) {
		c.fail(ClassVocabMismatch, key, strconv.Itoa(len(tokens))+" tokens, token_embd.weight has "+strconv.Itoa(t.Rows())+" rows")
	}
	c.sameLength(tokenizerKeys+"token_type", len(tokens))
	c.sameLength(tokenizerKeys+"scores", len(tokens))
	for _, e := range c.file.entries {
		if strings.HasPrefix(e.Key, tokenizerKeys) && strings.HasSuffix(e.Key, "_token_id") {
			c.tokenID(e.Key, len(tokens))
		}
	}
	c.distinct(key, tokens)
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

// distinct finds tokens of one text. Empty ones are only fillers and may repeat.
func (c *checker) distinct(key string, tokens []string) {
	if c.err != nil {
		return
	}
	ids := make(map[string]int, len(tokens))
	for id, text := range tokens {
		if first, twice := ids[text]; twice && text != "" {
			c.fail(ClassDuplicateToken, key, "tokens "+strconv.Itoa(first)+" and "+strconv.Itoa(id)+" are both "+strconv.QuoteToASCII(text))
			return
		}
		ids[text] = id
	}
}
