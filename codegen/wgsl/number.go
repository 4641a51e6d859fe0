package wgsl

import (
	"math"
	"strconv"
	"strings"

	"github.com/x448/float16"
)

// number makes a literal of a token, by the rules of WGSL: a suffix or a point fixes the type as far as it says.
func (p *parser) number(t token) Expr {
	l := &Literal{Info: Info{Pos: p.pos(t), Const: true}, Text: t.text}
	hex := strings.HasPrefix(t.text, "0x") || strings.HasPrefix(t.text, "0X")
	suffixes := "uifh"
	if hex && !strings.ContainsAny(t.text, "pP") {
		suffixes = "ui" // f is a digit
	}
	if last := t.text[len(t.text)-1:]; strings.Contains(suffixes, last) {
		l.Suffix, l.Text = last, t.text[:len(t.text)-1]
	}
	if l.Suffix == "h" && p.noF16 {
		p.fail(t, "%s needs the line enable f16;", t.text)
	}
	float := strings.ContainsAny(l.Text, ".pP") || !hex && strings.ContainsAny(l.Text, "eE") || l.Suffix == "f" || l.Suffix == "h"
	if float {
		p.float(t, l)
	} else {
		p.integer(t, l)
	}
	return l
}

func (p *parser) integer(t token, l *Literal) {
	digits, base := l.Text, 10
	if strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "0X") {
		digits, base = digits[2:], 16
	} else if len(digits) > 1 && digits[0] == '0' {
		p.fail(t, "an integer can't start with 0")
		return
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil && strings.Contains(err.Error(), "range") {
		n = math.MaxUint64
	} else if err != nil {
		p.fail(t, "%s is not a number", strconv.Quote(t.text))
		return
	}
	l.Type = map[string]Type{"": AbstractInt, "u": U32, "i": I32}[l.Suffix]
	limit := map[string]uint64{"": math.MaxInt64, "u": math.MaxUint32, "i": math.MaxInt32}[l.Suffix]
	if n > limit {
		p.fail(t, "%s is out of the range of %s", t.text, l.Type)
		return
	}
	l.Value = intValue(int64(n))
}

func (p *parser) float(t token, l *Literal) {
	if l.Suffix == "u" || l.Suffix == "i" || strings.Contains(l.Text, "_") {
		p.fail(t, "%s is not a number", strconv.Quote(t.text))
		return
	}
	text := l.Text
	if hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X"); hex && !strings.ContainsAny(text, "pP") {
		text += "p0"
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !strings.Contains(err.Error(), "range") {
		p.fail(t, "%s is not a number", strconv.Quote(t.text))
		return
	}
	l.Type = map[string]Type{"": AbstractFloat, "f": F32, "h": F16}[l.Suffix]
	v, ok := floatValue(f).convert(l.Type.(Scalar))
	if !ok || math.IsInf(f, 0) {
		p.fail(t, "%s is out of the range of %s", t.text, l.Type)
		return
	}
	l.Value = v
}

// floatText prints a float in the fewest digits that read back as the same value of its type, and so that it looks like one.
func floatText(f float64, t Scalar) string {
	bits := 64
	switch t {
	case F32:
		bits = 32
	case F16:
		return halfText(f)
	}
	text := strconv.FormatFloat(f, 'g', -1, bits)
	if back, _ := strconv.ParseFloat(text, 64); bits == 32 && math.Abs(back) > math.MaxFloat32 {
		text = strconv.FormatFloat(f, 'g', -1, 64) // Tint doesn't round the largest value down
	}
	return floatLooking(text)
}

// halfText tries precisions until one reads back as the same f16.
func halfText(f float64) string {
	for precision := 1; precision < 6; precision++ {
		s := strconv.FormatFloat(f, 'g', precision, 64)
		if back, _ := strconv.ParseFloat(s, 64); roundHalf(back) == f {
			return floatLooking(s)
		}
	}
	return floatLooking(strconv.FormatFloat(f, 'g', -1, 32))
}

func floatLooking(s string) string {
	if strings.ContainsAny(s, ".e") {
		return s
	}
	return s + ".0"
}

// roundHalf rounds to f16 by way of f32, as float16 does; it is infinite beyond the range.
func roundHalf(f float64) float64 { return float64(float16.Fromfloat32(float32(f)).Float32()) }
