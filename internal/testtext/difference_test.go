package testtext

import (
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	for _, c := range []struct{ want, got, text string }{
		{"", "", ""},
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\n", "a\r\nb\n", `byte 1, in line 1: want "a\nb\n", got "a\r\nb\n"`},
		{"a\nb\n", "a\nc\n", `byte 2, in line 2: want "b\n", got "c\n"`},
		{"a\nb", "a\nb\n", `byte 3, in line 2: want the end after "b", got "b\n"`},
		{"a\n", "", `byte 0, in line 1: want "a\n", got the end after ""`},
		{"x\ty\u00a0z", "x\ty z", `byte 3, in line 1: want "x\ty\u00a0z", got "x\ty z"`},
	} {
		if got := Difference(c.want, c.got); got != c.text {
			t.Errorf("%q and %q: %s, want %s", c.want, c.got, got, c.text)
		}
	}
	long := strings.Repeat("x", 1000)
	if got := Difference(long+"a"+long, long+"b"+long); len(got) > 300 {
		t.Errorf("%d bytes about a difference of one: %s", len(got), got)
	}
}
