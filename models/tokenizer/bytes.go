package tokenizer

// The byte alphabet of GPT-2: a printable byte stands for itself (as Latin-1), the 68 others are numbered from
// U+0100 in ascending order, so that a token's text never holds a space or a control character.

// byteRunes maps a byte to its character.
func byteRunes() (runes [256]rune) {
	next := rune(256)
	for b := range runes {
		if printable(b) {
			runes[b] = rune(b)
			continue
		}
		runes[b] = next
		next++
	}
	return runes
}

// printable tells the Latin-1 characters that leave a mark on paper; the soft hyphen (0xAD) does not.
func printable(b int) bool {
	return b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE
}

// runeBytes inverts byteRunes.
func runeBytes() map[rune]byte {
	bytes := make(map[rune]byte, 256)
	for b, r := range byteRunes() {
		bytes[r] = byte(b)
	}
	return bytes
}

// appendPiece appends the bytes that a token's text stands for. A text that holds a character from outside the
// alphabet was not made of bytes, so it stands for itself.
func appendPiece(dst []byte, text string, alphabet map[rune]byte) []byte {
	start := len(dst)
	for _, r := range text {
		b, ok := alphabet[r]
		if !ok {
			return append(dst[:start], text...)
		}
		dst = append(dst, b)
	}
	return dst
}
