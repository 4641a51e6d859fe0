package tokenizer_test

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/models/tokenizer"
)

func Example() {
	v := tokenizer.NoSpecials()
	v.Model, v.Pre = "gpt2", "smollm"
	v.Tokens = []string{"h", "i", "Ġ", "hi", "Ġhi", "<|end|>", "<", "|", ">", "e", "n", "d"}
	v.Types = []int32{1, 1, 1, 1, 1, tokenizer.Control, 1, 1, 1, 1, 1, 1}
	v.Merges = []string{"h i", "Ġ hi"}
	v.EOS = 5
	tok, err := tokenizer.New(v)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tok.Encode("hi hi<|end|>", true))
	fmt.Println(tok.Encode("hi hi<|end|>", false))
	fmt.Printf("%s\n", tok.Decode([]uint32{3, 4, 5}, false))
	// Output:
	// [3 4 5]
	// [3 4 6 7 9 10 11 7 8]
	// hi hi
}
