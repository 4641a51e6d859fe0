// Package tokenizer turns text into token ids and back, by byte-level byte-pair encoding.
//
// Vocabulary of the package:
//
//   - token: an entry of the model's vocabulary; its id is its place there. Its bytes are its piece.
//   - special token: a control or unknown token. It has no meaning inside a user's text, so it is recognised only
//     where the caller says that the text is trusted. User-defined tokens are ordinary words that may not be cut:
//     they are recognised everywhere.
//   - pre-tokenizer: the rule that cuts text into words before merging; no token ever crosses a cut. Files name it
//     (tokenizer.ggml.pre); an unknown name is an error, because a wrong rule looks like a worse model.
//   - merge: a pair of tokens that may be joined to a longer one. Pairs are joined in the order of the file's list
//     (their rank), the leftmost first.
//   - byte alphabet: the 256 characters that stand for the 256 bytes in token texts, as GPT-2 introduced it.
//
// # Choices
//
// Where Hugging Face's tokenizers and llama.cpp give different ids, the ids are those of Hugging Face: families that
// were trained on NFC text are normalised (see pres), and a byte that has no token of its own is dropped before
// merging, as if it were not there.
//
// Invalid UTF-8 is kept, not replaced: a byte that belongs to no valid character counts as a symbol (neither letter,
// digit nor space) when text is cut, and is merged like any other byte. So Decode gives back the very bytes.
//
// The package is free of fmt and reflect, since it also runs in the browser. A Tokenizer may be used by several
// goroutines at once, a Stream by one.
package tokenizer
