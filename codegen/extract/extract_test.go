package extract_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/extract"
)

// kernel is a text of its own for each n.
func kernel(n int) string {
	return fmt.Sprintf("// kernel %d ≤ 9\n@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"+
		"@compute @workgroup_size(%d)\nfn main%d() {\n  x[0] = %du;\n}\n", n, n, n, n)
}

// module assembles a WebAssembly module with a custom section, data segments of all kinds and a section after them.
func module(segments ...string) []byte {
	data := leb(nil, uint64(len(segments)))
	for i, s := range segments {
		switch i % 4 {
		case 0: // active: i32.const 1024
			data = append(data, 0, 0x41, 0x80, 0x08, 0x0b)
		case 1: // passive
			data = append(data, 1)
		case 2: // active in memory 0: global.get 1, i64.const -1 and an addition
			data = append(data, 2, 0, 0x23, 1, 0x42, 0x7f, 0x7c, 0x0b)
		case 3: // active: f32 and f64, which validation would refuse
			data = append(append(append(data, 0, 0x43), "abcd"...), 0x44)
			data = append(append(data, "abcdefgh"...), 0xd2, 1, 0xd0, 0x70, 0x0b)
		}
		data = append(leb(data, uint64(len(s))), s...)
	}
	m := []byte("\x00asm\x01\x00\x00\x00")
	m = section(m, 0, append([]byte{4}, "name of nothing"...))
	m = section(m, 11, data)
	return section(m, 0, []byte{1, 'x'})
}

func section(m []byte, id byte, body []byte) []byte {
	return append(leb(append(m, id), uint64(len(body))), body...)
}

func leb(b []byte, n uint64) []byte { return binary.AppendUvarint(b, n) }

// prefixed writes a length of so many bytes before each text, as serialised tables have it.
func prefixed(size int, texts ...string) string {
	var b []byte
	for _, t := range texts {
		n := make([]byte, 8)
		binary.LittleEndian.PutUint64(n, uint64(len(t)))
		b = append(append(b, n[:size]...), t...)
	}
	return string(b)
}

// texts lists what was found; a text that could not be judged is given by its reason.
func texts(list []extract.Text) []string {
	var all []string
	for _, t := range list {
		all = append(all, t.WGSL+t.Why)
	}
	return all
}

const parts = "the program puts the text together from parts when it runs"

func TestWasm(t *testing.T) {
	long := kernel(1) + strings.Repeat("// more\n", 4000) // its length has three bytes, none of them 0
	for _, c := range []struct {
		name     string
		segments []string
		want     []string
	}{
		{"ended by zeros", []string{"a\x00" + kernel(1) + "\x00\x00" + kernel(2) + "\x00"}, []string{kernel(1), kernel(2)}},
		{"in several segments", []string{kernel(1), "x", kernel(2), kernel(3)}, []string{kernel(1), kernel(2), kernel(3)}},
		{"lengths of 8 bytes, and names", []string{prefixed(8, "main1", kernel(1), "main2", kernel(2))}, []string{kernel(1), kernel(2)}},
		{"side by side", []string{"cannot open %s: " + kernel(1) + kernel(2) + "unexpected end"},
			[]string{strings.TrimSpace(kernel(1)[len("// kernel 1 ≤ 9\n"):]), "\n" + kernel(2)[:len(kernel(2))-1]}},
		{"the same twice", []string{kernel(1) + "\x00" + kernel(2) + "\x00" + kernel(1)}, []string{kernel(1), kernel(2)}},
		{"not UTF-8", []string{"\xff" + kernel(1) + "\xc3" + kernel(2)}, []string{kernel(1), kernel(2)}},
		{"templates", []string{"#ifdef A\n" + kernel(1) + "#endif\n\x00" + kernel(2)}, []string{"#ifdef A\n" + kernel(1) + "#endif\n", kernel(2)}},
		{"as JSON", []string{`{"main1":"` + strings.ReplaceAll(kernel(1), "\n", `\n`) + `","main2":"` + strings.ReplaceAll(kernel(2), "\n", `\n`) + `"}`},
			[]string{kernel(1), kernel(2)}},
		{"parts", []string{"@compute @workgroup_size(\x00{}, 1)\nfn main() {\x00@compute @workgroup_size({}) fn "}, []string{parts, parts}},
		{"a part alone", []string{"a\x00@compute @workgroup_size(x, y, z)\x00b"}, []string{parts}},
		{"prose", []string{"missing @workgroup_size(x) on entry point\x00workgroup_size\x00@compute"}, nil},
		{"nothing", []string{""}, nil},
		{"long", []string{prefixed(8, "a", long, "b", kernel(2))}, []string{long, kernel(2)}},
	} {
		data := module(c.segments...)
		got, err := extract.Wasm(data)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, text := range got {
			if text.WGSL != "" && !strings.Contains(c.name, "JSON") && !strings.HasPrefix(string(data[text.Offset:]), text.WGSL) {
				t.Errorf("%s: %q does not stand at %d", c.name, text.WGSL, text.Offset)
			}
			if text.Place != fmt.Sprint(text.Offset) {
				t.Errorf("%s: place %s, offset %d", c.name, text.Place, text.Offset)
			}
		}
		if !slices.Equal(texts(got), c.want) {
			t.Errorf("%s: got %q", c.name, texts(got))
		}
	}
}

func TestBrokenWasm(t *testing.T) {
	head := "\x00asm\x01\x00\x00\x00"
	for _, c := range []struct {
		data, want string
	}{
		{"", "at byte 0: it does not begin as a WebAssembly module does"},
		{"\x00asm\x0d\x00\x01\x00", "at byte 4: version 0x1000d of WebAssembly is not known: modules have version 1"},
		{head + "\x0b", "at byte 9: it is cut short"},
		{head + "\x0b\xff\xff\xff\xff\x0f", "at byte 9: a section (11) of 4294967295 bytes, where 5 are left"},
		{head + "\x0b\xff\xff\xff\xff\xff\x01", "at byte 14: a number of more than 32 bits"},
		{head + "\x0b\x05\xff\xff\xff\xff\x0f", "at byte 15: it is cut short"},
		{head + "\x0b\x02\x01\x07", "at byte 12: data segment 0 has the unknown kind 7"},
		{head + "\x0b\x04\x01\x00\x99\x0b", "at byte 12: instruction 0x99 in the place of a data segment is not known"},
		{head + "\x0b\x03\x01\x01\x7f", "at byte 12: data segment 0 of 127 bytes, where 1 are left"},
		{head + "\x0b\x04\x01\x01\x00\x00", "at byte 13: 1 bytes after the data segments"},
		{head + "\x0b\x03\x01\x00\x43", "at byte 13: it is cut short"},
	} {
		_, err := extract.Wasm([]byte(c.data))
		var wrong *extract.FormatError
		if !errors.As(err, &wrong) || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.data, err, c.want)
		}
	}
}

// A file cut short anywhere is an error, but for places where a section has just ended, and what was whole before is found.
func TestWasmCutShort(t *testing.T) {
	data := module(kernel(1), kernel(2)+"\x00", kernel(3), kernel(4))
	whole, err := extract.Wasm(data)
	if err != nil || len(whole) != 4 {
		t.Fatalf("%d texts, %v", len(whole), err)
	}
	without := 0
	for n := range data {
		got, err := extract.Wasm(data[:n:n])
		if err == nil {
			without++
		}
		for i, text := range got {
			if !slices.Contains(whole, text) {
				t.Errorf("%d bytes: text %d is %q", n, i, text.WGSL)
			}
		}
	}
	if without != 3 { // after the header, and after two of three sections
		t.Errorf("%d lengths without an error", without)
	}
}

func TestScript(t *testing.T) {
	escaped := strings.ReplaceAll(kernel(1), "\n", `\n`)
	crlf := strings.ReplaceAll(kernel(1), "\n", "\r\n")
	for _, c := range []struct {
		name, script string
		want         []string
		place        string
	}{
		{"a template", "const a = 1;\nconst code = `" + kernel(1) + "`;", []string{kernel(1)}, "2"},
		{"with a tag and CRLF", "x = /* wgsl */ wgsl`" + crlf + "`", []string{kernel(1)}, "1"},
		{"double quotes", `a("` + escaped + `")`, []string{kernel(1)}, "1"},
		{"single quotes, other escapes", `a='` + strings.NewReplacer("@", `\x40`, "≤", `\u2264`, "{", `\u{7b}`, "9", "9\\\n").Replace(escaped) + `'`, []string{kernel(1)}, "1"},
		{"surrogates", "a='// \\ud83d\\ude00\\n" + escaped + "'", []string{"// 😀\n" + kernel(1)}, "1"},
		{"joined", joined(kernel(1)), []string{kernel(1)}, "1"},
		{"two on a line", "f(`" + kernel(1) + "`);f(`" + kernel(2) + "`,`" + kernel(3) + "`)", []string{kernel(1), kernel(2), kernel(3)}, "1 7 13"},
		{"the same twice", "[`" + kernel(1) + "`, `" + kernel(1) + "`]", []string{kernel(1)}, "1"},
		{"holes", "a = `const N = ${n};\n" + kernel(1) + "`; b = `" + kernel(2) + "`", []string{parts, kernel(2)}, "1 8"},
		{"a hole in the attribute", "a = `@compute @workgroup_size(${`${x}` + '}' + /[`}]/}) fn f() {}`; b = `" + kernel(2) + "`", []string{parts, kernel(2)}, "1.5 1.73"},
		{"joined with a name", `a = head + "` + escaped + `" + tail; b = "` + escaped + `"`, []string{parts, kernel(1)}, "1.12 1.169"},
		{"joined with a call", `a = "` + escaped + `" + f("x", 'y') + "z"`, []string{parts}, "1"},
		{"replaced", "a = `" + kernel(1) + "`.trim().replace('1', '2'); b = `" + kernel(2) + "`.trim()", []string{parts, kernel(2)}, "1 7"},
		{"added to", "a += `" + kernel(1) + "`", []string{parts}, "1"},
		{"parts in a list", `["@compute @workgroup_size(64)", "fn main() {", "}"].join("\n")`, []string{parts}, "1"},
		{"comments", "// `\n/* ' ` */ a = `" + kernel(1) + "`", []string{kernel(1)}, "2"},
		{"regular expressions", "a = b.match(/[/`]\\/'/g) / 2; if (a) /`/.test(b); c = (1) / 2; d = `" + kernel(1) + "` / 3", []string{kernel(1)}, "1"},
		{"apostrophes in text", "<p>Don't</p>\nx = `" + kernel(1) + "`", []string{kernel(1)}, "2"},
		{"a template in a template", "a = `x ${ f({b: `" + kernel(1) + "`}) } y`", []string{kernel(1)}, "1"},
		{"a statement without a semicolon", "a = `" + kernel(1) + "`\nb = `" + kernel(2) + "`\n", []string{kernel(1), kernel(2)}, "1 8"},
		{"prose", "throw 'missing @workgroup_size(x)'; a = '@workgroup_size'", nil, ""},
		{"preprocessor lines", "a = `#ifdef X\n" + kernel(1) + "`", []string{"#ifdef X\n" + kernel(1)}, "1"},
		{"without an end", "a = `" + kernel(1), nil, ""},
		{"a module as base64", "a = 'data:application/wasm;base64," + base64.StdEncoding.EncodeToString(module(kernel(1), strings.Repeat("x", 999), kernel(2))) + "'",
			[]string{kernel(1), kernel(2)}, "1.5/37 1.5/1185"},
	} {
		got := extract.Script([]byte(c.script))
		var places []string
		for _, text := range got {
			places = append(places, text.Place)
		}
		if !slices.Equal(texts(got), c.want) || strings.Join(places, " ") != c.place {
			t.Errorf("%s: got %q at %q", c.name, texts(got), places)
		}
	}
}

// joined writes a text as literals of one line each.
func joined(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, fmt.Sprintf("%q", line))
	}
	return "a = " + strings.Join(lines, "\n  + ") + ";\n"
}

func TestHTML(t *testing.T) {
	page := "<p>it's `</p>\n<SCRIPT type='module'>\nconst a = `" + kernel(1) + "`; '</p>'\n</SCRIPT >\n" +
		"<script id=x type=\"x-shader/x-wgsl\">\n" + kernel(2) + "</script><script src=a.js></script>\n<script>b = `" + kernel(1) + kernel(3) + "`"
	got := extract.HTML([]byte(page))
	want := []string{kernel(1), "\n" + kernel(2), kernel(1) + kernel(3)}
	if !slices.Equal(texts(got), want) || got[0].Place != "3" || got[1].Place != "11" || got[2].Place != "19" {
		t.Errorf("got %+v", got)
	}
}

// Whatever the bytes are, reading them ends, and what is found lies in them.
func FuzzWasm(f *testing.F) {
	f.Add(module(kernel(1), kernel(2)))
	f.Add(module(prefixed(8, "a", kernel(1)), "x", `{"a":"`+strings.ReplaceAll(kernel(2), "\n", `\n`)+`"}`))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x0b\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := extract.Wasm(data)
		var wrong *extract.FormatError
		if err != nil && (!errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(data)) {
			t.Fatal(err)
		}
		check(t, data, found)
	})
}

func FuzzScript(f *testing.F) {
	for _, s := range []string{"a = `" + kernel(1) + "${`${'a' + \"b\"}`}`", joined(kernel(2)), "/[/]/ / 2", "'\\u{1f600}\\ud83d\\ude00\\x4'", "`${", "}`${)`",
		"<script type=module>`" + kernel(1) + "`</script><script type=wgsl>" + kernel(2)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, data, extract.Script(data))
		check(t, data, extract.HTML(data))
	})
}

func check(t *testing.T, data []byte, found []extract.Text) {
	t.Helper()
	for i, text := range found {
		if text.Offset < 0 || text.Offset >= len(data) || i > 0 && text.Offset < found[i-1].Offset || (text.WGSL == "") == (text.Why == "") || text.Place == "" {
			t.Fatalf("%+v", text)
		}
	}
}

// Megabytes of what no one writes take no longer than their length asks for: a quadratic step would not end.
func TestExtractIsLinear(t *testing.T) {
	const n = 1 << 19
	for _, unit := range []string{`"\`, `'"`, "`${", "/[", "/*", "(", "'a'+", "`a`+b+", "@workgroup_size(", "'@workgroup_size(' + ", "`@workgroup_size(${", "<script>",
		"<script type=a>@workgroup_size(", "@compute @workgroup_size(1) fn f() {}", "fn f() {"} {
		data := []byte(strings.Repeat(unit, n/len(unit)))
		extract.Script(data)
		extract.HTML(append([]byte("<script>"), data...))
		if _, err := extract.Wasm(module(string(data))); err != nil {
			t.Error(err)
		}
	}
}
