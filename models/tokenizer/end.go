package tokenizer

// endTexts are the special tokens that end a generation in some family, whatever ids a file names. They count only
// where the file marks them as special or user-defined: in a vocabulary of code, "</s>" may be a plain word.
var endTexts = [...]string{
	"<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>",
	"<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>",
	"<eos>", "<turn|>", "<|tool_response>", "<｜end▁of▁sentence｜>",
}

// endIDs collects the ids that end a generation.
func endIDs(v *Vocab, ids map[string]uint32) map[uint32]bool {
	ends := make(map[uint32]bool)
	for _, id := range [...]int32{v.EOS, v.EOT, v.EOM, v.FIMPad, v.FIMRep, v.FIMSep} {
		if id != None {
			ends[uint32(id)] = true
		}
	}
	marked := func(text string) (uint32, bool) {
		id, ok := ids[text]
		return id, ok && v.kind(int(id)) != Normal
	}
	for _, text := range endTexts {
		if id, ok := marked(text); ok {
			ends[id] = true
		}
	}
	// In the harmony format <|end|> closes a message of several, <|return|> and <|call|> close the turn.
	_, returns := marked("<|return|>")
	_, calls := marked("<|call|>")
	if end, ok := marked("<|end|>"); ok && returns && calls {
		delete(ends, end)
	}
	return ends
}
