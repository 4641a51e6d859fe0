package kgenrt

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// letters is a Tokenizer for the counter's model: id n is the n-th letter, and 9 ends a turn. Ids 7 and 8 are the halves of ü.
// Frame puts 0 before every input. It notes which ranges it was told not to trust.
type letters struct{ untrusted [][2]int }

const halves = "abcdefg\xc3\xbc$"

func (l *letters) EncodeSpans(text string, untrusted [][2]int) []uint32 {
	l.untrusted = untrusted
	var ids []uint32
	for i := range len(text) {
		if at := strings.IndexByte(halves, text[i]); at >= 0 {
			ids = append(ids, uint32(at))
		}
	}
	return ids
}

func (l *letters) Frame(ids []uint32) []uint32 { return append([]uint32{0}, ids...) }
func (l *letters) IsEnd(id uint32) bool        { return id == 9 }
func (l *letters) NewStream() TextStream       { return &letterStream{} }

// letterStream holds the first half of a letter back until the second one comes.
type letterStream struct{ pending string }

func (s *letterStream) Push(id uint32) string {
	text := s.pending + halves[id:id+1]
	s.pending = ""
	if id == 7 {
		s.pending, text = text, ""
	}
	return text
}

func (s *letterStream) Flush() string {
	defer func() { s.pending = "" }()
	return strings.Repeat("\uFFFD", len(s.pending))
}

// colon is a ChatTemplate: the role's first letter, the message, and at the end g.
type colon struct{ err error }

func (c colon) RenderChat(messages []Message) (string, [][2]int, error) {
	text := ""
	var untrusted [][2]int
	for _, m := range messages {
		text += m.Role[:1]
		untrusted = append(untrusted, [2]int{len(text), len(text) + len(m.Content)})
		text += m.Content
	}
	return text + "g", untrusted, c.err
}

func textSession(template ChatTemplate) (*TextSession, *counter, *letters) {
	e, l := &counter{context: 32}, &letters{}
	return &TextSession{Session: NewSession(e), Codec: Codec{Tokenizer: l, Template: template}, Burst: 4}, e, l
}

// answer joins the pieces of an answer. Pieces but the last have an id each.
func answer(t *testing.T, pieces func(func(Piece, error) bool)) (text string, ids []uint32, err error) {
	t.Helper()
	ended := false
	for p, e := range pieces {
		if ended {
			t.Errorf("a piece %+v after the last", p)
		}
		if err = e; err != nil || len(p.IDs) != 1 {
			ended = true
		}
		text += p.Text
		ids = append(ids, p.IDs...)
	}
	return text, ids, err
}

func TestTextSession(t *testing.T) {
	for _, c := range []struct {
		name, prompt string
		g            Generation
		text         string
		ids          []uint32
		finish       Finish
	}{
		{"an end token ends it, and is not part of it", "c", Generation{}, "defgü", []uint32{3, 4, 5, 6, 7, 8}, Stop},
		{"end tokens can be ignored", "c", Generation{IgnoreEnd: true, MaxTokens: 8}, "defgü$a", []uint32{3, 4, 5, 6, 7, 8, 9, 0}, Length},
		{"what is incomplete at the end comes at last", "c", Generation{MaxTokens: 5}, "defg\uFFFD", []uint32{3, 4, 5, 6, 7}, Length},
		{"nothing but an end", "\xbc", Generation{}, "", nil, Stop},
		{"sampled tokens end too", "c", Generation{Sampling: Sampling{Temperature: 1, TopK: 2}}, "defgü", []uint32{3, 4, 5, 6, 7, 8}, Stop},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, e, _ := textSession(nil)
			text, ids, err := answer(t, s.Generate(t.Context(), c.prompt, c.g))
			if err != nil || text != c.text || !slices.Equal(ids, c.ids) {
				t.Errorf("%q %v %v, want %q %v", text, ids, err, c.text, c.ids)
			}
			if s.Last().Finish != c.finish {
				t.Errorf("finish %s, want %s", s.Last().Finish, c.finish)
			}
			if e.fed[0] != 0 {
				t.Errorf("the prompt was fed without its frame: %v", e.fed)
			}
		})
	}
}

// A burst is as long as the session says.
func TestTextSessionBurst(t *testing.T) {
	for burst, want := range map[int]int{0: 8, 4: 2, 8: 1} {
		s, e, _ := textSession(nil)
		s.Burst = burst
		if _, _, err := answer(t, s.Generate(t.Context(), "a", Generation{MaxTokens: 8})); err != nil {
			t.Fatal(err)
		}
		if steps := len(e.calls) - 1; steps != want {
			t.Errorf("bursts of %d: 8 tokens took %d steps, want %d", burst, steps, want)
		}
	}
}

func TestChat(t *testing.T) {
	messages := []Message{{"a", "bb"}, {"c", "d"}}
	s, e, l := textSession(colon{})
	text, _, err := answer(t, s.Chat(t.Context(), messages, Generation{MaxTokens: 2}))
	if err != nil || text != "ü" {
		t.Errorf("%q, %v", text, err)
	}
	if want := []uint32{0, 0, 1, 1, 2, 3, 6}; !slices.Equal(e.fed[:len(want)], want) {
		t.Errorf("fed %v, want %v", e.fed, want)
	}
	if want := [][2]int{{1, 3}, {4, 5}}; !slices.Equal(l.untrusted, want) {
		t.Errorf("what users wrote is at %v, want %v", l.untrusted, want)
	}
	s.EncodeText("$")
	if l.untrusted != nil {
		t.Errorf("plain text is not trusted at %v", l.untrusted)
	}
	broken := errors.New("broken template")
	for _, c := range []struct {
		name     string
		template ChatTemplate
		messages []Message
		want     error
		code     Code
	}{
		{"no template", nil, messages, nil, InvalidTemplate},
		{"no messages", colon{}, nil, nil, BadRequest},
		{"a template that fails", colon{broken}, messages, broken, ""},
	} {
		s, e, _ := textSession(c.template)
		_, _, err := answer(t, s.Chat(t.Context(), c.messages, Generation{}))
		var typed *Error
		if c.code != "" && (!errors.As(err, &typed) || typed.Code != c.code) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if len(e.calls) > 0 {
			t.Errorf("%s: the model was run", c.name)
		}
	}
}

// An error of the model is the last piece, and the text before it stays.
func TestTextSessionFails(t *testing.T) {
	s, e, _ := textSession(nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var text string
	var last error
	for p, err := range s.Generate(ctx, "a", Generation{}) {
		if last != nil {
			t.Error("something follows an error")
		}
		last = err
		text += p.Text
		cancel()
	}
	var typed *Error
	if !errors.As(last, &typed) || typed.Code != Aborted || text != "bcde" {
		t.Errorf("%q, %v", text, last)
	}
	if s.Last().Finish != Abort || len(e.fed) != 5 {
		t.Errorf("finish %s after %d tokens", s.Last().Finish, len(e.fed))
	}
}

// Whoever stops listening gets nothing more, not even what was held back.
func TestTextSessionStops(t *testing.T) {
	s, _, _ := textSession(nil)
	n := 0
	for range s.Generate(t.Context(), "g", Generation{}) { // the first piece is half of a letter
		n++
		break
	}
	if n != 1 || s.Last().Finish != Abort {
		t.Errorf("%d pieces, finish %s", n, s.Last().Finish)
	}
}
