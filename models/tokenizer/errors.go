package tokenizer

import "strconv"

// Error says which part of a vocabulary is unusable, and why.
type Error struct {
	// Field is the field of Vocab in lower case: "model", "pre", "tokens", "types", "merges", "bos", "fimpad", ...
	Field string
	// Index is the entry of the list Field, or -1 when no single entry is to blame.
	Index int
	// Detail is the reason.
	Detail string
}

// quote makes text from a file fit for a message: in one line, and cut where no token in use is that long.
func quote(text string) string {
	const most = 100
	if len(text) > most {
		return strconv.QuoteToASCII(text[:most]) + "… " + strconv.Itoa(len(text)) + " bytes in all"
	}
	return strconv.Quote(text)
}

// Error gives field, entry and reason in one line.
func (e *Error) Error() string {
	if e.Index < 0 {
		return "tokenizer: " + e.Field + ": " + e.Detail
	}
	return "tokenizer: " + e.Field + "[" + strconv.Itoa(e.Index) + "]: " + e.Detail
}
