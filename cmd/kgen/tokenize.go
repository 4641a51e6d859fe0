package main

import (
	"fmt"

	"github.com/kgen-wgsl/kgen"
)

type tokenizeVerb struct {
	flags
	Model   string  `arg:"" help:"A GGUF file."`
	Text    *string `xor:"in" placeholder:"TEXT" help:"The text."`
	File    string  `xor:"in" placeholder:"PATH" help:"A file with the text; - is standard input."`
	IDs     string  `name:"ids" xor:"in" placeholder:"1,2,3" help:"Token ids to turn into text."`
	Special bool    `help:"Recognise special tokens in the text, and print them in text made of ids."`
}

func (tokenizeVerb) Help() string {
	return `Example:

  kgen tokenize model.gguf --text "Hello world" --json

prints {"ids":[19556,905],"pieces":["Hello"," world"]}. With --ids the text that the ids stand for is printed.`
}

func (v *tokenizeVerb) Run(t *terminal) error {
	v.apply(t)
	f, err := kgen.OpenFile(v.Model)
	if err != nil {
		return err
	}
	defer f.Close()
	tk, err := f.Tokenizer()
	if err != nil {
		return err
	}
	var ids []uint32
	switch {
	case v.IDs != "":
		if ids, err = parseIDs(v.IDs); err != nil {
			return err
		}
		for _, id := range ids {
			if int64(id) >= int64(tk.Len()) {
				return usagef("--ids: %d is not below the size of the vocabulary, %d", id, tk.Len())
			}
		}
		if !v.JSON {
			_, err = fmt.Fprintln(t.stdout, string(tk.Decode(ids, v.Special)))
			return err
		}
	case v.Text != nil:
		ids = tk.Encode(*v.Text, v.Special)
	case v.File != "":
		text, err := t.readText("--file", v.File)
		if err != nil {
			return err
		}
		ids = tk.Encode(text, v.Special)
	default:
		return usagef("give --text, --file or --ids")
	}
	pieces := make([]string, len(ids))
	for i, id := range ids {
		pieces[i] = string(tk.Piece(id))
	}
	if v.JSON {
		if ids == nil {
			ids = []uint32{}
		}
		return t.printJSON(map[string]any{"ids": ids, "pieces": pieces})
	}
	for i, id := range ids {
		fmt.Fprintf(t.stdout, "%8d  %q\n", id, pieces[i])
	}
	return nil
}
