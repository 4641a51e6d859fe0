package tokenizer

import (
	"slices"
	"strconv"
	"strings"
)

// Token types as GGUF files number them (tokenizer.ggml.token_type).
const (
	Normal      int32 = 1
	Unknown     int32 = 2
	Control     int32 = 3
	UserDefined int32 = 4
	Unused      int32 = 5
	Byte        int32 = 6
)

// None stands for a special id that the model does not have.
const None int32 = -1

// Vocab is what a model file says about its tokenizer. The comments give the GGUF keys (after "tokenizer.").
type Vocab struct {
	Model  string   // ggml.model; "gpt2" is byte-level BPE
	Pre    string   // ggml.pre, the pre-tokenizer
	Tokens []string // ggml.tokens, texts in the byte alphabet
	Types  []int32  // ggml.token_type, one per token; nil means that all tokens are Normal
	Merges []string // ggml.merges, "left right", best first

	// Special ids, None where absent: ggml.bos_token_id, eos, eot, eom, padding, fim_pad, fim_rep, fim_sep.
	BOS, EOS, EOT, EOM, Pad, FIMPad, FIMRep, FIMSep int32

	AddBOS bool // ggml.add_bos_token; absent means false for this model type
	AddEOS bool // ggml.add_eos_token; likewise
}

// NoSpecials returns a Vocab in which every special id is None, to fill in from a file.
func NoSpecials() Vocab {
	return Vocab{BOS: None, EOS: None, EOT: None, EOM: None, Pad: None, FIMPad: None, FIMRep: None, FIMSep: None}
}

// specialIDs lists the special ids with the names that errors use.
func (v *Vocab) specialIDs() []namedID {
	return []namedID{
		{"bos", v.BOS}, {"eos", v.EOS}, {"eot", v.EOT}, {"eom", v.EOM}, {"pad", v.Pad},
		{"fimpad", v.FIMPad}, {"fimrep", v.FIMRep}, {"fimsep", v.FIMSep},
	}
}

type namedID struct {
	name string
	id   int32
}

// kind gives the type of token id.
func (v *Vocab) kind(id int) int32 {
	if v.Types == nil {
		return Normal
	}
	return v.Types[id]
}

// check refuses a vocabulary whose parts do not fit together.
func (v *Vocab) check() error {
	if v.Model != "gpt2" {
		return &Error{"model", -1, "unknown tokenizer model " + quote(v.Model) + "; known: gpt2"}
	}
	if _, ok := pres[v.Pre]; !ok {
		return &Error{"pre", -1, "unknown pre-tokenizer " + quote(v.Pre) + "; known: " + strings.Join(Pres(), ", ")}
	}
	if len(v.Tokens) == 0 {
		return &Error{"tokens", -1, "no tokens"}
	}
	if v.Types != nil && len(v.Types) != len(v.Tokens) {
		return &Error{"types", -1, strconv.Itoa(len(v.Types)) + " types for " + strconv.Itoa(len(v.Tokens)) + " tokens"}
	}
	for i, kind := range v.Types {
		if kind < Normal || kind > Byte {
			return &Error{"types", i, "no token type has the number " + strconv.Itoa(int(kind))}
		}
		if n := len(v.Tokens[i]); n > maxSpecial && isFound(kind) {
			return &Error{"tokens", i, "a special token of " + strconv.Itoa(n) + " bytes, at most " + strconv.Itoa(maxSpecial) + " are supported"}
		}
	}
	for _, s := range v.specialIDs() {
		if s.id != None && (s.id < 0 || int(s.id) >= len(v.Tokens)) {
			return &Error{s.name, -1, "id " + strconv.Itoa(int(s.id)) + " is not in the vocabulary of " + strconv.Itoa(len(v.Tokens)) + " tokens"}
		}
	}
	return nil
}

// index maps token texts to ids. Empty texts, which some files hold as padding, are left out.
func (v *Vocab) index() (map[string]uint32, error) {
	ids := make(map[string]uint32, len(v.Tokens))
	for i, text := range v.Tokens {
		if text == "" {
			continue
		}
		if first, ok := ids[text]; ok {
			return nil, &Error{"tokens", i, quote(text) + " is token " + strconv.Itoa(int(first)) + " already"}
		}
		ids[text] = uint32(i)
	}
	return ids, nil
}

// Pres lists the pre-tokenizers that New accepts.
func Pres() []string {
	names := make([]string, 0, len(pres))
	for name := range pres {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
