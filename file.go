package kgen

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/gguf"
	"github.com/kgen-wgsl/kgen/models/tokenizer"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// File is an open model file: what its header says, without a device.
type File struct {
	Path            string
	Hyperparameters models.Hyperparameters
	gguf            *gguf.File
	closed          bool
	users           int // models that are loaded
	tokenizer       *tokenizer.Tokenizer
}

// OpenFile opens a GGUF file and checks its header, tensor table and tokenizer arrays.
func OpenFile(path string) (*File, error) {
	g, err := gguf.Open(path)
	if errors.Is(err, fs.ErrNotExist) && isName(path) {
		message := fmt.Sprintf("%q is neither a file nor a model that kgen knows", path)
		if _, err := models.LookupPreset(path); err == nil {
			message = fmt.Sprintf("%q is no file: of this model kgen knows the shapes, not where its weights are", path)
		}
		return nil, &kgenrt.Error{Code: kgenrt.UnknownModel, Message: message}
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil, &kgenrt.Error{Code: kgenrt.NoModel, Message: "open the model", Err: err}
		}
		return nil, asError("read "+path, err)
	}
	f := &File{Path: path, gguf: g}
	if err := f.readHeader(); err != nil {
		g.Close()
		return nil, asError("read "+path, err)
	}
	return f, nil
}

// isName reports whether a path that does not exist was rather meant as the name of a model: a hub's, or a plain word.
func isName(path string) bool {
	return strings.HasPrefix(path, "hf:") || path == filepath.Base(path) && filepath.Ext(path) != ".gguf"
}

// readHeader looks at the architecture first: what the keys of another one should say is not known.
func (f *File) readHeader() error {
	h, err := models.FromGGUF(f.gguf)
	if is[*models.ArchitectureError](err) {
		return err
	}
	f.Hyperparameters = h
	return firstError(gguf.CheckModel(f.gguf), err)
}

// Warnings lists, in words, what is odd about the file but no reason to refuse it.
func (f *File) Warnings() (list []string) {
	if n := f.gguf.Trailing; n > 0 {
		list = append(list, fmt.Sprintf("%s has %d bytes after its last tensor that belong to nothing", f.Path, n))
	}
	return list
}

// GGUF returns the reader of the file's keys and tensors.
func (f *File) GGUF() *gguf.File { return f.gguf }

// Close unmaps the file, once the models that were loaded from it are closed too. It may be called twice.
func (f *File) Close() error {
	f.closed = true
	return asError("close "+f.Path, f.unmap())
}

func (f *File) unmap() error {
	if !f.closed || f.users > 0 {
		return nil
	}
	return f.gguf.Close()
}

// Tokenizer returns the tokenizer that the file describes.
func (f *File) Tokenizer() (*tokenizer.Tokenizer, error) {
	if f.tokenizer != nil {
		return f.tokenizer, nil
	}
	if !f.hasVocabulary() {
		return nil, badRequest("the model file has no vocabulary (tokenizer.ggml.model is none): give token ids")
	}
	vocab, err := readVocab(f.gguf)
	if err != nil {
		return nil, asError("read the tokenizer", err)
	}
	t, err := tokenizer.New(vocab)
	if err != nil {
		return nil, asError("read the tokenizer", err)
	}
	f.tokenizer = t
	return t, nil
}

// hasVocabulary is false for files that say that they have none, such as models with random weights.
func (f *File) hasVocabulary() bool {
	model, err := f.gguf.String("tokenizer.ggml.model")
	return err != nil || model != "none"
}

// readVocab fills a Vocab from the file's keys; a special id that is absent or outside the vocabulary is none, as
// published files hold both.
func readVocab(g *gguf.File) (tokenizer.Vocab, error) {
	v := tokenizer.NoSpecials()
	var err error
	text := func(key string) string {
		s, e := g.String("tokenizer." + key)
		err = firstError(err, e)
		return s
	}
	v.Model, v.Pre = text("ggml.model"), text("ggml.pre")
	tokens, e := g.Strings("tokenizer.ggml.tokens")
	merges, e2 := g.Strings("tokenizer.ggml.merges")
	v.Tokens, v.Merges = tokens, merges
	if err = firstError(err, e, e2); err != nil {
		return v, err
	}
	types, e := gguf.Default(g.Ints, "tokenizer.ggml.token_type", nil)
	for _, t := range types {
		v.Types = append(v.Types, int32(max(math.MinInt32, min(t, math.MaxInt32)))) // New refuses what is no type
	}
	for key, id := range map[string]*int32{
		"bos": &v.BOS, "eos": &v.EOS, "eot": &v.EOT, "eom": &v.EOM, "padding": &v.Pad, "fim_pad": &v.FIMPad, "fim_rep": &v.FIMRep, "fim_sep": &v.FIMSep,
	} {
		if n, e := g.Uint(fmt.Sprintf("tokenizer.ggml.%s_token_id", key)); e == nil && n < uint64(len(tokens)) {
			*id = int32(n)
		}
	}
	v.AddBOS, e2 = gguf.Default(g.Bool, "tokenizer.ggml.add_bos_token", false)
	v.AddEOS, err = gguf.Default(g.Bool, "tokenizer.ggml.add_eos_token", false)
	return v, firstError(e, e2, err)
}
