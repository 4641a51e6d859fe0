package chat

import (
	"strings"

	"github.com/ardanlabs/jinja"
)

// strftimeLayouts are the conversions of Python's strftime that templates use, as Go layouts.
var strftimeLayouts = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
	'B': "January", 'b': "Jan", 'h': "Jan", 'A': "Monday", 'a': "Mon", 'j': "002", 'Z': "MST", 'z': "-0700",
	'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'R': "15:04",
}

// strftime is strftime_now(format): the time of the rendering.
func (r *run) strftime(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsString() {
		return jinja.None(), errorf(ClassRender, 0, "strftime_now needs a format")
	}
	format := args[0].AsString()
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		c, plain := format[i], false
		if c == '-' && i+1 < len(format) { // without leading zeros
			i++
			c, plain = format[i], true
		}
		layout, ok := strftimeLayouts[c]
		switch {
		case c == '%':
			b.WriteByte('%')
		case !ok:
			return jinja.None(), errorf(ClassUnsupported, 0, "strftime_now with %%%c", c)
		case plain:
			s := r.now.Format(layout)
			b.WriteString(strings.TrimLeft(s[:len(s)-1], "0 ") + s[len(s)-1:])
		default:
			b.WriteString(r.now.Format(layout))
		}
	}
	return jinja.NewString(b.String()), nil
}
