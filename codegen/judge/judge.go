package judge

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Text is a WGSL text to be judged.
type Text struct {
	Name   string // for messages: the path of its file
	WGSL   string
	Kernel *plan.Kernel // set when it is known how it is bound: libraries then make its pipeline, as at run time
}

// Outcome is what came of asking a validator.
type Outcome string

// The outcomes.
const (
	Passed    Outcome = "passed"
	Refused   Outcome = "refused"
	NotJudged Outcome = "not judged" // the validator lacks what the text needs, or was given up
	Ended     Outcome = "ended"      // the validator crashed
	NoAnswer  Outcome = "no answer"  // it was stopped after the time-out
)

// Verdict is what a validator says of a text.
type Verdict struct {
	Outcome Outcome
	Line    int    // from 1; 0 when the validator gives none
	Column  int    // from 1, as the validator counts
	Message string // one line
	Detail  string // all it said
	Mapped  bool   // it got plan.Naga's dialect of the text, which is not the text
}

// Validator judges texts.
type Validator interface {
	// Name is its name with the version, where it tells one.
	Name() string
	// Kind says how it is run: "command" or "library".
	Kind() string
	// Place is the file that it is run or loaded from.
	Place() string
	// Adapter is the one that a library compiles for, "" for a command.
	Adapter() string
	// Judge calls report once for each text with its index, from several goroutines at once. The error is the context's, or
	// says that the validator can't be asked at all.
	Judge(ctx context.Context, texts []Text, report func(int, Verdict)) error
}

// Missing is a validator that can't be asked.
type Missing struct {
	Name string
	Why  string
	Get  string // how to get it
}

// patience is how many answers a validator may fail to give before it is given up.
const patience = 3

func givenUp() Verdict {
	return Verdict{Outcome: NotJudged, Message: "it gave no answer " + strconv.Itoa(patience) + " times before"}
}

// dialect is the text as a validator gets it.
func dialect(text string, naga bool) (mapped string, changed bool) {
	if !naga {
		return text, false
	}
	mapped = plan.Naga(text)
	return mapped, mapped != text
}

var (
	colour   = regexp.MustCompile("\x1b\\[[0-9;]*m")
	tintSays = regexp.MustCompile(`(?m):(\d+):(\d+) error: (.+)$`)
	nagaSays = regexp.MustCompile(`(?m)(?:^|parsing |validation )error: (.+)$`)
	nagaAt   = regexp.MustCompile(`(?m)^\s*┌─ .*:(\d+):(\d+)\s*$`)
	caused   = regexp.MustCompile(`^Validation Error\s+Caused by:\s+In [^\n]*\n`) // of wgpu-native
	nagaNote = regexp.MustCompile(`(?m)^\s*= (.+)$`)
)

// refusal is the verdict behind what a compiler printed.
func refusal(output string) Verdict {
	output = strings.TrimSpace(colour.ReplaceAllString(output, ""))
	v := Verdict{Outcome: Refused, Detail: output}
	tint, naga := tintSays.FindStringIndex(output), nagaSays.FindStringIndex(output)
	if tint != nil && (naga == nil || tint[0] < naga[0]) { // what comes later is the text, which they quote
		m := tintSays.FindStringSubmatch(output)
		v.Line, v.Column, v.Message = number(m[1]), number(m[2]), m[3]
	} else if m := nagaSays.FindStringSubmatch(output); m != nil {
		v.Message = m[1]
		for _, note := range nagaNote.FindAllStringSubmatch(output, -1) {
			if !strings.HasPrefix(note[1], "note: ") { // advice to naga's authors
				v.Message += "; " + note[1]
			}
		}
		if at := nagaAt.FindStringSubmatch(output); at != nil {
			v.Line, v.Column = number(at[1]), number(at[2])
		}
	} else if said := caused.ReplaceAllString(output, ""); said != output {
		v.Message = strings.Join(strings.Fields(said), " ")
	} else {
		v.Message, _, _ = strings.Cut(output, "\n")
	}
	v.Message = printable(v.Message)
	if v.Message == "" {
		v.Message = "it gave no reason"
	}
	return v
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// printable makes one short line of what a compiler said: it may repeat any byte of the text.
func printable(s string) string {
	const most = 500
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.TrimSpace(strings.ToValidUTF8(s, string(unicode.ReplacementChar))))
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "..."
	}
	return s
}

// capped keeps the first bytes of what is written to it.
type capped struct {
	kept []byte
	most int
}

func (c *capped) Write(p []byte) (int, error) {
	c.kept = append(c.kept, p[:min(len(p), c.most-len(c.kept))]...)
	return len(p), nil
}
