package gguf

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// wantClass reports an error that is not of the class and field.
func wantClass(t *testing.T, what string, err error, class Class, field string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Class != class || e.Field != field {
		t.Errorf("%s: %v, want class %s, field %s", what, err, class, field)
	}
}

// everyType writes a file with a key of every value type.
func everyType() *writer {
	w := (&writer{}).head(3, 0, 22)
	w.key("u8", Uint8).u8(200)
	w.key("i8", Int8).u8(0x80)
	w.key("u16", Uint16).u16(60000)
	w.key("i16", Int16).u16(0xffff)
	w.key("u32", Uint32).u32(4000000000)
	w.key("i32", Int32).u32(0x80000000)
	w.key("f32", Float32).f32(0.1)
	w.key("bool", Bool).u8(1)
	w.key("bad bool", Bool).u8(2)
	w.key("string", String).text("grüß\nGott\x1b")
	w.key("empty", String).text("")
	w.key("long", String).text(strings.Repeat("x", 1000))
	w.key("u64", Uint64).u64(1<<64 - 1)
	w.key("i64", Int64).u64(1 << 63)
	w.key("f64", Float64).f64(1e300)
	w.array("strings", String, 3).text("a").text("").text("ccc")
	w.array("u16s", Uint16, 5).u16(1).u16(2).u16(3).u16(4).u16(65535)
	w.array("i64s", Int64, 2).u64(5).u64(1<<64 - 5)
	w.array("f32s", Float32, 2).f32(1.5).f32(-2)
	w.array("bools", Bool, 3).u8(1).u8(0).u8(1)
	w.array("none", Int32, 0)
	w.array("u64s", Uint64, 1).u64(1 << 63)
	return w
}

func TestAccessors(t *testing.T) {
	f, err := everyType().parse()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key   string
		get   any // an accessor
		want  any
		class Class
	}{
		{"u8", f.Uint, uint64(200), ""}, {"u8", f.Int, 200, ""}, {"u8", f.Float, 200.0, ""},
		{"i8", f.Int, -128, ""}, {"i8", f.Float, -128.0, ""}, {"i8", f.Uint, nil, ClassOutOfRange},
		{"u16", f.Int, 60000, ""}, {"i16", f.Int, -1, ""},
		{"u32", f.Uint, uint64(4000000000), ""}, {"i32", f.Int, -1 << 31, ""},
		{"u64", f.Uint, uint64(1<<64 - 1), ""}, {"u64", f.Int, nil, ClassOutOfRange}, {"u64", f.Float, nil, ClassOutOfRange},
		{"i64", f.Float, nil, ClassOutOfRange}, {"i64", f.Uint, nil, ClassOutOfRange},
		{"f32", f.Float, float64(float32(0.1)), ""}, {"f32", f.Int, nil, ClassWrongType}, {"f32", f.Uint, nil, ClassWrongType},
		{"f64", f.Float, 1e300, ""},
		{"bool", f.Bool, true, ""}, {"bad bool", f.Bool, nil, ClassOutOfRange}, {"bool", f.Int, nil, ClassWrongType}, {"u8", f.Bool, nil, ClassWrongType},
		{"string", f.String, "grüß\nGott\x1b", ""}, {"empty", f.String, "", ""}, {"u8", f.String, nil, ClassWrongType}, {"string", f.Float, nil, ClassWrongType},
		{"strings", f.Strings, []string{"a", "", "ccc"}, ""}, {"strings", f.String, nil, ClassWrongType}, {"string", f.Strings, nil, ClassWrongType},
		{"u16s", f.Ints, []int{1, 2, 3, 4, 65535}, ""}, {"u16s", f.Floats, []float64{1, 2, 3, 4, 65535}, ""}, {"u16s", f.Int, nil, ClassWrongType},
		{"i64s", f.Ints, []int{5, -5}, ""}, {"u64s", f.Ints, nil, ClassOutOfRange},
		{"f32s", f.Floats, []float64{1.5, -2}, ""}, {"f32s", f.Ints, nil, ClassWrongType},
		{"bools", f.Bools, []bool{true, false, true}, ""}, {"bools", f.Ints, nil, ClassWrongType}, {"u16s", f.Bools, nil, ClassWrongType},
		{"none", f.Ints, []int{}, ""}, {"none", f.Strings, nil, ClassWrongType},
		{"absent", f.Uint, nil, ClassMissingKey}, {"absent", f.Int, nil, ClassMissingKey}, {"absent", f.Float, nil, ClassMissingKey},
		{"absent", f.Bool, nil, ClassMissingKey}, {"absent", f.String, nil, ClassMissingKey}, {"absent", f.Strings, nil, ClassMissingKey},
		{"absent", f.Ints, nil, ClassMissingKey}, {"absent", f.Floats, nil, ClassMissingKey}, {"absent", f.Bools, nil, ClassMissingKey},
	} {
		out := reflect.ValueOf(c.get).Call([]reflect.Value{reflect.ValueOf(c.key)})
		err, _ := out[1].Interface().(error)
		what := c.key + " as " + out[0].Type().String()
		switch {
		case c.class != "":
			wantClass(t, what, err, c.class, c.key)
		case err != nil || !reflect.DeepEqual(out[0].Interface(), c.want):
			t.Errorf("%s: %v, %v, want %v", what, out[0], err, c.want)
		}
	}
}

func TestText(t *testing.T) {
	f, err := everyType().parse()
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"u8": "200", "i32": "-2147483648", "u64": "18446744073709551615", "i64": "-9223372036854775808",
		"f32": "0.1", "f64": "1e+300", "bool": "true", "string": `"grüß\nGott\x1b"`,
		"strings": `["a", "", "ccc"]`, "u16s": "[1, 2, 3, 4, … 5 in all]", "none": "[]", "bools": "[true, false, true]",
		"long":     `"` + strings.Repeat("x", 120) + `"… 1000 bytes in all`,
		"absent":   "gguf: absent: the file has no such key",
		"bad bool": "gguf: bad bool: a bool stored as 2 (at byte 182)",
	} {
		if got := f.Text(key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestDefault(t *testing.T) {
	f, err := everyType().parse()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Default(f.Int, "absent", 7); v != 7 || err != nil {
		t.Errorf("absent: %v, %v", v, err)
	}
	if v, err := Default(f.Int, "u8", 7); v != 200 || err != nil {
		t.Errorf("u8: %v, %v", v, err)
	}
	_, err = Default(f.Int, "string", 7)
	wantClass(t, "string", err, ClassWrongType, "string")
}

func TestIntPerLayer(t *testing.T) {
	f, err := everyType().parse()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := f.IntPerLayer("u8", 3); !reflect.DeepEqual(v, []int{200, 200, 200}) || err != nil {
		t.Errorf("u8: %v, %v", v, err)
	}
	if v, err := f.IntPerLayer("i64s", 2); !reflect.DeepEqual(v, []int{5, -5}) || err != nil {
		t.Errorf("i64s: %v, %v", v, err)
	}
	_, err = f.IntPerLayer("i64s", 3)
	wantClass(t, "i64s", err, ClassBadHyperparameter, "i64s")
	_, err = f.IntPerLayer("absent", 3)
	wantClass(t, "absent", err, ClassMissingKey, "absent")
}

// A NaN or an infinity in a key is a value like any other to the accessor.
func TestFloatSpecials(t *testing.T) {
	w := (&writer{}).head(2, 0, 2)
	w.key("nan", Float32).f32(float32(math.NaN()))
	w.key("inf", Float64).f64(math.Inf(-1))
	f, err := w.parse()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := f.Float("nan"); v == v || err != nil {
		t.Errorf("nan: %v, %v", v, err)
	}
	if v, err := f.Float("inf"); !math.IsInf(v, -1) || err != nil {
		t.Errorf("inf: %v, %v", v, err)
	}
}
