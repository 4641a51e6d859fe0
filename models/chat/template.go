package chat

import (
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
)

// Options says what the model's tokenizer contributes to a template.
type Options struct {
	BOS, EOS string // texts of the tokens, bos_token and eos_token in templates; "" when the model has none
	// Special lists the texts of all special tokens. Without them, untrusted text can be told apart only in
	// templates that do not look into it (step 1 in the package documentation).
	Special []string
}

// Template is a compiled chat template. It may be used by several goroutines at once.
type Template struct {
	engine  *jinja.Template
	source  string
	options Options
}

// Message is one turn of a conversation.
type Message struct {
	Role    string // system, user, assistant, tool, ...
	Content any    // string, nil, or a list of parts ([]any of Object), as in ParseJSON
	Fields  Object // further keys: tool_calls, name, reasoning_content, ...

	// NoContent leaves content undefined instead of none: requests may leave it out where the turn calls tools, and some
	// templates tell the two apart.
	NoContent bool
}

// RenderOptions are the variables of one rendering.
type RenderOptions struct {
	AddGenerationPrompt bool   // begin the assistant's turn
	EnableThinking      *bool  // enable_thinking; nil leaves it undefined, which each template takes its own way
	Tools               []any  // tool definitions, each an Object; nil for none
	Variables           Object // any further variables: reasoning_effort, documents, ...
	Now                 time.Time
}

// Prompt is a rendered conversation.
type Prompt struct {
	Text string
	// Untrusted lists the byte ranges [from, to) of Text, in order, in or across which no special token may be
	// recognised.
	Untrusted [][2]int
}

// Compile reads and checks a template.
func Compile(source string, o Options) (*Template, error) {
	if len(source) > maxSource {
		return nil, errorf(ClassTooLarge, 0, "%d bytes; the limit is %d", len(source), maxSource)
	}
	source = valid(source)
	segments, err := scan(source)
	if err != nil {
		return nil, err
	}
	guarded, err := rewrite(segments)
	if err != nil {
		return nil, err
	}
	engine, fault := jinja.Compile(guarded)
	if fault != nil {
		return nil, asError(fault, ClassSyntax)
	}
	return &Template{engine: engine, source: source, options: o}, nil
}

// Render renders a conversation. It does not change its arguments. The zero Now means the current time.
func (t *Template) Render(messages []Message, o RenderOptions) (Prompt, error) {
	d, err := t.data(messages, o)
	if err != nil {
		return Prompt{}, err
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	p := provenance{strings: d.strings(), special: t.options.Special}
	size := 0
	for _, s := range p.strings {
		size += len(s)
	}
	p.run = newRun(size, o.Now)
	p.render = func(mark func(string) string) (string, *Error) { return t.once(d, p.run, mark) }
	prompt, err := p.prompt(t.source)
	if err != nil {
		return Prompt{}, err
	}
	return prompt, nil
}

// data is what a template sees, before it becomes the engine's values.
type data struct {
	messages  []Message
	tools     []any
	variables Object // those of the caller
	settings  Object // trusted ones
}

// data checks the arguments of Render.
func (t *Template) data(messages []Message, o RenderOptions) (*data, *Error) {
	d := &data{messages: messages, tools: o.Tools, variables: o.Variables}
	d.settings = Object{
		{"add_generation_prompt", o.AddGenerationPrompt}, {"bos_token", t.options.BOS}, {"eos_token", t.options.EOS},
	}
	if o.EnableThinking != nil {
		d.settings = append(d.settings, Field{"enable_thinking", *o.EnableThinking})
	}
	for i, m := range messages {
		if m.Role == "" || !word(m.Role) {
			return nil, errorf(ClassMessage, 0, "message %d: the role %q; a role is letters, digits, _, - and .", i, m.Role)
		}
		for _, f := range m.Fields {
			if f.Key == "role" || f.Key == "content" {
				return nil, errorf(ClassMessage, 0, "message %d: a second %s", i, f.Key)
			}
		}
	}
	for _, f := range o.Variables {
		if strings.HasPrefix(f.Key, "__") || f.Key == "messages" || f.Key == "tools" {
			return nil, errorf(ClassMessage, 0, "a variable named %q", f.Key)
		}
	}
	return d, nil
}

// strings lists the untrusted strings.
func (d *data) strings() (list []string) {
	add := func(s string) { list = append(list, valid(s)) }
	for _, m := range d.messages {
		eachString(m.Content, add)
		eachString(m.Fields, add)
	}
	eachString(d.tools, add)
	eachString(d.variables, add)
	return list
}

// values converts the data, marking its untrusted strings.
func (d *data) values(mark func(string) string) (map[string]jinja.Value, *Error) {
	c := converter{mark: mark}
	values := make(map[string]jinja.Value)
	messages := make([]jinja.Value, len(d.messages))
	var err *Error
	for i, m := range d.messages {
		if messages[i], err = c.message(m); err != nil {
			return nil, err
		}
	}
	values["messages"] = jinja.NewList(messages)
	values["tools"] = jinja.None()
	if d.tools != nil {
		if values["tools"], err = c.value(d.tools, false, 0); err != nil {
			return nil, err
		}
	}
	for _, f := range d.variables {
		if values[f.Key], err = c.value(f.Value, false, 0); err != nil {
			return nil, err
		}
	}
	for _, f := range d.settings {
		values[f.Key] = jinja.FromGoValue(f.Value)
	}
	return values, nil
}

// once renders the template one time.
func (t *Template) once(d *data, r *run, mark func(string) string) (out string, err *Error) {
	values, err := d.values(mark)
	if err != nil {
		return "", err
	}
	r.meter = meter{}
	r.functions(values)
	// The engine indexes without checks in a few places; what that hits is the template's fault.
	defer func() {
		if fault := recover(); fault != nil {
			err = errorf(ClassRender, 0, "%v", fault)
		}
	}()
	out, fault := t.engine.RenderValues(values)
	if fault != nil {
		return "", asError(fault, ClassRender)
	}
	if len(out) > r.maxText {
		return "", limit("more than %d bytes of text", r.maxText)
	}
	return out, nil
}
