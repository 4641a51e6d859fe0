package wgsl_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"pgregory.net/rapid"
)

var ignorePositions = cmpopts.IgnoreTypes(wgsl.Pos{})

// What prints parses back to the same AST, for any AST: the parentheses are right.
func TestPrintedExpressionsParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := expression(6).Draw(t, "expression")
		text := wgsl.FormatExpr(e)
		back, err := wgsl.ParseExpr(text, wgsl.Pos{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(e, back, ignorePositions); d != "" {
			t.Fatalf("%s prints as %s:\n%s", text, wgsl.FormatExpr(back), d)
		}
	})
}

var names = rapid.SampledFrom([]string{"x", "row", "sum0", "vec", "u"})

var types = rapid.SampledFrom([]wgsl.Type{
	wgsl.F32, wgsl.U32, wgsl.Vector{Elem: wgsl.F32, Width: 4}, wgsl.Vector{Elem: wgsl.U32, Width: 2},
	wgsl.Array{Elem: wgsl.Vector{Elem: wgsl.F32, Width: 4}, Len: 3},
})

// expression generates an AST of up to the given depth, as the parser would make it.
func expression(depth int) *rapid.Generator[wgsl.Expr] {
	if depth == 0 {
		return rapid.OneOf(
			rapid.Map(names, func(n string) wgsl.Expr { return &wgsl.Ident{Name: n} }),
			rapid.Custom(integerLiteral), rapid.Custom(floatLiteral),
		)
	}
	inner := expression(depth - 1)
	list := rapid.SliceOfN(inner, 1, 3)
	return rapid.Custom(func(t *rapid.T) wgsl.Expr {
		switch rapid.IntRange(0, 10).Draw(t, "kind") {
		case 0:
			return &wgsl.Unary{Op: rapid.SampledFrom([]string{"-", "!", "~", "&"}).Draw(t, "op"), X: inner.Draw(t, "x")}
		case 1:
			return &wgsl.Index{X: inner.Draw(t, "x"), I: inner.Draw(t, "i")}
		case 2:
			return &wgsl.Member{X: inner.Draw(t, "x"), Name: "xy"}
		case 3:
			return &wgsl.Call{Name: names.Draw(t, "function"), Args: list.Draw(t, "args")}
		case 4:
			to := types.Draw(t, "type")
			return &wgsl.Construct{Written: to.String(), To: to, Args: list.Draw(t, "args")}
		case 5:
			return &wgsl.Bitcast{To: types.Draw(t, "type"), X: inner.Draw(t, "x")}
		case 6:
			return inner.Draw(t, "shallow")
		}
		op := rapid.SampledFrom([]string{"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||"})
		return &wgsl.Binary{Op: op.Draw(t, "op"), X: inner.Draw(t, "x"), Y: inner.Draw(t, "y")}
	})
}

func integerLiteral(t *rapid.T) wgsl.Expr {
	n := rapid.Int64Range(0, math.MaxInt32).Draw(t, "integer")
	l := &wgsl.Literal{Info: wgsl.Info{Const: true, Value: wgsl.Value{Kind: wgsl.IntValue, Int: n}}}
	l.Suffix = rapid.SampledFrom([]string{"", "u", "i"}).Draw(t, "suffix")
	l.Type = map[string]wgsl.Type{"": wgsl.AbstractInt, "u": wgsl.U32, "i": wgsl.I32}[l.Suffix]
	l.Text = strconv.FormatInt(n, 10)
	if rapid.Bool().Draw(t, "hex") {
		l.Text = "0x" + strconv.FormatInt(n, 16)
	}
	return l
}

func floatLiteral(t *rapid.T) wgsl.Expr {
	f := rapid.Float32Range(0, math.MaxFloat32).Draw(t, "float")
	l := &wgsl.Literal{Info: wgsl.Info{Const: true, Type: wgsl.F32, Value: wgsl.Value{Kind: wgsl.FloatValue, Float: float64(f)}}, Suffix: "f"}
	text := wgsl.FormatExpr(l)
	l.Text = text[:len(text)-1]
	return l
}

// Floats print in a form that reads back as the same bits.
func TestFloatsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float32frombits(rapid.Uint32Range(0, math.Float32bits(math.MaxFloat32)).Draw(t, "bits"))
		text := wgsl.FormatExpr(&wgsl.Literal{Info: wgsl.Info{Type: wgsl.F32, Value: wgsl.Value{Kind: wgsl.FloatValue, Float: float64(f)}}, Text: "0.0"})
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || float32(back) != f || back > math.MaxFloat32 {
			t.Fatalf("%v prints as %s", f, text)
		}
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			t.Fatalf("%s looks like an integer", text)
		}
	})
}

// FuzzParseExpr looks for text that panics, or that parses and prints as something else.
func FuzzParseExpr(f *testing.F) {
	for _, c := range typed {
		f.Add(c.expr)
	}
	for _, s := range []string{"vec4<array<f32,", "a>>=b", "((((((", "1e", "0x", "-", "x[", "f(,", "bitcast<u32>()", "0x1p", "1..2", "a . b", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := wgsl.ParseExpr(text, wgsl.Pos{})
		if err != nil {
			return
		}
		printed := wgsl.FormatExpr(e)
		back, err := wgsl.ParseExpr(printed, wgsl.Pos{})
		if err != nil && strings.Contains(err.Error(), "nested") {
			return // parentheses between two minus signs count
		}
		if err != nil {
			t.Fatalf("%q prints as %q: %v", text, printed, err)
		}
		if again := wgsl.FormatExpr(back); again != printed {
			t.Fatalf("%q prints as %q, that as %q", text, printed, again)
		}
	})
}

// FuzzCheck looks for text that panics in the checker.
func FuzzCheck(f *testing.F) {
	for _, c := range typed {
		f.Add(c.expr)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := kernel(func(m *wgsl.Module) {
			m.Let("r", text)
			m.Set(text, "1")
			m.Add("b[u]", text)
			m.Call(text)
			m.If(text, nil)
		})
		m.Text()
	})
}

// Nesting costs no more than its depth squared: none of these takes a noticeable time, and none of them would end if a level
// doubled the work.
func TestDeepNesting(t *testing.T) {
	for _, c := range []struct{ open, core, close string }{
		{"(", "u", ")"}, {"~", "u", ""}, {"(u + ", "u", ")"}, {"(", "u", " + 1u)"}, {"a[", "u", "]"}, {"a[u32(b[", "u", "])]"},
		{"fma(", "f", ", f, 1)"}, {"fma(f, f, ", "f", ")"}, {"max(", "u", ", 1)"}, {"max(1, ", "2", ")"}, {"vec4(", "v4", ")"},
		{"vec4(", "1", ").x"}, {"(2.0 * ", "vec2(1)", ")"}, {"select(", "1", ", 2, c)"}, {"subgroupShuffleXor(u, ", "1", ")"},
		{"bitcast<u32>(", "u", ")"}, {"u32(", "u", ")"}, {"square(", "f", ")"}, {"workgroupUniformLoad(&part[u32(", "0", ")])"},
	} {
		const depth = 45
		text := strings.Repeat(c.open, depth) + c.core + strings.Repeat(c.close, depth)
		m := kernel(func(m *wgsl.Module) { m.Let("r", text) })
		m.Text() // what it says doesn't matter here
	}
}
