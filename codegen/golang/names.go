package golang

import (
	"go/token"
	"strconv"
	"strings"
	"unicode"
)

// identifier writes a name of a graph, file or kernel as Go does: attn_norm becomes attnNorm, gemv_q4_1_960x576 becomes
// gemvQ4_1_960x576. An underscore stays where two digits would meet.
func identifier(name string) string {
	parts := strings.FieldsFunc(name, func(c rune) bool { return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	s := ""
	for _, part := range parts {
		switch {
		case s == "":
			s = part
		case isDigit(s[len(s)-1]) && isDigit(part[0]):
			s += "_" + part
		case part == "kv":
			s += "KV"
		default:
			s += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	if s == "" || isDigit(s[0]) {
		s = "x" + s
	}
	return s
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// jointName is the name of what lies side by side: attn_q, attn_k and attn_v become attnQKV. Parts of the first, such as x.q8.d
// of x.q8, add nothing to its name.
func jointName(names []string) string {
	first, rest := names[0], names[1:]
	prefix := first[:strings.LastIndexAny(first, "._")+1]
	joint, parts := first, true
	for _, name := range rest {
		parts = parts && strings.HasPrefix(name, first+".")
		if !strings.HasPrefix(name, prefix) {
			prefix = ""
		}
		joint += "_" + strings.TrimPrefix(name, prefix)
	}
	if parts {
		return identifier(first)
	}
	return identifier(joint)
}

// layerPrefix is the part of a name that says which layer it belongs to, such as blk.7. of blk.7.attn_q.weight.
func layerPrefix(name string, layer int) (prefix, rest string, ok bool) {
	for _, family := range []string{"blk.", "layer."} {
		if rest, ok := strings.CutPrefix(name, family+strconv.Itoa(layer)+"."); ok {
			return family, rest, true
		}
	}
	return "", name, false
}

// inLayer drops the layer from the name of a value or weight, whichever layer it is.
func inLayer(name string) string {
	family, rest, ok := strings.Cut(name, ".")
	number, part, more := strings.Cut(rest, ".")
	if _, err := strconv.Atoi(number); ok && more && err == nil && (family == "blk" || family == "layer") {
		return part
	}
	return name
}

// valuesName names a range after the values that lie in it. The residual stream is what a layer has as its input.
func valuesName(values []string) string {
	short := make([]string, len(values))
	for i, v := range values {
		if short[i] = inLayer(v); short[i] == "in" {
			short[i] = "residual"
		}
	}
	return jointName(short)
}

// weightsName names a stack after its tensors: biases of attn_q and attn_k are attnQKBias.
func weightsName(tensors []string) string {
	short := make([]string, len(tensors))
	biases := 0
	for i, t := range tensors {
		name, bias := strings.CutSuffix(inLayer(t), ".bias")
		if short[i] = strings.TrimSuffix(name, ".weight"); bias {
			biases++
		}
	}
	if biases == len(tensors) {
		return jointName(short) + "Bias"
	}
	return jointName(short)
}

// scope gives out identifiers, each once.
type scope map[string]bool

// newScope returns a scope where some names are taken already.
func newScope(taken ...string) scope {
	s := scope{}
	for _, name := range taken {
		s[name] = true
	}
	return s
}

// claim returns the name, or the name with the first number that makes it new.
func (s scope) claim(name string) string {
	free, stem := name, name
	if isDigit(name[len(name)-1]) {
		stem += "_"
	}
	for n := 2; s[free] || token.IsKeyword(free) || predeclared[free]; n++ {
		free = stem + strconv.Itoa(n)
	}
	s[free] = true
	return free
}

// predeclared are the identifiers of the language that generated code uses or would be hard to read without.
var predeclared = map[string]bool{
	"append": true, "error": true, "false": true, "int": true, "len": true, "make": true, "new": true, "nil": true,
	"range": true, "string": true, "true": true, "uint": true, "copy": true, "max": true, "min": true, "init": true, "main": true,
}
