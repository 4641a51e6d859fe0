package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/extract"
	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/codegen/outline"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// auditFile is a file that may hold WGSL. One that was named has to.
type auditFile struct {
	path  string
	named bool
}

// auditKinds are the files that audit reads, by what they hold.
var auditKinds = map[string]string{
	".wgsl": "wgsl", ".wasm": "wasm", ".html": "page", ".htm": "page",
	".js": "script", ".mjs": "script", ".cjs": "script", ".jsx": "script", ".ts": "script", ".mts": "script", ".cts": "script", ".tsx": "script",
}

const auditKindNames = ".wgsl, .wasm, .js, .mjs, .ts and .html files"

// auditInputs lists the packages and files that arguments name.
func auditInputs(paths []string) (dirs []string, files []auditFile, err error) {
	for _, path := range paths {
		if root, below := strings.CutSuffix(filepath.ToSlash(path), "/..."); below {
			packages, found, err := filesBelow(root)
			if err != nil {
				return nil, nil, usagef("look for packages and files below %s: %v", root, err)
			}
			if len(packages)+len(found) == 0 {
				return nil, nil, usagef("below %s is no generated package, and none of %s", root, auditKindNames)
			}
			dirs, files = append(dirs, packages...), append(files, found...)
			continue
		}
		info, err := os.Stat(path)
		switch kind := auditKinds[strings.ToLower(filepath.Ext(path))]; {
		case err == nil && info.IsDir() && !isPackage(path):
			return nil, nil, usagef("%s has no %s: it is no generated package; %s/... stands for the files with WGSL below it", path, golang.ManifestName, path)
		case err == nil && info.IsDir(), err != nil && kind == "":
			dirs = append(dirs, path)
		case err != nil:
			return nil, nil, usagef("%v", err)
		case kind == "":
			return nil, nil, usagef("%s is a file: audit takes the folders of generated packages, and %s", path, auditKindNames)
		default:
			files = append(files, auditFile{path, true})
		}
	}
	return dirs, files, nil
}

// isPackage tells whether a folder was made by gen.
func isPackage(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, golang.ManifestName))
	return err == nil
}

// filesBelow lists packages, and the files outside of them. Folders that the go command passes over are none of the product's.
func filesBelow(root string) (packages []string, files []auditFile, err error) {
	if packages, err = golang.Packages(root); err != nil {
		return nil, nil, err
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() {
			passed := path != root && (name[0] == '.' || name[0] == '_' || name == "node_modules" || name == "vendor" || name == "testdata")
			if passed || slices.Contains(packages, filepath.Clean(path)) {
				return fs.SkipDir
			}
			return nil
		}
		if e.Type().IsRegular() && auditKinds[strings.ToLower(filepath.Ext(name))] != "" {
			files = append(files, auditFile{path, false})
		}
		return nil
	})
	return packages, files, err
}

// largestProgram is the most that is read of a .wasm file or a script.
const largestProgram = 256 << 20

// readFile audits the texts in a file.
func (r *auditReport) readFile(f auditFile, profiles []schedules.Profile) error {
	kind := auditKinds[strings.ToLower(filepath.Ext(f.path))]
	data, err := readAtMost(f.path, largestProgram)
	if err != nil {
		return err
	}
	if kind == "wgsl" {
		r.addText(f.path, f.path, string(data), profiles)
		return nil
	}
	var texts []extract.Text
	switch {
	case len(data) > largestProgram:
		r.Mistakes = append(r.Mistakes, auditPlace{File: f.path, Message: fmt.Sprintf("it has more than %d MiB", largestProgram>>20)})
		return nil
	case kind == "wasm":
		texts, err = extract.Wasm(data)
	case kind == "page":
		texts = extract.HTML(data)
	default:
		texts = extract.Script(data)
	}
	for _, text := range texts {
		if name := f.path + "#" + text.Place; text.Why != "" {
			r.NotJudged = append(r.NotJudged, auditPlace{File: name, Message: text.Why})
		} else {
			r.addText(f.path, name, text.WGSL, profiles)
		}
	}
	switch {
	case err != nil:
		r.Mistakes = append(r.Mistakes, auditPlace{File: f.path, Message: err.Error()})
	case len(texts) == 0 && f.named:
		r.Mistakes = append(r.Mistakes, auditPlace{File: f.path, Message: "no WGSL with a compute entry point is in it: name the file that makes the pipelines, or the model library"})
	}
	return nil
}

func readAtMost(path string, largest int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("%v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err != nil {
		return nil, usagef("%v", err)
	}
	return data, nil
}

// addText audits a text: a row for each profile and entry point.
func (r *auditReport) addText(container, name, text string, profiles []schedules.Profile) {
	if fault := faultOf(text); fault.Message != "" {
		r.Mistakes = append(r.Mistakes, auditPlace{File: name, Line: fault.Line, Column: fault.Column, Message: fault.Message})
		return
	}
	o := outline.Read(text)
	if p := o.Template; p != nil {
		message := fmt.Sprintf("a template: %q is no WGSL, and decides what is declared when the program runs", p.Text)
		r.NotJudged = append(r.NotJudged, auditPlace{File: name, Line: p.Line, Column: p.Column, Message: message})
		return
	}
	unchecked := r.check(name, text, o, container != name)
	if len(o.Entries) == 0 {
		r.NotJudged = append(r.NotJudged, auditPlace{File: name, Message: "it has no entry point"})
	}
	for _, p := range profiles {
		for _, e := range o.Entries {
			row := auditEntry(e, o, p)
			row.table, row.File, row.Profile = container, name, p.Name
			if container == name {
				row.table = filepath.Join(filepath.Dir(name), "*.wgsl")
			}
			if unchecked != "" {
				row.Notes = append(row.Notes, unchecked)
			}
			r.Kernels = append(r.Kernels, row)
		}
	}
}

// check looks for mistakes in a text. It returns why it could not look at all of it, if so: a text of a program may have names for which
// the program puts something else.
func (r *auditReport) check(name, text string, o *outline.Outline, program bool) (unchecked string) {
	if program && len(o.Missing) > 0 {
		return "types are not checked: the text declares no " + strings.Join(o.Missing, ", ") + "; the program may put something in its place"
	}
	_, divergent, err := wgsl.ParseLenient(name, text)
	mistakes := append(divergent, typed(err)...)
	for _, m := range mistakes {
		if m.Outside || len(o.Outside) > 0 {
			unchecked = fmt.Sprintf("types are not checked: %s", m.Error())
			continue
		}
		r.Mistakes = append(r.Mistakes, auditPlace{File: name, Line: m.Pos.Line, Column: m.Pos.Column, Message: m.Message})
	}
	if unchecked == "" {
		return ""
	}
	for _, s := range o.Skipped {
		r.Mistakes = append(r.Mistakes, auditPlace{File: name, Line: s.Line, Column: s.Column, Message: s.Text})
	}
	return unchecked
}

// typed lists the mistakes in an error of the parser, which may be several joined.
func typed(err error) []*wgsl.Error {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*wgsl.Error
		for _, e := range several.Unwrap() {
			all = append(all, typed(e)...)
		}
		return all
	}
	var one *wgsl.Error
	if errors.As(err, &one) {
		return []*wgsl.Error{one}
	}
	return nil
}

// auditEntry holds an entry point to the limits of a profile.
func auditEntry(e outline.Entry, o *outline.Outline, p schedules.Profile) auditRow {
	row := auditRow{
		Variants: []string{}, Kernel: e.Name, Entry: e.Name, Line: e.Line, Storage: e.Count(outline.Storage), Uniform: e.Count(outline.Uniform),
		WorkgroupBytes: clamp(e.WorkgroupBytes), Unknown: e.Unknown,
	}
	var binding, uniform uint64
	others := 0
	for _, b := range e.Bindings {
		switch b.Space {
		case outline.Storage:
			binding = max(binding, b.Bytes)
		case outline.Uniform:
			uniform = max(uniform, b.Bytes)
		default:
			others++
		}
	}
	needs := []plan.Limits{
		{StorageBuffers: row.Storage}, {UniformBuffers: row.Uniform}, {BindingBytes: binding}, {UniformBytes: uniform}, {WorkgroupBytes: row.WorkgroupBytes},
	}
	if e.Stage == "compute" {
		row.Workgroup, row.Invocations = e.Workgroup[:], clamp(product(e.Workgroup))
		needs = append(needs, plan.Limits{Invocations: row.Invocations},
			plan.Limits{WorkgroupX: e.Workgroup[0]}, plan.Limits{WorkgroupY: e.Workgroup[1]}, plan.Limits{WorkgroupZ: e.Workgroup[2]})
	} else {
		row.Stage = e.Stage
	}
	var over []string
	for _, need := range needs {
		if err := (plan.Requires{Limits: need}).Check(auditDevice(p)); err != nil {
			over = append(over, err.Error())
		}
	}
	row.Over = strings.Join(over, "; ")
	row.notes(e, o, p, others)
	return row
}

// arrange puts the rows of files into tables: one for each profile, of the .wgsl files of a folder or the texts of a program.
func arrange(rows []auditRow, profiles []schedules.Profile) {
	tables := map[string]int{}
	for _, row := range rows {
		for _, p := range profiles {
			if key := row.table + "\x00" + p.Name; tables[key] == 0 {
				tables[key] = len(tables) + 1
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b auditRow) int {
		return tables[a.table+"\x00"+a.Profile] - tables[b.table+"\x00"+b.Profile]
	})
}

// notes says what else there is to know of an entry point.
func (row *auditRow) notes(e outline.Entry, o *outline.Outline, p schedules.Profile, others int) {
	for _, a := range e.Assumed {
		row.Notes = append(row.Notes, "counted with "+a+", its default")
	}
	if others > 0 {
		row.Notes = append(row.Notes, fmt.Sprintf("bindings that are no buffers are not held to limits: %d", others))
	}
	if slices.Contains(o.Features, "f16") && !p.F16 {
		row.Notes = append(row.Notes, "it enables f16, which devices of the profile may lack")
	}
	if slices.Contains(o.Features, "subgroups") && !p.Subgroups {
		row.Notes = append(row.Notes, "it enables subgroups, which devices of the profile may lack")
	}
}

// product of the sizes of a workgroup. Each is below 2^31: three of them may be more than there are numbers.
func product(size [3]int) uint64 {
	xy := uint64(size[0]) * uint64(size[1])
	if size[2] > 0 && xy > math.MaxInt64/uint64(size[2]) {
		return math.MaxInt64
	}
	return xy * uint64(size[2])
}

// clamp is n, or the largest number on any machine.
func clamp(n uint64) int { return int(min(n, math.MaxInt32)) }
