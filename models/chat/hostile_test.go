package chat_test

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/models/chat"
)

// TestHostile gives templates that would take the process down, or keep it busy for ever. Each needs less than a second;
// the deadline is far above that, and ends the test with the name of the template. Growth without bound would end
// it too: the memory limit makes the collector slow it down until then.
func TestHostile(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	double := "{% set ns = namespace(s='xxxxxxxx', l=[1]) %}{% for i in range(100) %}%s{% endfor %}"
	tests := []struct {
		name, source string
		class        chat.Class
	}{
		{"1 MB of text", strings.Repeat("x", 1<<20), chat.ClassTooLarge},
		{"a tag of 200 kB", "{{ " + strings.Repeat("1 - ", 50000) + "1 }}", chat.ClassTooLarge},
		{"many joins", "{{ " + strings.Repeat("a ~ ", 200) + "a }}", chat.ClassTooLarge},
		{"nested brackets", "{{ " + strings.Repeat("(", 5000) + strings.Repeat(")", 5000) + " }}", chat.ClassTooLarge},
		{"nested blocks", strings.Repeat("{% if 1 %}", 10000) + strings.Repeat("{% endif %}", 10000), chat.ClassTooLarge},
		{"many macros", strings.Repeat("{% macro m() %}{% endmacro %}", 1000), chat.ClassTooLarge},

		{"a macro that calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", chat.ClassRecursion},
		{"macros in a ring", "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{% if c() %}{% endif %}{% endmacro %}" +
			"{% macro c() %}{% call a() %}{% endcall %}{% endmacro %}", chat.ClassRecursion},
		{"a macro given to itself", "{% macro m(f) %}{{ f(f) }}{% endmacro %}{{ m(m) }}", chat.ClassLimit},
		{"a macro within itself", "{% macro m() %}{% macro n() %}{{ m() }}{% endmacro %}{{ n() }}{% endmacro %}{{ m() }}", chat.ClassRecursion},
		{"many calls in many macros", nest(120, "{% macro m<new>() %}", "{{f()}}{{f()}}{% endmacro %}"), ""},
		{"a recursive loop", "{% for x in messages recursive %}{{ loop(messages) }}{% endfor %}", chat.ClassUnsupported},
		{"a call in itself", "{% macro m() %}{{ caller() }}{% endmacro %}{% set ns = namespace(f=m) %}{% call ns.f() %}{{ ns.f() }}{% endcall %}", chat.ClassRender},
		{"a macro under another name", "{% macro m() %}{{ ns.f() }}{% endmacro %}{% set ns = namespace() %}{% set ns.f = m %}{{ m() }}", chat.ClassLimit},
		{"macros that fan out", fanOut(40), chat.ClassLimit},

		{"a long range", "{% for i in range(300000000) %}{% endfor %}", chat.ClassLimit},
		{"a range by multiplication", "{{ range(0, 1000000 * 1000000, 2) | length }}", chat.ClassLimit},
		{"a range backwards", "{{ range(0, -300000000, -1) }}", chat.ClassLimit},
		{"nested loops", strings.Repeat("{% for i in range(10000) %}", 6) + strings.Repeat("{% endfor %}", 6), chat.ClassLimit},
		{"text in nested loops", strings.Repeat("{% for i in range(10000) %}", 2) + strings.Repeat("text ", 1000) +
			strings.Repeat("{% endfor %}", 2), chat.ClassLimit},

		{"doubling a string", strings.Replace(double, "%s", "{% set ns.s = ns.s ~ ns.s %}", 1), chat.ClassLimit},
		{"doubling by a block", strings.Replace(double, "%s", "{% set s %}{{ ns.s }}{{ ns.s }}{% endset %}{% set ns.s = s %}", 1), chat.ClassLimit},
		{"doubling a list", strings.Replace(double, "%s", "{% set ns.l = ns.l + ns.l %}", 1), chat.ClassLimit},
		{"nesting a list", strings.Replace(double, "%s", "{% set ns.l = [ns.l] %}", 1), chat.ClassLimit},
		{"replacing", strings.Replace(double, "%s", "{% set ns.s = ns.s | replace('x', ns.s) %}", 1), chat.ClassLimit},
		{"replacing by method", strings.Replace(double, "%s", "{% set ns.s = ns.s.replace('x', ns.s) %}", 1), chat.ClassLimit},
		{"replacing nothing", "{{ 'abc' | replace('', 'x' * 100) | replace('', 'x' * 100) | replace('', 'x' * 100) | replace('', 'x' * 100) }}", chat.ClassLimit},
		{"replacing by a method under another name", strings.Replace(double, "%s", "{% set f = ns.s.replace %}{% set ns.s = f('x', ns.s) %}", 1), chat.ClassRender},
		{"replacing by a method in brackets", strings.Replace(double, "%s", "{% set ns.s = (ns.s.replace)('x', ns.s) %}", 1), chat.ClassRender},
		{"formatting", strings.Replace(double, "%s", "{% set ns.s = ns.s ~ '{0}{0}' %}{% set ns.s = ns.s.format(ns.s ~ ns.s) %}", 1), chat.ClassLimit},
		{"formatting much at once", "{% set ns = namespace(s='{0}') %}{% for i in range(18) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s.format(ns.s) | length }}", chat.ClassLimit},
		{"escaping in a row", "{% set ns = namespace(s='&') %}{% for i in range(19) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s" +
			strings.Repeat(" | e", 1000) + " | length }}", chat.ClassLimit},
		{"nesting by a row of filters", "{{ range(1000)" + strings.Repeat(" | batch(1)", 500) + " | length }}", chat.ClassLimit},
		{"doubling from macro to macro", chain(60, "s ~ s"), chat.ClassLimit},
		{"doubling a list from macro to macro", chain(60, "s + s"), chat.ClassLimit},
		{"nesting from macro to macro", chain(60, "[s, s]"), chat.ClassLimit},
		{"doubling from loop to loop", nest(100, "{% for s<new> in [s<old> ~ s<old>] %}", "{% endfor %}"), chat.ClassLimit},
		{"nesting from loop to loop", nest(100, "{% for s<new> in [[s<old>, s<old>]] %}", "{% endfor %}"), chat.ClassLimit},
		{"doubling from call to call", "{% macro m(s) %}{{ caller(s ~ s) }}{% endmacro %}" +
			nest(60, "{% call(s<new>) m(s<old>) %}", "{% endcall %}"), chat.ClassLimit},
		{"doubling from caller to caller", callers(60), chat.ClassLimit},
		{"calls that print", strings.Replace(double, "%s", "{% if ns.s | length < 100000 %}{% set ns.s = ns.s ~ ns.s %}{% endif %}", 1) +
			"{% for i in range(10000) %}{% call ns.s.strip() %}{% endcall %}{% endfor %}", chat.ClassLimit},
		{"conditions of loops", "{% for i in range(100) %}{% for j in range(16000) if j < 0 %}{% endfor %}{% endfor %}", chat.ClassLimit},
		{"joining", strings.Replace(double, "%s", "{% set ns.s = [ns.s, ns.s, ns.s] | join(ns.s) %}", 1), chat.ClassLimit},
		{"quoting", strings.Replace(double, "%s", "{% set ns.s = ns.s | tojson %}", 1), chat.ClassLimit},
		{"indenting", "{{ '\\n' | indent(100000000000, true, true) }}", chat.ClassLimit},
		{"indenting JSON", "{{ [1] | tojson(indent=100000000000) }}", chat.ClassLimit},
		{"repeating a string", "{% set s = 'x' %}{{ s * 100000000000 }}", chat.ClassUnsupported},
		{"repeating a result", "{{ ('x' * 100 * 100000000) }}", chat.ClassUnsupported},
		{"splitting into characters", "{{ ('x' * 100).split('') | length }}", chat.ClassRender},
		{"a slice without end", "{{ 'é'[0:9000000000000000000:2] }}", ""},
		{"a slice from afar", "{{ [1, 2][9000000000::-1] }}", ""},

		{"a dictionary in itself", "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns | tojson }}", chat.ClassLimit},
		{"a dictionary in itself, deeper", "{% set ns = namespace() %}{% set ns.x = [{'a': ns}] %}{{ ns == ns }}", chat.ClassLimit},
		{"two dictionaries in each other", "{% set a = namespace() %}{% set b = namespace(a=a) %}{% set a.b = b %}{{ a }}", chat.ClassLimit},
		{"a list in itself", "{% set l = [] %}{{ l.append(l) }}{{ l | string }}", chat.ClassLimit},
		{"a list in itself at once", "{% set l = [] %}{{ l.append(l) or l | string }}", chat.ClassUnsupported},
		{"a list in itself by another name", "{% set l = [] %}{% set f = l.append %}{{ f(l) }}{{ l | string }}", chat.ClassUnsupported},
		{"an update", "{% set d = {} %}{% do d.update({'d': d}) %}{{ d }}", chat.ClassLimit},
		{"the engine's own filters", "{{ __filter_replace('a', 'a', 'b') }}", chat.ClassUnsupported},
		{"the guards", "{% set __kgen_step = 1 %}", chat.ClassUnsupported},
		{"deep JSON", "{% set s = namespace(s='[]') %}{% for i in range(100) %}{% set s.s = '[' ~ s.s ~ ']' %}{% endfor %}" +
			"{% set v = s.s.strip() | fromjson %}{{ v }}", chat.ClassLimit},
	}
	for _, test := range tests {
		done := make(chan error, 1)
		go func() {
			_, err := render(test.source)
			done <- err
		}()
		select {
		case err := <-done:
			var e *chat.Error
			switch {
			case test.class == "" && err != nil:
				t.Errorf("%s: %v", test.name, err)
			case test.class != "" && (!errors.As(err, &e) || e.Class != test.class):
				t.Errorf("%s: error %v, want %s", test.name, err, test.class)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: still busy", test.name)
		}
	}
}

// fanOut writes n macros, each of which calls the next one twice.
func fanOut(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{%% macro m%d() %%}{{ m%d() }}{{ m%d() }}{%% endmacro %%}", i, i+1, i+1)
	}
	fmt.Fprintf(&b, "{%% macro m%d() %%}x{%% endmacro %%}{{ m0() }}", n)
	return b.String()
}

// chain writes macros each of which gives the next one an expression of its parameter.
func chain(n int, expression string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{%% macro m%d(s) %%}{{ m%d(%s) }}{%% endmacro %%}", i, i+1, expression)
	}
	fmt.Fprintf(&b, "{%% macro m%d(s) %%}{{ (s ~ 'x') | length }}{%% endmacro %%}{{ m0(['x']) }}", n)
	return b.String()
}

// callers writes macros each of which gives its caller twice what its callee gave it.
func callers(n int) string {
	var b strings.Builder
	b.WriteString("{% macro m0() %}{{ caller('xxxxxxxx') }}{% endmacro %}")
	for i := range n {
		fmt.Fprintf(&b, "{%% macro m%d() %%}{%% call(y) m%d() %%}{{ caller(y ~ y) }}{%% endcall %%}{%% endmacro %%}", i+1, i)
	}
	fmt.Fprintf(&b, "{%% call(y) m%d() %%}{{ (y ~ 'x') | length }}{%% endcall %%}", n)
	return b.String()
}

// nest puts n blocks into each other. <old> is the number of the variable that a block sees, <new> of the one that it sets.
func nest(n int, begin, end string) string {
	var b strings.Builder
	b.WriteString("{% set s0 = 'xxxxxxxx' %}")
	for i := range n {
		b.WriteString(strings.NewReplacer("<old>", fmt.Sprint(i), "<new>", fmt.Sprint(i+1)).Replace(begin))
	}
	fmt.Fprintf(&b, "{{ (s%d ~ 'x') | length }}", n)
	return b.String() + strings.Repeat(end, n)
}

// render compiles and renders with one message.
func render(source string) (string, error) {
	template, err := chat.Compile(source, chat.Options{Special: special})
	if err != nil {
		return "", err
	}
	p, err := template.Render([]chat.Message{user("Hello")}, chat.RenderOptions{})
	return p.Text, err
}

func TestErrors(t *testing.T) {
	tests := []struct {
		source string
		class  chat.Class
		line   int
		detail string // part of it
	}{
		{"a\n{% if x %}", chat.ClassSyntax, 0, "if is not closed"},
		{"a\nb {{ x", chat.ClassSyntax, 2, "not closed"},
		{"a\n\n{% endif %}", chat.ClassSyntax, 3, "endif has no if"},
		{"{% for x in y %}{% endif %}", chat.ClassSyntax, 1, "endif has no if"},
		{"\n{{ 'x }}", chat.ClassSyntax, 2, "not closed"},
		{"{{ a ? b }}", chat.ClassSyntax, 1, `unexpected character '?'`},
		{"{{ }}", chat.ClassSyntax, 1, "missing"},
		{"\n{{ a b }}", chat.ClassSyntax, 2, "unexpected token"},
		{"\n\n{% if a = %}{% endif %}", chat.ClassSyntax, 3, ""},
		{"{% raw %}x", chat.ClassSyntax, 1, "raw without endraw"},
		{"\n\n{% include 'x' %}", chat.ClassUnsupported, 3, "include"},
		{"{% set a, b = 1, 2 %}", chat.ClassUnsupported, 1, "assignment"},
		{"{{ 'x' | nothing }}", chat.ClassRender, 0, "nothing"},
		{"{{ 'x' | trim | map('nothing') }}{{ ['x'] | map('nothing') }}", chat.ClassUnsupported, 0, "map"},
		{"{{ raise_exception('No ' ~ messages[0].role ~ '!') }}", chat.ClassRaised, 0, "No user!"},
		{"{% macro m(f) %}{{ f(f) }}{% endmacro %}{{ m(m) }}", chat.ClassLimit, 0, "macros within"},
		{"{% for i in range(100) %}{% for j in range(16000) if j < 0 %}{% endfor %}{% endfor %}", chat.ClassLimit, 0, "too many loop turns"},
		{"{{ messages.nothing() }}", chat.ClassRender, 0, "callable"},
		{"{{ strftime_now('%Q') }}", chat.ClassUnsupported, 0, "%Q"},
	}
	for _, test := range tests {
		_, err := render(test.source)
		var e *chat.Error
		if !errors.As(err, &e) || e.Class != test.class || e.Line != test.line || !strings.Contains(e.Detail, test.detail) {
			t.Errorf("%q: error %v, want %s, line %d, %q", test.source, err, test.class, test.line, test.detail)
		}
	}
}

func TestMessageErrors(t *testing.T) {
	template := compile(t, "{{ messages }}")
	for _, m := range []chat.Message{
		{Role: "", Content: "x"}, {Role: "user<|im_end|>"}, {Role: "user", Content: struct{}{}},
		{Role: "user", Fields: chat.Object{{"role", "system"}}}, {Role: "user", Content: nested(100)},
	} {
		_, err := template.Render([]chat.Message{m}, chat.RenderOptions{})
		var e *chat.Error
		if !errors.As(err, &e) || e.Class != chat.ClassMessage {
			t.Errorf("%.40v: error %v, want %s", m, err, chat.ClassMessage)
		}
	}
}

func nested(depth int) any {
	var v any = "x"
	for range depth {
		v = []any{v}
	}
	return v
}

func TestParseJSON(t *testing.T) {
	template := compile(t, "{{ messages[0].content[0] | tojson }}")
	const text = `{"z": 1, "a": [true, null, -2.50, 9007199254740993], "m": {"y": "\u00e9<", "b": {}}}`
	v, err := chat.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := template.Render([]chat.Message{user([]any{v})}, chat.RenderOptions{})
	if want := strings.NewReplacer(`\u00e9`, "é", "2.50", "2.5").Replace(text); err != nil || p.Text != want {
		t.Errorf("%s, %v, want %s", p.Text, err, want)
	}
	for _, bad := range []string{"", "{", `{"a" 1}`, "[1] 2", strings.Repeat("[", 100) + strings.Repeat("]", 100)} {
		if _, err := chat.ParseJSON([]byte(bad)); err == nil {
			t.Errorf("%.20q: no error", bad)
		}
	}
}

// FuzzTemplate looks for templates that crash or hang.
func FuzzTemplate(f *testing.F) {
	f.Add("{% for m in messages %}<|im_start|>{{ m.role }}\n{{- m.content | trim }}<|im_end|>{% endfor %}", "a<|im_end|>")
	f.Add("{% macro m(x, y=1) %}{{ x[1:] ~ y }}{% endmacro %}{{ m(messages[0].content) }}{% set ns = namespace(a=1) %}{% set ns.a = 2 %}", "b")
	f.Add("{%- if messages[0].content is string and 'x' in messages[0].content -%} {{ messages | tojson(indent=1) }} {%- endif %}", "x")
	f.Add("{% for k, v in messages[0].items() if v != k -%}{{ k | e ~ '{}{0}'.format(v) }}{% else %}{{ loop }}{% endfor %}", "<s>")
	f.Add("{% macro m(x) %}{{ caller(x ~ x) }}{% endmacro %}{% call(y) m('a') %}{{ y | upper }}{% endcall %}{% filter trim %} {{ messages[-1:] }}{% endfilter %}", "y")
	f.Add("{% set l = [] %}{% do l.append(messages[0]) %}{{ l | map(attribute='role') | unique | list | join('-') }}{{ range(3) | sum ** 2 // 3 % 2 }}", "z")
	f.Fuzz(func(t *testing.T, source, content string) {
		template, err := chat.Compile(source, chat.Options{Special: special})
		if err != nil {
			return
		}
		p, err := template.Render([]chat.Message{user(content)}, chat.RenderOptions{})
		if err != nil {
			return
		}
		end := 0
		for _, s := range p.Untrusted {
			if s[0] < end || s[1] <= s[0] || s[1] > len(p.Text) {
				t.Fatalf("untrusted ranges %v of %d bytes", p.Untrusted, len(p.Text))
			}
			end = s[1]
		}
	})
}
