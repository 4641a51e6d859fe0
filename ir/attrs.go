package ir

import (
	"fmt"
	"math"
	"strconv"
)

// attr is one field of Attrs: its name in the text form and where it is. The pointer's type is the attribute's kind:
// *float64, *int, *bool, *RoPEStyle or *Activation.
type attr struct {
	name  string
	field func(*Attrs) any
}

// attrTable lists every attribute, in the order in which the text form prints them.
var attrTable = []attr{
	{"eps", func(a *Attrs) any { return &a.Eps }},
	{"scale", func(a *Attrs) any { return &a.Scale }},
	{"bias", func(a *Attrs) any { return &a.Bias }},
	{"style", func(a *Attrs) any { return &a.Style }},
	{"dims", func(a *Attrs) any { return &a.Dims }},
	{"base", func(a *Attrs) any { return &a.Base }},
	{"factor", func(a *Attrs) any { return &a.Factor }},
	{"layer", func(a *Attrs) any { return &a.Layer }},
	{"window", func(a *Attrs) any { return &a.Window }},
	{"cap", func(a *Attrs) any { return &a.Cap }},
	{"act", func(a *Attrs) any { return &a.Act }},
}

var (
	styleNames = map[RoPEStyle]string{Norm: "norm", NeoX: "neox"}
	actNames   = map[Activation]string{SiLU: "silu", GELU: "gelu"}
)

// String prints the style as the text form has it.
func (s RoPEStyle) String() string { return enumString(styleNames, s) }

// String prints the activation as the text form has it.
func (a Activation) String() string { return enumString(actNames, a) }

func enumString[K ~uint8](names map[K]string, k K) string {
	if name, ok := names[k]; ok {
		return name
	}
	return "invalid(" + strconv.Itoa(int(k)) + ")"
}

func enumParse[K ~uint8](names map[K]string, text string) (K, error) {
	var known []string
	for k := K(1); int(k) <= len(names); k++ {
		if names[k] == text {
			return k, nil
		}
		known = append(known, names[k])
	}
	return 0, fmt.Errorf("is %s, not %q", list(known), text)
}

// isZero reports whether the attribute is unset.
func (d attr) isZero(a *Attrs) bool {
	switch p := d.field(a).(type) {
	case *float64:
		return *p == 0 && !math.Signbit(*p)
	case *int:
		return *p == 0
	case *bool:
		return !*p
	case *RoPEStyle:
		return *p == 0
	case *Activation:
		return *p == 0
	}
	return false
}

// print returns the value as text that parse reads back exactly: floats have the fewest digits that give the same bits.
func (d attr) print(a *Attrs) string {
	switch p := d.field(a).(type) {
	case *float64:
		return strconv.FormatFloat(*p, 'g', -1, 64)
	case *int:
		return strconv.Itoa(*p)
	case *bool:
		return strconv.FormatBool(*p)
	}
	return fmt.Sprint(d.field(a)) // the enumerations print themselves, through their pointers too
}

// parse sets the attribute from text; the error continues "attribute <name> ".
func (d attr) parse(a *Attrs, text string) (err error) {
	switch p := d.field(a).(type) {
	case *float64:
		if *p, err = strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("is a number, not %q", text)
		}
	case *int:
		if *p, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("is an integer, not %q", text)
		}
	case *bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("is true or false, not %q", text)
		}
		*p = text == "true"
	case *RoPEStyle:
		*p, err = enumParse(styleNames, text)
	case *Activation:
		*p, err = enumParse(actNames, text)
	}
	return err
}

// check returns what is wrong with the value, "" for nothing: floats are finite, numbers not negative, enumerations
// known. A required attribute is not zero, an integer may be.
func (d attr) check(a *Attrs, required bool) string {
	bad := false
	switch p := d.field(a).(type) {
	case *float64:
		bad = math.IsNaN(*p) || math.IsInf(*p, 0) || *p < 0 || required && *p == 0
	case *int:
		bad = *p < 0
	case *RoPEStyle:
		_, known := styleNames[*p]
		bad = !known
	case *Activation:
		_, known := actNames[*p]
		bad = !known
	}
	if bad {
		return "attribute " + d.name + " cannot be " + d.print(a)
	}
	return ""
}
