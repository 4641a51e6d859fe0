package kgenrt

import (
	"context"
	"errors"
	"math/rand/v2"
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

// colon is a ChatTemplate: the role's first letter, the message, and at the end g, with f before it if the model is to think
// and ff if it is not to.
type colon struct{ err error }

func (c colon) RenderChat(messages []Message, think *bool) (string, [][2]int, error) {
	text := ""
	var untrusted [][2]int
	for _, m := range messages {
		text += m.Role[:1]
		untrusted = append(untrusted, [2]int{len(text), len(text) + len(m.Content)})
		text += m.Content
	}
	if think != nil {
		text += map[bool]string{true: "f", false: "ff"}[*think]
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
	for think, want := range map[bool]int{true: 8, false: 9} {
		s.Think = &think
		if ids, err := s.EncodeChat(messages); err != nil || len(ids) != want {
			t.Errorf("think %v: %v, %v, want %d ids", think, ids, err, want)
		}
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

// Stop strings end the text before themselves, however tokens cut it. The counter's model goes on from a: bcdefgü$a…
func TestStopStrings(t *testing.T) {
	for _, c := range []struct {
		name   string
		g      Generation
		text   string
		ids    int
		finish Finish
	}{
		{"one token", Generation{Stop: []string{"d"}}, "bc", 3, Stop},
		{"over tokens", Generation{Stop: []string{"def"}}, "bc", 5, Stop},
		{"at the start", Generation{Stop: []string{"bc"}}, "", 2, Stop},
		{"in characters of two tokens", Generation{Stop: []string{"gü"}}, "bcdef", 8, Stop},
		{"the first to be complete", Generation{Stop: []string{"cdef", "de"}}, "bc", 4, Stop},
		{"the longest of those that end together", Generation{Stop: []string{"f", "def", "ef"}}, "bc", 5, Stop},
		{"begun, and then something else", Generation{Stop: []string{"dea", "efgb"}, MaxTokens: 8}, "bcdefgü", 8, Length},
		{"begun when the text ends", Generation{Stop: []string{"efgü$"}}, "bcdefgü", 8, Stop},
		{"begun when the length is reached", Generation{Stop: []string{"defg"}, MaxTokens: 4}, "bcde", 4, Length},
		{"after an end token that is ignored", Generation{Stop: []string{"$a"}, IgnoreEnd: true}, "bcdefgü", 10, Stop},
		{"a broken character", Generation{Stop: []string{"\uFFFD"}, MaxTokens: 7}, "bcdefg", 7, Stop},
		{"at the last token of the length", Generation{Stop: []string{"d"}, MaxTokens: 3}, "bc", 3, Stop},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _, _ := textSession(nil)
			text, ids, err := answer(t, s.Generate(t.Context(), "a", c.g))
			if err != nil || text != c.text || len(ids) != c.ids || s.Last().Finish != c.finish {
				t.Errorf("%q, ids %v, %s, %v; want %q, %d ids, %s", text, ids, s.Last().Finish, err, c.text, c.ids, c.finish)
			}
		})
	}
	for _, g := range []Generation{{Stop: []string{"a", ""}}, {Stop: []string{"\xbc"}}, {MaxTokens: -1}, {Sampling: Sampling{MinP: 2}}} {
		s, e, _ := textSession(nil)
		var typed *Error
		if _, _, err := answer(t, s.Generate(t.Context(), "a", g)); !errors.As(err, &typed) || typed.Code != BadRequest || len(e.calls) > 0 {
			t.Errorf("%+v: %v after %v", g, err, e.calls)
		}
	}
}

// A text cut at random shows the same up to its stop string, and never a part of that.
func TestStopperHoldsBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(longest int) string {
		b := make([]byte, 1+random.IntN(longest))
		for i := range b {
			b[i] = "ab"[random.IntN(2)]
		}
		return string(b)
	}
	for range 3000 {
		text := word(30)
		stops := []string{word(6), word(6), word(6)}
		// The definition: the first end at which any of them is complete, the longest there.
		want, ended := text, false
		for end := 1; end <= len(text) && !ended; end++ {
			for _, stop := range stops {
				if strings.HasSuffix(text[:end], stop) && (!ended || end-len(stop) < len(want)) {
					want, ended = text[:end-len(stop)], true
				}
			}
		}
		s, got, stopped := stopper{stops: stops}, "", false
		for rest := text; rest != "" && !stopped; {
			n := 1 + random.IntN(len(rest))
			var shown string
			shown, stopped = s.push(rest[:n])
			got, rest = got+shown, rest[n:]
			if !strings.HasPrefix(want, got) {
				t.Fatalf("%q with stops %q: %q is shown, want %q", text, stops, got, want)
			}
		}
		if !stopped {
			got += s.held
		}
		if got != want || stopped != ended {
			t.Fatalf("%q with stops %q: %q, stopped %v, want %q, %v", text, stops, got, stopped, want, ended)
		}
	}
}
