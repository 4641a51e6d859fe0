package tokenizer_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/models/tokenizer"
)

// benchTexts are the kinds of text that prompts hold, about 64 KiB each.
var benchTexts = map[string]string{
	"prose": "The river had risen in the night, and the old bridge, which nobody had repaired since the war, was gone. " +
		"They stood on the bank for a while; then she said that it didn't matter, they'd walk to the next one. ",
	"code": "func (s *scanner) next() (token, error) {\n\tfor s.pos < len(s.src) {\n\t\tif c := s.src[s.pos]; c != ' ' {\n\t\t\treturn s.read(c, 0x1F4)\n\t\t}\n\t\ts.pos++\n\t}\n}\n",
	"cjk":  "今天的天气很好，我们去公园散步吧。그는 오랫동안 말이 없었다. むかしむかし、あるところに。",
	"one":  "a",
}

func benchEncode(b *testing.B, tok *tokenizer.Tokenizer) {
	for _, name := range []string{"prose", "code", "cjk", "one"} {
		text := strings.Repeat(benchTexts[name], 1<<16/len(benchTexts[name]))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tok.Encode(text, true)
			}
		})
	}
}

func BenchmarkEncodeSmolLM2(b *testing.B) { benchEncode(b, smolLM2(b)) }

func BenchmarkEncodeQwen2(b *testing.B) {
	_, tok := readTiny(b, "tiny_qwen2")
	benchEncode(b, tok)
}

func BenchmarkDecode(b *testing.B) {
	tok := smolLM2(b)
	ids := tok.Encode(strings.Repeat(benchTexts["prose"], 100), false)
	b.SetBytes(int64(len(tok.Decode(ids, false))))
	for b.Loop() {
		tok.Decode(ids, false)
	}
}
