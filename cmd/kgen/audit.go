package main

import (
	"strings"
)

type auditVerb struct {
	flags
	Paths       []string `arg:"" name:"package-or-file" help:"Generated packages: folders; .wgsl, .wasm, .js, .mjs, .ts and .html files; or DIR/... for all of them below one."`
	Profile     []string `default:"portable" sep:"," placeholder:"A,B" help:"The device profiles to hold them to (${default}): ${profiles}."`
	Unreachable string   `placeholder:"FILE" help:"A list of kernels that are never dispatched: they are shown, and don't count."`
}

func (auditVerb) Help() string {
	return `For each package and profile it takes the variants that a device of that profile would get, and holds each of their kernels to the
profile's limits. Bindings are counted in the kernel's text too.

Of a file, each entry point is a row: the storage and uniform buffers that it uses, itself or by the functions that it calls, as
WebGPU counts them; its workgroup's memory, invocations and size; the sizes of its bindings. Texts are found in the data of .wasm files
and in the string literals of scripts, and are named FILE#OFFSET and FILE#LINE. What can't be judged is said with its place: texts that
a program puts together when it runs, templates, sizes that an override without a default decides. A text with textures, matrices or
stages of rendering is counted too, but its types are not checked. Below DIR, folders named node_modules, vendor or testdata are left
out, and those whose names begin with a dot or an underscore.

A line of the list of unreachable kernels is the name of a kernel, an entry point or a .wgsl file, without .wgsl; * in it stands for
anything, and # begins a comment.

The status is 1 when a kernel is over a limit, a text has a mistake, a package's file was edited since it was generated, no variant serves a
profile, or nothing was judged. Examples:

  kgen audit ./gen/... --profile portable,chrome
  kgen audit kernels/*.wgsl --profile portable,firefox-metal,chrome
  kgen audit model-webgpu.wasm dist/app.js --unreachable unreachable.txt --json`
}

// auditRow is a kernel with what it takes: of variants that a profile's devices get, or an entry point of a file's text.
type auditRow struct {
	Package        string   `json:"package"`
	Profile        string   `json:"profile"`
	Variants       []string `json:"variants"`
	Kernel         string   `json:"kernel"`
	Storage        int      `json:"storage_bindings"`
	Uniform        int      `json:"uniform_bindings"`
	WorkgroupBytes int      `json:"workgroup_bytes"`
	Invocations    int      `json:"invocations"`
	Over           string   `json:"over,omitempty"`  // the limit that it is over
	Fault          string   `json:"fault,omitempty"` // how the text differs from what the package says of it

	File        string   `json:"file,omitempty"` // the text's name, of texts outside of packages
	Line        int      `json:"line,omitempty"` // in the text
	Entry       string   `json:"entry,omitempty"`
	Stage       string   `json:"stage,omitempty"` // where it isn't compute
	Workgroup   []int    `json:"workgroup,omitempty"`
	Unknown     []string `json:"unknown,omitempty"` // what could not be determined, and counts as 0
	Notes       []string `json:"notes,omitempty"`
	Unreachable bool     `json:"unreachable,omitempty"`

	table string // what the rows of its table have in common
}

// auditPlace is a place in a file, and what is to be said of it.
type auditPlace struct {
	File        string `json:"file"`
	Line        int    `json:"line,omitempty"`
	Column      int    `json:"column,omitempty"`
	Message     string `json:"message"`
	Unreachable bool   `json:"unreachable,omitempty"` // all entry points of the text are
}

// auditReport is what audit finds.
type auditReport struct {
	Kernels  []auditRow `json:"kernels"`
	Unserved []unserved `json:"unserved"` // profiles that no variant of a package serves
	Edited   []string   `json:"edited"`   // files that are not as they were made
	Over     int        `json:"over"`     // kernels over a limit
	Faults   int        `json:"faults"`

	Mistakes    []auditPlace `json:"mistakes"`    // in texts
	NotJudged   []auditPlace `json:"not_judged"`  // texts of which nothing could be counted
	Unreachable int          `json:"unreachable"` // kernels that are never dispatched
	Incomplete  int          `json:"incomplete"`  // kernels of which something is unknown
}

type unserved struct {
	Package string `json:"package"`
	Profile string `json:"profile"`
	Why     string `json:"why"`
}

func (v *auditVerb) Run(t *terminal) error {
	v.apply(t)
	patterns, err := readUnreachable(t, v.Unreachable)
	if err != nil {
		return err
	}
	dirs, files, err := auditInputs(v.Paths)
	if err != nil {
		return err
	}
	profiles, err := lookupProfiles(v.Profile)
	if err != nil {
		return err
	}
	r := &auditReport{Kernels: []auditRow{}, Unserved: []unserved{}, Edited: []string{}, Mistakes: []auditPlace{}, NotJudged: []auditPlace{}}
	if err := r.readPackages(dirs, profiles); err != nil {
		return err
	}
	packages := len(r.Kernels)
	for _, f := range files {
		if err := r.readFile(f, profiles); err != nil {
			return err
		}
	}
	arrange(r.Kernels[packages:], profiles)
	if err := r.mark(patterns); err != nil {
		return err
	}
	r.count()
	if v.JSON {
		err = t.printJSON(r)
	} else {
		r.print(t)
	}
	if err == nil && r.failed() {
		err = errReported
	}
	return err
}

// count counts what the status depends on, and kernels, once for all profiles. One that is never dispatched counts as that alone.
func (r *auditReport) count() {
	unreachable, incomplete := map[string]bool{}, map[string]bool{}
	for _, row := range r.Kernels {
		name := strings.Join([]string{row.Package, row.File, row.Kernel}, "\x00")
		if row.Unreachable {
			unreachable[name] = true
			continue
		}
		if row.Over != "" {
			r.Over++
		}
		if row.Fault != "" {
			r.Faults++
		}
		if len(row.Unknown) > 0 {
			incomplete[name] = true
		}
	}
	r.Unreachable, r.Incomplete = len(unreachable), len(incomplete)
}

func (r *auditReport) failed() bool {
	return r.Over+r.Faults+len(r.Unserved)+len(r.Edited)+r.mistakes() > 0 || len(r.Kernels) == 0
}

// mistakes counts those in texts that are not known to be unreachable.
func (r *auditReport) mistakes() int {
	n := 0
	for _, m := range r.Mistakes {
		if !m.Unreachable {
			n++
		}
	}
	return n
}
