package kgen

import (
	"strings"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/chat"
	"github.com/kgen-wgsl/kgen/models/tokenizer"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// The types of conversations and answers, by the names that users of this package need.
type (
	Message    = kgenrt.Message
	Generation = kgenrt.Generation
	Sampling   = kgenrt.Sampling
	Piece      = kgenrt.Piece
	Session    = kgenrt.TextSession
	Result     = kgenrt.Result
	Progress   = kgenrt.Progress
	Error      = kgenrt.Error
	Code       = kgenrt.Code
)

// NewSession returns the model's session. A model runs one sequence, so it has one session: a second one is refused. A new
// conversation needs none: a prompt that shares nothing with the last one starts afresh.
func (m *Model) NewSession() (*Session, error) {
	if m.session != nil {
		return nil, badRequest("the model runs one sequence, and has a session already")
	}
	c, err := m.file.Codec()
	if err != nil {
		return nil, err
	}
	s := &Session{Session: kgenrt.NewSession(m.Executor()), Codec: c, Burst: m.burst}
	m.session = s
	return s, nil
}

// Codec returns the file's tokenizer and chat template, which need no device. A file that says that it has no vocabulary gets a
// tokenizer for which every text is empty.
func (f *File) Codec() (kgenrt.Codec, error) {
	if !f.hasVocabulary() {
		return kgenrt.Codec{Tokenizer: wordless{}}, nil
	}
	tk, err := f.Tokenizer()
	if err != nil {
		return kgenrt.Codec{}, err
	}
	template, err := f.Template()
	if err != nil {
		return kgenrt.Codec{}, err
	}
	return kgenrt.Codec{Tokenizer: codec{tk}, Template: template}, nil
}

// codec fits the tokenizer to the session.
type codec struct{ *tokenizer.Tokenizer }

func (c codec) NewStream() kgenrt.TextStream { return c.Tokenizer.NewStream(false) }

// wordless is the tokenizer of a file without a vocabulary: it knows ids alone.
type wordless struct{}

func (wordless) EncodeSpans(string, [][2]int) []uint32 { return nil }
func (wordless) Frame(ids []uint32) []uint32           { return ids }
func (wordless) IsEnd(uint32) bool                     { return false }
func (wordless) NewStream() kgenrt.TextStream          { return wordless{} }
func (wordless) Push(uint32) string                    { return "" }
func (wordless) Flush() string                         { return "" }

// chatTemplate fits a template to the session.
type chatTemplate struct{ *chat.Template }

func (t chatTemplate) RenderChat(messages []Message, think *bool) (string, [][2]int, error) {
	turns := make([]chat.Message, len(messages))
	for i, m := range messages {
		turns[i] = chat.Message{Role: m.Role, Content: m.Content}
	}
	p, err := t.Render(turns, chat.RenderOptions{AddGenerationPrompt: true, EnableThinking: think})
	if err != nil {
		return "", nil, asError("render the chat template", err)
	}
	return p.Text, p.Untrusted, nil
}

const templateKey = "tokenizer.chat_template"

// ThinkSwitch reports whether the file's chat template looks at Codec.Think; others leave it without effect.
func (f *File) ThinkSwitch() bool {
	source, err := f.gguf.String(templateKey)
	return err == nil && strings.Contains(source, "enable_thinking")
}

// Template returns the file's chat template, nil when it has none.
func (f *File) Template() (kgenrt.ChatTemplate, error) {
	if !f.gguf.Has(templateKey) {
		return nil, nil
	}
	source, err := f.gguf.String(templateKey)
	if err != nil {
		return nil, asError("read the chat template", err)
	}
	tk, err := f.Tokenizer()
	if err != nil {
		return nil, err
	}
	o := chat.Options{Special: tk.Specials()}
	_, o.BOS, _ = tk.BOS()
	_, o.EOS, _ = tk.EOS()
	t, err := chat.Compile(source, o)
	if err != nil {
		return nil, asError("read the chat template", err)
	}
	return chatTemplate{t}, nil
}

// Sampling returns the sampling values that the file recommends under general.sampling, and for those that it leaves out, or
// holds out of their range, llama.cpp's: temperature 0.8, top-k 40, top-p 0.95, min-p 0.05, no penalties, which would look at 64
// tokens. A Generation without them is greedy. Keys of samplers that kgen doesn't have are passed over.
func (f *File) Sampling() Sampling {
	s := Sampling{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, RepeatPenalty: 1, RepeatLastN: 64}
	for key, value := range map[string]*float64{
		"temp": &s.Temperature, "top_p": &s.TopP, "min_p": &s.MinP, "penalty_repeat": &s.RepeatPenalty,
	} {
		if v, err := f.gguf.Float("general.sampling." + key); err == nil {
			before := *value
			if *value = v; v < 0 || s.Check() != nil {
				*value = before
			}
		}
	}
	if k, err := f.gguf.Int("general.sampling.top_k"); err == nil && k >= 0 {
		s.TopK = k
	}
	if n, err := f.gguf.Int("general.sampling.penalty_last_n"); err == nil {
		if s.RepeatLastN = n; n == 0 { // none in a file, where 0 in a Sampling is the default
			s.RepeatPenalty, s.RepeatLastN = 1, 64
		}
	}
	return s
}

// WeightBytes returns the bytes of weights that one token reads: all that linear layers use, and a row of the embedding.
func (m *Model) WeightBytes() int64 {
	g, err := m.file.Graph(m.kv, false)
	if err != nil {
		return 0
	}
	read := map[*ir.Tensor]int64{}
	for _, n := range g.Nodes {
		for _, t := range n.In {
			if t.Kind != ir.Weight {
				continue
			}
			bytes := int64(0)
			if entry, err := m.file.gguf.Tensor(t.Name); err == nil {
				bytes = int64(entry.Size)
			}
			if n.Op == ir.Embed {
				bytes /= int64(max(1, t.Rows(ir.Sizes{T: 1, S: 1, B: 1})))
			}
			read[t] = max(read[t], bytes)
		}
	}
	total := int64(0)
	for _, bytes := range read {
		total += bytes
	}
	return total
}
