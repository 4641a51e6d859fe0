package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/kgen-wgsl/kgen/codegen/judge"
	kgenrt "github.com/kgen-wgsl/kgen/runtime"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

type vetVerb struct {
	flags
	Paths   []string      `arg:"" name:"package-or-file" help:"Generated packages: folders, or DIR/... for all below one; or .wgsl files."`
	Timeout time.Duration `default:"30s" help:"How long a validator may take for one kernel (${default})."`
}

func (vetVerb) Help() string {
	return `The validators are the commands tint and naga where they are on PATH, and every WebGPU library that is found, on its best adapter.
Libraries make the pipelines of packages' kernels too, as at run time. Each runs outside of this process: one that crashes or never
answers over a kernel is a finding. naga gets an empty line for "enable subgroups;", which it refuses and Tint requires; else a text
is judged as it is written. The validators are named, and those that are missing with how to get them. The status is 1 when one
refused a kernel, crashed or gave no answer, or no validator judged it. Example:

  kgen vet ./gen/... kernel.wgsl`
}

// vetLibraryVerb is the child process of vet in which a library judges.
type vetLibraryVerb struct {
	Library string `arg:"" optional:""`
}

func (v *vetLibraryVerb) Run(ctx context.Context, t *terminal) error {
	if err := judge.Serve(ctx, v.Library, t.stdin, os.Stdout); err != nil {
		return plainError{err}
	}
	return nil
}

// spawnSelf runs this program again as vetLibraryVerb.
func spawnSelf(program string) judge.Spawn {
	return func(ctx context.Context, library string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, program, "vet-library", library)
		cmd.Args[0] = os.Args[0]
		return cmd
	}
}

// vetReport is what vet finds.
type vetReport struct {
	Kernels    int            `json:"kernels"`
	Distinct   int            `json:"distinct"` // texts: kernels may share one
	Validators []vetValidator `json:"validators"`
	Missing    []vetMissing   `json:"missing"`
	Findings   []vetFinding   `json:"findings"`
}

type vetValidator struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"` // command or library
	Path      string `json:"path"`
	Adapter   string `json:"adapter,omitempty"`
	Passed    int    `json:"passed"`
	Refused   int    `json:"refused"`
	NotJudged int    `json:"not_judged"`
	Ended     int    `json:"ended"`     // kernels over which it crashed
	NoAnswer  int    `json:"no_answer"` // kernels over which it was stopped
	Mapped    int    `json:"mapped"`    // kernels that it got in naga's dialect
}

type vetMissing struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	Get  string `json:"get,omitempty"`
}

type vetFinding struct {
	File      string        `json:"file"`
	Line      int           `json:"line,omitempty"`
	Column    int           `json:"column,omitempty"`
	Validator string        `json:"validator"` // kgen for what needs no compiler
	Outcome   judge.Outcome `json:"outcome"`
	Message   string        `json:"message"`
	Detail    string        `json:"detail,omitempty"`
}

func (v *vetVerb) Run(ctx context.Context, t *terminal) error {
	v.apply(t)
	if v.Timeout <= 0 {
		return usagef("--timeout: %v is no time to judge anything in", v.Timeout)
	}
	r := vetReport{Validators: []vetValidator{}, Missing: []vetMissing{}, Findings: []vetFinding{}}
	texts, err := r.read(t, v.Paths)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return plainError{err}
	}
	found, missing := judge.Commands(ctx, v.Timeout)
	libraries, none := judge.Libraries(ctx, spawnSelf(program), v.Timeout)
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, m := range append(missing, none...) {
		r.Missing = append(r.Missing, vetMissing(m))
	}
	if err := r.judge(ctx, t, append(found, libraries...), texts); err != nil {
		return err
	}
	if v.JSON {
		err = t.printJSON(r)
	} else {
		err = r.print(t)
	}
	if err == nil && r.failed() {
		err = errReported
	}
	return err
}

// read collects the kernels that the arguments name, and finds those that are no WGSL whatever a compiler says.
func (r *vetReport) read(t *terminal, paths []string) ([]judge.Text, error) {
	var texts []judge.Text
	for _, path := range paths {
		if filepath.Ext(path) == ".wgsl" {
			data, err := readWGSL(path)
			if err != nil {
				return nil, err
			}
			texts = r.add(texts, judge.Text{Name: path, WGSL: string(data)})
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return nil, usagef("%s is neither a .wgsl file nor the folder of a generated package", path)
		}
		dirs, err := packageDirs([]string{path})
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			p, err := readPackage(dir)
			if err != nil {
				return nil, err
			}
			for _, name := range p.Edited {
				t.note("%s is not as it was generated", filepath.Join(dir, name))
			}
			seen := map[string]bool{}
			for _, v := range p.Variants {
				for _, k := range v.Kernels {
					if seen[k.Name] {
						continue
					}
					seen[k.Name] = true
					texts = r.add(texts, judge.Text{Name: filepath.Join(dir, "kernels", k.Name+".wgsl"), WGSL: k.Text, Kernel: &k})
				}
			}
		}
	}
	return texts, nil
}

// largestText is the most that is read of a file: a hundred times the largest kernel that kgen writes.
const largestText = 16 << 20

// readWGSL reads a file, up to more than is judged.
func readWGSL(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("%v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestText+1))
	if err != nil {
		return nil, usagef("%v", err)
	}
	return data, nil
}

// add counts a text, and appends it to those that validators are asked about. What can't be WGSL is a finding: compilers disagree
// about some of it, and a library would get it otherwise than it is.
func (r *vetReport) add(texts []judge.Text, text judge.Text) []judge.Text {
	r.Kernels++
	fault := faultOf(text.WGSL)
	if fault.Message == "" {
		return append(texts, text)
	}
	fault.File = text.Name
	r.Findings = append(r.Findings, fault)
	return texts
}

// faultOf says why a text can't be WGSL; it has no message if it can.
func faultOf(text string) vetFinding {
	fault := vetFinding{Validator: "kgen", Outcome: judge.Refused}
	at := strings.IndexByte(text, 0)
	switch {
	case len(text) > largestText:
		fault.Message = fmt.Sprintf("it has more than %d MiB; no validator was asked", largestText>>20)
	case strings.TrimSpace(text) == "":
		fault.Message = "it is empty"
	case at >= 0:
		fault.Message = "a NUL, which WGSL does not allow"
	case !utf8.ValidString(text):
		at = firstInvalid(text)
		fault.Message = "it is not UTF-8"
	}
	if fault.Message != "" && at >= 0 {
		fault.Line = strings.Count(text[:at], "\n") + 1
		fault.Column = at - strings.LastIndexByte(text[:at], '\n')
	}
	return fault
}

func firstInvalid(text string) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// judge asks all validators at once, each about every distinct text.
func (r *vetReport) judge(ctx context.Context, t *terminal, validators []judge.Validator, texts []judge.Text) error {
	distinct, of := deduplicate(texts)
	r.Distinct = len(distinct)
	verdicts := make([][]judge.Verdict, len(validators))
	failures := make([]error, len(validators))
	progress := t.progress()
	var lock sync.Mutex
	var all sync.WaitGroup
	done := 0
	for i, v := range validators {
		verdicts[i] = make([]judge.Verdict, len(distinct))
		all.Go(func() {
			failures[i] = v.Judge(ctx, distinct, func(at int, verdict judge.Verdict) {
				lock.Lock()
				defer lock.Unlock()
				verdicts[i][at] = verdict
				done++
				if progress != nil {
					progress(kgenrt.Progress{Stage: "judge", Done: int64(done), Total: int64(len(distinct) * len(validators))})
				}
			})
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	var rows []*vetValidator
	for i, v := range validators {
		row := &vetValidator{Name: v.Name(), Kind: v.Kind(), Path: v.Place(), Adapter: v.Adapter()}
		if rows = append(rows, row); failures[i] != nil {
			r.Missing = append(r.Missing, vetMissing{Name: v.Name(), Why: failures[i].Error()})
			rows[i] = nil
		}
	}
	for at, text := range texts {
		judged := false
		for i, row := range rows {
			if row == nil {
				continue
			}
			verdict := verdicts[i][of[at]]
			row.count(verdict)
			judged = judged || verdict.Outcome == judge.Passed || verdict.Outcome == judge.Refused
			if verdict.Outcome != judge.Passed {
				r.Findings = append(r.Findings, vetFinding{text.Name, verdict.Line, verdict.Column, row.Name, verdict.Outcome, verdict.Message, verdict.Detail})
			}
		}
		if !judged {
			r.Findings = append(r.Findings, vetFinding{File: text.Name, Validator: "kgen", Outcome: judge.NotJudged, Message: "judged by no validator"})
		}
	}
	for _, row := range rows {
		if row != nil {
			r.Validators = append(r.Validators, *row)
		}
	}
	return nil
}

// deduplicate returns the distinct ones of texts, and for each text the index of its like: with the same bytes, bound alike.
func deduplicate(texts []judge.Text) (distinct []judge.Text, of []int) {
	type key struct{ text, bound string }
	index := map[key]int{}
	for _, text := range texts {
		k := key{text: text.WGSL}
		if text.Kernel != nil {
			alike := *text.Kernel
			alike.Name, alike.Text = "", ""
			k.bound = fmt.Sprintf("%+v", alike)
		}
		at, ok := index[k]
		if !ok {
			at = len(distinct)
			index[k] = at
			distinct = append(distinct, text)
		}
		of = append(of, at)
	}
	return distinct, of
}

func (row *vetValidator) count(v judge.Verdict) {
	switch v.Outcome {
	case judge.Passed:
		row.Passed++
	case judge.Refused:
		row.Refused++
	case judge.NotJudged:
		row.NotJudged++
	case judge.Ended:
		row.Ended++
	case judge.NoAnswer:
		row.NoAnswer++
	}
	if v.Mapped {
		row.Mapped++
	}
}

// failed says whether a finding counts: that one validator of several could not judge a kernel does not.
func (r *vetReport) failed() bool {
	for _, f := range r.Findings {
		if f.Outcome != judge.NotJudged || f.Validator == "kgen" {
			return true
		}
	}
	return false
}

// print prints a line for each finding, and one for each validator.
func (r *vetReport) print(t *terminal) error {
	type reason struct{ validator, message string }
	skipped := map[reason][]string{} // what a validator could not judge, together
	var reasons []reason
	for _, f := range r.Findings {
		if f.Outcome == judge.NotJudged {
			why := reason{f.Validator, f.Message}
			if skipped[why] == nil {
				reasons = append(reasons, why)
			}
			skipped[why] = append(skipped[why], f.File)
			continue
		}
		at := f.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
		}
		fmt.Fprintf(t.stdout, "%s: %s: %s\n", at, f.Validator, f.Message)
	}
	for _, why := range reasons {
		const shown = 3
		files := skipped[why]
		list := strings.Join(files[:min(shown, len(files))], ", ")
		if len(files) > shown {
			list += fmt.Sprintf(" and %d more", len(files)-shown)
		}
		if why.validator == "kgen" {
			fmt.Fprintf(t.stdout, "%s: %s\n", why.message, list)
		} else {
			fmt.Fprintf(t.stdout, "not judged by %s, %s: %s\n", why.validator, why.message, list)
		}
	}
	w := tabwriter.NewWriter(t.stdout, 0, 0, 2, ' ', 0)
	for _, v := range r.Validators {
		about := "command"
		if v.Kind == "library" {
			about = "on " + v.Adapter
		}
		fmt.Fprintf(w, "%s, %s\t%d passed, %d refused", v.Name, about, v.Passed, v.Refused)
		for _, rest := range []struct {
			n    int
			what string
		}{{v.NotJudged, "not judged"}, {v.Ended, "crashed it"}, {v.NoAnswer, "without answer"}} {
			if rest.n > 0 {
				fmt.Fprintf(w, ", %d %s", rest.n, rest.what)
			}
		}
		if v.Mapped > 0 {
			fmt.Fprintf(w, "; %d of them without the line %q", v.Mapped, strings.TrimSpace(plan.EnableSubgroups))
		}
		fmt.Fprintln(w)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "%s\tmissing: %s\n", cmp.Or(m.Name, "a library"), strings.TrimSpace(m.Why))
		if m.Get != "" {
			fmt.Fprintf(w, "\tto get it: %s\n", m.Get)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	kernels := "kernels"
	if r.Kernels == 1 {
		kernels = "kernel"
	}
	_, err := fmt.Fprintf(t.stdout, "%d %s, %d distinct\n", r.Kernels, kernels, r.Distinct)
	return err
}
