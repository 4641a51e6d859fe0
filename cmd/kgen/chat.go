package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

type chatVerb struct {
	deviceFlags
	generationFlags
}

const chatCommands = `  /clear         begin a new conversation
  /system TEXT   change the system message; without a text, take it away
  /help          list these
  /exit          end; Ctrl-D and, at the prompt, Ctrl-C do the same

A line that ends in \ goes on in the next one, and what is pasted is one message; // sends a line that begins with /.
Ctrl-C stops an answer; what there is of it stays in the conversation.`

func (chatVerb) Help() string {
	return `Example:

  kgen chat model.gguf --system "Answer in one sentence."

Answers go to stdout, everything else to stderr. The whole conversation is sent each time, and only what is new to the model is
fed to it. When it leaves less than a quarter of the context to the answer, or less than --max-tokens, the oldest messages but
the system's are dropped, and a note says so. --prompt and --prompt-file give the first message. With --raw there is no chat
template: messages and answers are one text, a line each. Answer N, counted from 0, is drawn with the seed plus N.

` + chatCommands + `

Without a terminal, every line of standard input is a message, and the status is 1 if one had no answer. --json prints one
JSON value per answer, as run does.

` + samplingHelp
}

// conversation is what was said so far, and what answers.
type conversation struct {
	*terminal
	model    *kgen.Model
	session  *kgen.Session
	options  kgen.Generation
	raw      bool
	messages []kgen.Message
	answers  uint64 // so far

	read       func() (string, error) // the next message
	interrupts chan os.Signal
	failed     bool // a message had no answer, and nobody was there to see it
}

// errInterrupted is why an answer's context ended after Ctrl-C.
var errInterrupted = errors.New("interrupted")

// Run loads the model and answers until there is nothing more to read.
func (v *chatVerb) Run(ctx context.Context, t *terminal) error {
	v.apply(t)
	if err := v.check(false); err != nil {
		return err
	}
	first, ok, err := v.text(t)
	if err != nil {
		return err
	}
	c := &conversation{terminal: t, raw: v.Raw, messages: v.system(), interrupts: make(chan os.Signal, 1)}
	var codec kgenrt.Codec
	c.model, err = v.load(ctx, t, kgen.Options{Burst: v.Burst}, func(f *kgen.File) (err error) {
		if c.options, err = v.generation(f.Sampling(), t); err != nil {
			return err
		}
		if codec, err = v.codec(f, t); err != nil || v.Raw {
			return err
		}
		_, err = codec.EncodeChat(append(v.system(), kgen.Message{Role: "user", Content: "?"})) // a template that will do
		return err
	})
	if err != nil {
		return err
	}
	defer c.model.Close()
	if c.session, err = c.model.NewSession(); err != nil {
		return err
	}
	c.session.Codec = codec

	// From here on Ctrl-C ends an answer rather than the program.
	signal.Reset(os.Interrupt)
	signal.Notify(c.interrupts, os.Interrupt)
	defer signal.Stop(c.interrupts)
	var restore func()
	c.read, restore = messageReader(t)
	defer restore()
	if isTerminal(t.stdin) {
		t.note("/help lists what there is beside messages")
	}
	if ok {
		err = c.say(ctx, first)
	}
	if err == nil {
		err = c.talk(ctx)
	}
	return t.judged(c.model, err)
}

// talk answers messages until there are no more.
func (c *conversation) talk(ctx context.Context) error {
	for {
		message, err := c.next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if message == "" {
			continue
		}
		if text, escaped := strings.CutPrefix(message, "//"); escaped {
			err = c.say(ctx, "/"+text)
		} else if message[0] == '/' {
			err = c.command(message)
		} else {
			err = c.say(ctx, message)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if c.failed {
		return errReported
	}
	return nil
}

// next reads a message. It returns io.EOF after the last, and when Ctrl-C comes instead of one.
func (c *conversation) next(ctx context.Context) (string, error) {
	select {
	case <-c.interrupts: // one that came as an answer ended was meant for that
	default:
	}
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := c.read()
		lines <- line{text, err}
	}()
	select {
	case l := <-lines:
		return strings.Trim(l.text, "\n"), l.err
	case <-c.interrupts:
		return "", io.EOF
	case <-ctx.Done():
		return "", kgen.AsError("wait for a message", ctx.Err())
	}
}

// command does what a line that begins with / says; io.EOF ends the conversation.
func (c *conversation) command(line string) error {
	name, text, _ := strings.Cut(line, " ")
	text = strings.TrimSpace(text)
	switch {
	case name == "/exit":
		return io.EOF
	case name == "/clear":
		c.messages = c.messages[:systems(c.messages)]
		c.note("a new conversation begins")
	case name == "/help":
		fmt.Fprintln(c.stderr, chatCommands)
	case name == "/system" && c.raw:
		c.refuse(usagef("/system: the system message is part of the chat template, which --raw leaves out"))
	case name == "/system":
		c.messages = c.messages[systems(c.messages):]
		if text != "" {
			c.messages = slices.Insert(c.messages, 0, kgen.Message{Role: "system", Content: text})
		}
	default:
		c.refuse(usagef("there is no command %s; /help lists them, and // sends a line that begins with /", name))
	}
	return nil
}

// refuse reports why a message has no answer; the conversation goes on.
func (c *conversation) refuse(err error) {
	report(err, c.terminal)
	c.stdout.Flush()
	c.failed = c.failed || !isTerminal(c.stdin)
}

// say answers a message. One that can't be answered is reported, and it is as if it hadn't been said; an error is returned
// when there can be no more answers.
func (c *conversation) say(ctx context.Context, message string) error {
	messages := append(slices.Clone(c.messages), kgen.Message{Role: "user", Content: message})
	ids, messages, err := c.fit(messages)
	if err != nil {
		c.refuse(err)
		return nil
	}
	options := c.options
	options.Sampling.Seed += c.answers
	c.answers++
	answering, done := c.interruptible(ctx)
	result, err := c.answer(answering, c.model, c.session, ids, options)
	interrupted := err != nil && errors.Is(context.Cause(answering), errInterrupted)
	done()
	var coded *kgenrt.Error
	if errors.As(err, &coded) && coded.Code == kgenrt.ContextFull {
		c.refuse(err)
		return nil
	}
	if err := c.show(result); err != nil {
		return err
	}
	switch {
	case err != nil && !interrupted:
		return err
	case interrupted && result.Text == "":
		c.note("stopped before the answer began; the message is forgotten")
		return nil
	case interrupted:
		c.note("stopped")
	case result.Finish == string(kgenrt.Length) && len(result.IDs) != options.MaxTokens:
		c.note("the context of %d tokens is full, and the answer ends here", c.model.Context())
	}
	c.messages = append(messages, kgen.Message{Role: "assistant", Content: result.Text})
	return nil
}

// show ends an answer on stdout, and says what it took.
func (c *conversation) show(r runResult) error {
	if c.json {
		if err := c.printJSON(r); err != nil {
			return err
		}
	} else {
		c.stdout.WriteByte('\n')
	}
	if err := c.stdout.Flush(); err != nil {
		return plainError{fmt.Errorf("write the answer: %w", err)}
	}
	fed := r.Stats.PrefillTokens
	if r.Stats.DecodeTokens > 0 {
		fed++ // the last one, with the answer's first token
	}
	c.note("%d tokens in %.1f s; %d of the prompt's %d tokens were fed in %.1f s", len(r.IDs), r.Stats.DecodeMS/1e3,
		fed, len(r.PromptIDs), r.Stats.PrefillMS/1e3)
	return nil
}

// interruptible returns a context that Ctrl-C ends, for the time of an answer.
func (c *conversation) interruptible(ctx context.Context) (answering context.Context, done func()) {
	answering, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-c.interrupts:
			cancel(errInterrupted)
		case <-answering.Done():
		}
	}()
	return answering, func() { cancel(nil) }
}

// fit returns the ids of a conversation and what is left of it: while it leaves too little of the context to the answer, the
// oldest message and its answer go.
func (c *conversation) fit(messages []kgen.Message) ([]uint32, []kgen.Message, error) {
	positions := c.model.Context()
	room := positions / 4
	if n := c.options.MaxTokens; n > 0 {
		room = min(room, n)
	}
	begin := systems(messages)
	for dropped := 0; ; dropped += 2 {
		ids, err := c.encode(messages)
		if err != nil {
			return nil, nil, err
		}
		if len(ids)+room <= positions || len(messages) == begin+1 {
			if dropped > 0 {
				c.note("the context of %d tokens is full: the %d oldest messages are dropped", positions, dropped)
			}
			return ids, messages, nil
		}
		messages = slices.Delete(messages, begin, begin+2)
	}
}

// encode returns the ids of a conversation up to where the next answer begins.
func (c *conversation) encode(messages []kgen.Message) ([]uint32, error) {
	if !c.raw {
		return c.session.EncodeChat(messages)
	}
	var lines []string
	for _, m := range messages {
		lines = append(lines, m.Content)
	}
	return c.session.EncodeText(strings.Join(lines, "\n")), nil
}

// systems returns the number of system messages at the beginning: 0 or 1.
func systems(messages []kgen.Message) int {
	if len(messages) > 0 && messages[0].Role == "system" {
		return 1
	}
	return 0
}
