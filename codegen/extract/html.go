package extract

import "regexp"

// HTML finds the texts in the scripts of a page: in those of JavaScript as Script does, and in those of another type, such as
// <script type="x-shader/x-wgsl">, as they stand.
func HTML(data []byte) []Text {
	var texts []Text
	for at := 0; ; {
		open := scriptTag.FindIndex(data[at:])
		if open == nil {
			texts = distinct(texts)
			place(data, texts)
			return texts
		}
		tag, start := data[at+open[0]:at+open[1]], at+open[1]
		end := len(data)
		if i := scriptEnd.FindIndex(data[start:]); i != nil {
			end = start + i[0]
		}
		if of := scriptType.FindSubmatch(tag); of == nil || javaScript.Match(of[1]) {
			for _, t := range literals(data[start:end]) {
				t.Offset += start
				texts = append(texts, t)
			}
		} else {
			for _, t := range scan(data[start:end], start) {
				t.Place = ""
				texts = append(texts, t)
			}
		}
		at = end
	}
}

var (
	scriptTag  = regexp.MustCompile(`(?i)<script\b[^>]*>`)
	scriptEnd  = regexp.MustCompile(`(?i)</script`)
	scriptType = regexp.MustCompile(`(?i)\btype\s*=\s*["']?([^"'\s>]*)`)
	javaScript = regexp.MustCompile(`(?i)^$|^module$|javascript|ecmascript|typescript|babel|jsx|json|importmap`)
)
