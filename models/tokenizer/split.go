package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// The splitters below do by hand what the families' regular expressions say; the expression stands above each. They
// are tried from left to right at each position, and a word that no alternative matches does not exist: every
// character is a space, a letter, a number or else a symbol. Invalid bytes are symbols.

// class is what splitting knows about a character.
type class uint8

const (
	symbolClass class = iota
	letterClass
	numberClass
	spaceClass
)

// asciiClasses spares the most frequent characters the tables of package unicode.
var asciiClasses = [utf8.RuneSelf]class{
	'\t': spaceClass, '\n': spaceClass, '\v': spaceClass, '\f': spaceClass, '\r': spaceClass, ' ': spaceClass,
	'0': numberClass, '1': numberClass, '2': numberClass, '3': numberClass, '4': numberClass,
	'5': numberClass, '6': numberClass, '7': numberClass, '8': numberClass, '9': numberClass,
	'A': letterClass, 'B': letterClass, 'C': letterClass, 'D': letterClass, 'E': letterClass, 'F': letterClass,
	'G': letterClass, 'H': letterClass, 'I': letterClass, 'J': letterClass, 'K': letterClass, 'L': letterClass,
	'M': letterClass, 'N': letterClass, 'O': letterClass, 'P': letterClass, 'Q': letterClass, 'R': letterClass,
	'S': letterClass, 'T': letterClass, 'U': letterClass, 'V': letterClass, 'W': letterClass, 'X': letterClass,
	'Y': letterClass, 'Z': letterClass,
	'a': letterClass, 'b': letterClass, 'c': letterClass, 'd': letterClass, 'e': letterClass, 'f': letterClass,
	'g': letterClass, 'h': letterClass, 'i': letterClass, 'j': letterClass, 'k': letterClass, 'l': letterClass,
	'm': letterClass, 'n': letterClass, 'o': letterClass, 'p': letterClass, 'q': letterClass, 'r': letterClass,
	's': letterClass, 't': letterClass, 'u': letterClass, 'v': letterClass, 'w': letterClass, 'x': letterClass,
	'y': letterClass, 'z': letterClass,
}

// classAt gives the class and the length of the character at text[i:], length 0 at the end.
func classAt(text string, i int) (class, int) {
	if i >= len(text) {
		return symbolClass, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return asciiClasses[b], 1
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	switch {
	case unicode.IsLetter(r):
		return letterClass, n
	case unicode.IsNumber(r):
		return numberClass, n
	case unicode.Is(unicode.White_Space, r):
		return spaceClass, n
	}
	return symbolClass, n
}

// skip returns the end of the run of class c that starts at text[i:].
func skip(text string, i int, c class) int {
	for {
		found, n := classAt(text, i)
		if n == 0 || found != c {
			return i
		}
		i += n
	}
}

// nextGPT2 measures a word of the GPT-2 family:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func nextGPT2(text string) int {
	if n := contraction(text, false); n > 0 {
		return n
	}
	i := 0
	if text[0] == ' ' {
		i = 1
	}
	if c, n := classAt(text, i); n > 0 && c != spaceClass {
		return skip(text, i+n, c)
	}
	return spaces(text, false)
}

// nextDigitsApart measures a word where every number character is cut out first and the GPT-2 rule applies to what
// lies between: to it, a number is the end of the text.
func nextDigitsApart(text string) int {
	if c, n := classAt(text, 0); c == numberClass {
		return n
	}
	if text[0] == ' ' {
		if c, _ := classAt(text, 1); c == numberClass {
			return 1
		}
	}
	if c, _ := classAt(text, 0); c == spaceClass {
		end := skip(text, 0, spaceClass)
		if c, _ := classAt(text, end); c == numberClass {
			return end
		}
	}
	return nextGPT2(text)
}

// nextQwen2 measures a word of the Qwen2 family:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func nextQwen2(text string) int {
	if n := contraction(text, true); n > 0 {
		return n
	}
	c, n := classAt(text, 0)
	switch {
	case c == letterClass:
		return skip(text, n, letterClass)
	case c == numberClass:
		return n
	case text[0] != '\r' && text[0] != '\n':
		if end := skip(text, n, letterClass); end > n {
			return end
		}
	}
	i := 0
	if text[0] == ' ' {
		i = 1
	}
	if c, n := classAt(text, i); n > 0 && c == symbolClass {
		i = skip(text, i+n, symbolClass)
		for i < len(text) && (text[i] == '\r' || text[i] == '\n') {
			i++
		}
		return i
	}
	return spaces(text, true)
}

// spaces measures a word at a run of white space: the run without its last character, which belongs to the word
// behind it, or the whole run at the end of the text or when it is a single character. With lines, the word ends
// behind the last line break of the run if there is one.
func spaces(text string, lines bool) int {
	end, last, line := 0, 0, 0
	for {
		c, n := classAt(text, end)
		if n == 0 || c != spaceClass {
			break
		}
		last = end
		end += n
		if text[last] == '\r' || text[last] == '\n' {
			line = end
		}
	}
	switch {
	case lines && line > 0:
		return line
	case end == len(text) || last == 0:
		return end
	}
	return last
}

// contraction measures 's 't 're 've 'm 'll 'd at the start of text, 0 if there is none. With fold, letters of either
// case count, and so does the long s, which folds to s.
func contraction(text string, fold bool) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	first, second := text[1], byte(0)
	if len(text) > 2 {
		second = text[2]
	}
	if fold {
		if first == 0xC5 && second == 0xBF { // U+017F
			return 3
		}
		first, second = lower(first), lower(second)
	}
	switch first {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if second == 'e' {
			return 3
		}
	case 'l':
		if second == 'l' {
			return 3
		}
	}
	return 0
}

// lower folds an ASCII letter.
func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
