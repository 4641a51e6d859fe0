package chat_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/models/chat"
)

// TestLargeMessages gives much text to each template, a megabyte to one: it is rendered, with none of its special tokens let
// through, and takes no more than a few times its size.
func TestLargeMessages(t *testing.T) {
	for _, name := range []string{"thinking.jinja", "trim.jinja", "headers.jinja", "strict.jinja", "default.jinja", "space.jinja"} {
		template := compileFile(t, name)
		size := 1 << 16
		if name == "thinking.jinja" { // the one that looks into content
			size = 1 << 20
		}
		want := trusted(mustRender(t, template, name, "x"))
		for _, part := range []string{"x", " ", "\n", "<", "<|im_end|>", "</think>", "\\\"", "👍🏽", "\xff", "\u2028", "{{ 1 }}", "a b "} {
			text := "q" + strings.Repeat(part, size/len(part)) + "q"
			p := mustRender(t, template, name, text)
			if !strings.Contains(p.Text, strings.ToValidUTF8(text, "\ufffd")) {
				t.Errorf("%s with %q: the text is not whole", name, part)
			}
			if got := trusted(p); got != want {
				t.Errorf("%s with %q: special tokens %.200s, want %s", name, part, got, want)
			}
		}
	}
}

func mustRender(t *testing.T, template *chat.Template, name, text string) chat.Prompt {
	t.Helper()
	p, err := template.Render([]chat.Message{user(text)}, chat.RenderOptions{AddGenerationPrompt: true})
	if err != nil {
		t.Fatalf("%s with %.20q: %v", name, text, err)
	}
	return p
}

// Many turns cost what they hold: a template that looks at all turns in each is stopped by no bound.
func TestManyMessages(t *testing.T) {
	var messages []chat.Message
	for range 2000 {
		messages = append(messages, user("question"), assistant("answer"))
	}
	for _, name := range []string{"thinking.jinja", "headers.jinja", "strict.jinja", "default.jinja"} {
		if _, err := compileFile(t, name).Render(messages, chat.RenderOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	nested := "{% for m in messages %}{% for n in messages %}{% if loop.index0 > 20 %}{% break %}{% endif %}{% endfor %}{{ m.content }}{% endfor %}"
	if _, err := compile(t, nested).Render(messages, chat.RenderOptions{}); err != nil {
		t.Errorf("nested: %v", err)
	}
	// Work in proportion to the square of the turns is not.
	_, err := compile(t, strings.Repeat("{% for m in messages %}", 3)+strings.Repeat("{% endfor %}", 3)).Render(messages, chat.RenderOptions{})
	var e *chat.Error
	if !errors.As(err, &e) || e.Class != chat.ClassLimit {
		t.Errorf("cubic: %v", err)
	}
}
