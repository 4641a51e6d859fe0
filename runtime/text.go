package kgenrt

import (
	"context"
	"iter"
	"slices"
	"unicode/utf8"
)

// Message is one turn of a conversation: a role such as system, user or assistant, and what it says.
type Message struct{ Role, Content string }

// Tokenizer turns text into ids and back. Package models/tokenizer has one.
type Tokenizer interface {
	// EncodeSpans turns text into ids. No special token is recognised in the byte ranges [from, to) of untrusted, which
	// are in order: what users wrote stays text.
	EncodeSpans(text string, untrusted [][2]int) []uint32
	// Frame adds the tokens that the model wants before and after every input.
	Frame(ids []uint32) []uint32
	// IsEnd reports whether a token ends the model's turn.
	IsEnd(id uint32) bool
	// NewStream starts the text of an answer.
	NewStream() TextStream
}

// TextStream turns ids into text as they come. It holds back bytes until they are whole characters.
type TextStream interface {
	Push(id uint32) string
	Flush() string
}

// ChatTemplate turns a conversation into the text that a model was trained on, up to where its answer begins. The byte
// ranges of untrusted are what the messages contributed. Think is Codec.Think. Package models/chat has one.
type ChatTemplate interface {
	RenderChat(messages []Message, think *bool) (text string, untrusted [][2]int, err error)
}

// Piece is a part of an answer: usually one token and its text. Text may be empty while a character is incomplete, and the
// last piece may have text alone. With stop strings, text comes when it is certain not to belong to one.
type Piece struct {
	IDs  []uint32
	Text string
}

// Generation controls one answer.
type Generation struct {
	MaxTokens int // 0 for as many as the context holds
	Sampling  Sampling
	IgnoreEnd bool // go on after end tokens, which then are part of the answer
	// Stop lists texts that end the answer, and are no part of its text. The tokens of the one that did are among its ids.
	Stop []string
}

// Check returns an error that names what is out of its range.
func (g Generation) Check() error {
	if g.MaxTokens < 0 {
		return newError(BadRequest, "the number of tokens to generate is below 0", nil)
	}
	if slices.ContainsFunc(g.Stop, func(stop string) bool { return stop == "" || !utf8.ValidString(stop) }) {
		return newError(BadRequest, "a stop string is empty or not valid UTF-8", nil)
	}
	return g.Sampling.Check()
}

// Codec turns prompts into ids: what a model file says about text.
type Codec struct {
	Tokenizer Tokenizer
	Template  ChatTemplate // nil when the model has none
	// Think tells templates that have a switch for it whether the model is to think before it answers; nil leaves that to
	// the template.
	Think *bool
}

// EncodeChat returns the ids of a conversation up to where the answer begins.
func (c Codec) EncodeChat(messages []Message) ([]uint32, error) {
	switch {
	case c.Template == nil:
		return nil, newError(InvalidTemplate, "the model file has no chat template", nil)
	case len(messages) == 0:
		return nil, newError(BadRequest, "the conversation has no messages", nil)
	}
	text, untrusted, err := c.Template.RenderChat(messages, c.Think)
	if err != nil {
		return nil, err
	}
	return c.Tokenizer.Frame(c.Tokenizer.EncodeSpans(text, untrusted)), nil
}

// EncodeText returns the ids of plain text; special tokens in it are recognised, as its writer speaks to the model
// directly.
func (c Codec) EncodeText(text string) []uint32 {
	return c.Tokenizer.Frame(c.Tokenizer.EncodeSpans(text, nil))
}

// TextSession is a Session that speaks text.
type TextSession struct {
	*Session
	Codec
	Burst int // greedy tokens asked for at a time; 0 for 1
}

// Chat yields the answer to a conversation. An error is yielded once and ends the sequence.
func (s *TextSession) Chat(ctx context.Context, messages []Message, g Generation) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		ids, err := s.EncodeChat(messages)
		if err != nil {
			yield(Piece{}, err)
			return
		}
		s.GenerateIDs(ctx, ids, g)(yield)
	}
}

// Generate yields what follows a text, without a chat template.
func (s *TextSession) Generate(ctx context.Context, prompt string, g Generation) iter.Seq2[Piece, error] {
	return s.GenerateIDs(ctx, s.EncodeText(prompt), g)
}

// GenerateIDs yields what follows a prompt of ids.
func (s *TextSession) GenerateIDs(ctx context.Context, prompt []uint32, g Generation) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		if err := g.Check(); err != nil {
			yield(Piece{}, err)
			return
		}
		opts := Options{MaxTokens: g.MaxTokens, Sampling: g.Sampling, Burst: s.Burst}
		if !g.IgnoreEnd {
			opts.End = s.Tokenizer.IsEnd
		}
		stream, stop := s.Tokenizer.NewStream(), stopper{stops: g.Stop}
		stopped := false
		for id, err := range s.Session.Generate(ctx, prompt, opts) {
			if err != nil {
				yield(Piece{}, err)
				return
			}
			var text string
			text, stopped = stop.push(stream.Push(id))
			if !yield(Piece{IDs: []uint32{id}, Text: text}, nil) {
				return
			}
			if stopped {
				break
			}
		}
		if !stopped {
			var rest string
			if rest, stopped = stop.push(stream.Flush()); !stopped {
				rest += stop.held
			}
			if rest != "" && !yield(Piece{Text: rest}, nil) {
				return
			}
		}
		if stopped {
			s.last.Finish = Stop
		}
	}
}
