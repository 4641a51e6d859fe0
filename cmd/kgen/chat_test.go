package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen"
)

// turn is a part of what chat --json prints for an answer.
type turn struct {
	PromptIDs []uint32 `json:"prompt_ids"`
	IDs       []uint32 `json:"ids"`
	Text      string   `json:"text"`
	Finish    string   `json:"finish"`
	Seed      *uint64  `json:"seed"`
	Stats     struct {
		Prefill int `json:"prefill_tokens"`
		Reused  int `json:"reused_tokens"`
	} `json:"stats"`
	Error *struct {
		Code string `json:"code"`
	} `json:"error"`
}

// chatted holds a conversation and returns its turns.
func chatted(t *testing.T, input string, wantStatus int, args ...string) (turns []turn, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status := run(t.Context(), append(args, "--json"), strings.NewReader(input), &out, &errs)
	if status != wantStatus {
		t.Fatalf("kgen %s: status %d\n%s", strings.Join(args, " "), status, errs.String())
	}
	for d := json.NewDecoder(&out); ; {
		var next turn
		if err := d.Decode(&next); err == io.EOF {
			return turns, errs.String()
		} else if err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
		turns = append(turns, next)
	}
}

// speaker encodes conversations and answers them anew each time, without a cache from before.
type speaker struct {
	t     *testing.T
	model *kgen.Model
	*kgen.Session
}

func newSpeaker(t *testing.T, path string) *speaker {
	t.Helper()
	m, err := kgen.Load(t.Context(), path, kgen.Options{Device: "cpu", Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	s, err := m.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	return &speaker{t, m, s}
}

func (s *speaker) ids(messages ...string) []uint32 {
	s.t.Helper()
	var list []kgen.Message
	for _, m := range messages {
		role, content, _ := strings.Cut(m, ": ")
		list = append(list, kgen.Message{Role: role, Content: content})
	}
	ids, err := s.EncodeChat(list)
	if err != nil {
		s.t.Fatal(err)
	}
	return ids
}

func (s *speaker) answer(prompt []uint32, g kgen.Generation) (ids []uint32) {
	s.t.Helper()
	for range s.GenerateIDs(s.t.Context(), []uint32{0}, kgen.Generation{MaxTokens: 1}) { // forget
	}
	for piece, err := range s.GenerateIDs(s.t.Context(), prompt, g) {
		if err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, piece.IDs...)
	}
	return ids
}

// Every answer follows from the whole conversation, and only what is new of it is fed.
func TestChatKeepsTheHistory(t *testing.T) {
	path, _ := tinyModel(t)
	s := newSpeaker(t, path)
	turns, _ := chatted(t, "hello\nand again\n/clear\nhello\n/system Be kind.\nwell\n/system\nlast\n", exitDone,
		exactly("chat", path, "--temp", "0", "--max-tokens", "5", "--ignore-eos", "--system", "Be brief.")...)
	if len(turns) != 5 {
		t.Fatalf("%d answers", len(turns))
	}
	answers := make([]string, 5)
	for i, x := range turns {
		answers[i] = "assistant: " + x.Text
	}
	for i, conversation := range [][]string{
		{"system: Be brief.", "user: hello"},
		{"system: Be brief.", "user: hello", answers[0], "user: and again"},
		{"system: Be brief.", "user: hello"},
		{"system: Be kind.", "user: hello", answers[2], "user: well"},
		{"user: hello", answers[2], "user: well", answers[3], "user: last"},
	} {
		want := s.ids(conversation...)
		if !slices.Equal(turns[i].PromptIDs, want) {
			t.Errorf("answer %d is to %v, want %v", i, turns[i].PromptIDs, want)
		}
		if fresh := s.answer(want, kgen.Generation{MaxTokens: 5, IgnoreEnd: true}); !slices.Equal(turns[i].IDs, fresh) {
			t.Errorf("answer %d is %v, without a history in the cache %v", i, turns[i].IDs, fresh)
		}
		if got := turns[i].Stats.Reused + turns[i].Stats.Prefill + 1; got != len(want) {
			t.Errorf("answer %d: %d positions reused or fed, want %d", i, got, len(want))
		}
	}
	if before := len(turns[0].PromptIDs); turns[1].Stats.Reused < before || turns[2].Stats.Reused != before-1 {
		t.Errorf("%d and %d positions are reused of a conversation of %d", turns[1].Stats.Reused, turns[2].Stats.Reused, before)
	}
}

// The same seed gives the same conversation; each answer in it has a seed of its own, which run takes too.
func TestChatSeeds(t *testing.T) {
	path, _ := tinyModel(t)
	args := exactly("chat", path, "--temp", "1", "--max-tokens", "12", "--ignore-eos", "--seed", "11")
	const input = "hello\n/clear\nhello\n"
	first, _ := chatted(t, input, exitDone, args...)
	again, _ := chatted(t, input, exitDone, args...)
	for i := range first {
		if !slices.Equal(first[i].IDs, again[i].IDs) || first[i].Seed == nil || *first[i].Seed != 11+uint64(i) {
			t.Errorf("answer %d: %v, again %v, seed %v", i, first[i].IDs, again[i].IDs, first[i].Seed)
		}
	}
	if slices.Equal(first[0].IDs, first[1].IDs) {
		t.Errorf("a question asked twice has one answer twice: %v", first[0].IDs)
	}
	var alone generatedText
	one(t, done(t, exactly("run", path, "--temp", "1", "--max-tokens", "12", "--ignore-eos", "--seed", "12", "--prompt", "hello", "--json")...), &alone)
	if !slices.Equal(alone.IDs, first[1].IDs) {
		t.Errorf("run says %v, chat %v", alone.IDs, first[1].IDs)
	}
}

// A message that can't be answered leaves the conversation as it was.
func TestChatRefusesAMessage(t *testing.T) {
	path, _ := tinyModel(t)
	s := newSpeaker(t, path)
	long := strings.Repeat("over the hills ", 40)
	turns, stderr := chatted(t, "one\n"+long+"\ntwo\n", exitFailure,
		exactly("chat", path, "--ctx", "64", "--temp", "0", "--max-tokens", "2", "--ignore-eos")...)
	if len(turns) != 3 || turns[1].Error == nil || turns[1].Error.Code != "CONTEXT_FULL" {
		t.Fatalf("%+v\n%s", turns, stderr)
	}
	if want := s.ids("user: one", "assistant: "+turns[0].Text, "user: two"); !slices.Equal(turns[2].PromptIDs, want) {
		t.Errorf("the next answer is to %v, want %v", turns[2].PromptIDs, want)
	}
}

// A full context drops whole turns, the oldest first, and never the system message or the one to answer.
func TestChatDropsTheOldest(t *testing.T) {
	path, _ := tinyModel(t)
	s := newSpeaker(t, path)
	input := []string{"one", "two", "three", "four", "five"}
	const length = 6
	for _, context := range []int{100, 60} { // in the smaller one every message is the first
		turns, stderr := chatted(t, strings.Join(input, "\n"), exitDone,
			exactly("chat", path, "--ctx", fmt.Sprint(context), "--temp", "0", "--max-tokens", "6", "--ignore-eos", "--system", "Be brief.")...)
		var history []string
		dropped := 0
		for i, x := range turns {
			history = append(history, "user: "+input[i])
			for len(s.ids(append([]string{"system: Be brief."}, history...)...))+length > context {
				history = history[2:]
				dropped++
			}
			if want := s.ids(append([]string{"system: Be brief."}, history...)...); !slices.Equal(x.PromptIDs, want) {
				t.Fatalf("context %d: answer %d is to %v, want %v", context, i, x.PromptIDs, want)
			}
			if x.Finish != "length" || len(x.IDs) != length {
				t.Errorf("context %d: answer %d: %s after %d tokens", context, i, x.Finish, len(x.IDs))
			}
			history = append(history, "assistant: "+x.Text)
		}
		if notes := strings.Count(stderr, "oldest messages are dropped"); dropped == 0 || notes == 0 || len(turns) != len(input) {
			t.Errorf("context %d: %d turns were dropped from %d, %d notes", context, dropped, len(turns), notes)
		}
		if context == 60 && dropped != len(input)-1 {
			t.Errorf("context %d: %d turns were dropped", context, dropped)
		}
	}
}

// Without a template, what was said is one text.
func TestChatRaw(t *testing.T) {
	path, _ := tinyModel(t)
	s := newSpeaker(t, path)
	turns, _ := chatted(t, "once upon\na time\n", exitDone, exactly("chat", path, "--raw", "--temp", "0", "--max-tokens", "4", "--ignore-eos")...)
	if want := s.EncodeText("once upon\n" + turns[0].Text + "\na time"); !slices.Equal(turns[1].PromptIDs, want) {
		t.Errorf("the second answer is to %v, want %v", turns[1].PromptIDs, want)
	}
}

// Answers for people are text alone, cut before stop strings.
func TestChatText(t *testing.T) {
	path, _ := tinyModel(t)
	args := exactly("chat", path, "--temp", "0", "--max-tokens", "16", "--ignore-eos")
	turns, _ := chatted(t, "hello\n", exitDone, args...)
	letters := []rune(turns[0].Text)
	stop := string(letters[4:6])
	want, _, _ := strings.Cut(turns[0].Text, stop)
	var out, errs bytes.Buffer
	status := run(t.Context(), append(args, "--stop="+stop), strings.NewReader("hello\n"), &out, &errs)
	if status != exitDone || out.String() != want+"\n" {
		t.Errorf("status %d, %q before %q, want %q", status, out.String(), stop, want)
	}
}

// An interrupt instead of a message ends the conversation; one from before it doesn't.
func TestChatInterruptAtThePrompt(t *testing.T) {
	c := &conversation{terminal: &terminal{}, interrupts: make(chan os.Signal, 1)}
	c.read = func() (string, error) { return "hello", nil }
	c.interrupts <- os.Interrupt
	if message, err := c.next(t.Context()); message != "hello" || err != nil {
		t.Errorf("%q, %v after an interrupt that came too late for an answer", message, err)
	}
	c.read = func() (string, error) {
		c.interrupts <- os.Interrupt
		<-t.Context().Done()
		return "", nil
	}
	if message, err := c.next(t.Context()); message != "" || err != io.EOF {
		t.Errorf("%q, %v after an interrupt at the prompt", message, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.read = func() (string, error) {
		cancel()
		<-t.Context().Done()
		return "", nil
	}
	if message, err := c.next(ctx); message != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v after the program was stopped", message, err)
	}
}

// A message whose answer is stopped before it begins is forgotten: a turn without an answer is none.
func TestChatInterruptBeforeTheAnswer(t *testing.T) {
	path, _ := tinyModel(t)
	s := newSpeaker(t, path)
	var out, errs bytes.Buffer
	c := &conversation{
		terminal: &terminal{stdout: bufio.NewWriter(&out), stderr: &errs, noColor: true}, model: s.model, session: s.Session,
		interrupts: make(chan os.Signal, 1),
	}
	c.interrupts <- os.Interrupt // is seen long before so long a prompt is fed
	if err := c.say(t.Context(), strings.Repeat("over the hills ", 40)); err != nil || len(c.messages) > 0 || !strings.Contains(errs.String(), "is forgotten") || !strings.Contains(errs.String(), "; 0 of the prompt's") {
		t.Errorf("%v, %v, %s", err, c.messages, errs.String())
	}
	c.options.MaxTokens = 2
	if err := c.say(t.Context(), "hello"); err != nil || len(c.messages) != 2 {
		t.Errorf("afterwards: %v, %v, %s", err, c.messages, errs.String())
	}
}

func TestMessages(t *testing.T) {
	const input = "one\r\n\ntwo \\\nthree\\\n\nfour\\"
	read, restore := messageReader(&terminal{stdin: strings.NewReader(input)})
	defer restore()
	for _, want := range []string{"one", "", "two \nthree\n", "four\n"} {
		if got, err := read(); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	for range 2 {
		if got, err := read(); got != "" || err != io.EOF {
			t.Errorf("%q, %v at the end", got, err)
		}
	}
}
