package main

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// packageFlags say which package is generated, and where it is.
type packageFlags struct {
	flags
	Model    string   `xor:"source" placeholder:"PRESET" help:"Generate for a preset; kgen models lists them."`
	GGUF     string   `name:"gguf" xor:"source" placeholder:"FILE" help:"Generate for the model of a GGUF file, whose header is read."`
	Profiles []string `name:"profile" default:"portable,subgroups" sep:"," placeholder:"A,B" help:"Device profiles to make variants for (${default}): ${profiles}."`
	Ctx      int      `placeholder:"N" help:"Positions that the KV cache holds: at most the model's. The default is the model's or 8192, whichever is less."`
	Out      string   `type:"path" placeholder:"DIR" help:"The folder of the package. The default is the model's name, here."`
	Package  string   `placeholder:"NAME" help:"The package's name. The default is that of the Go files in the folder, else the folder's name."`
}

// generated is a package in memory and the folder for it.
type generated struct {
	files golang.Files
	dir   string
}

// generate makes the package in memory.
func (f *packageFlags) generate(ctx context.Context, t *terminal) (*generated, error) {
	f.apply(t)
	spec, err := f.spec()
	if err != nil {
		return nil, err
	}
	g := &generated{dir: spec.Name}
	if f.Out != "" {
		g.dir = f.Out
		name, err := f.packageName()
		if err != nil {
			return nil, err
		}
		if name != spec.Name {
			spec.Name = name
			spec.Command += " --out " + quoted(filepath.Base(f.Out))
		}
	}
	if f.Package != "" {
		spec.Name = f.Package
		spec.Command += " --package " + f.Package
	}
	if show := t.progress(); show != nil {
		spec.Progress = func(done, total int) {
			show(kgenrt.Progress{Stage: "variants", Done: int64(done), Total: int64(total)})
		}
	}
	pkg, err := golang.Compile(ctx, spec)
	if err != nil {
		return nil, err
	}
	if g.files, err = golang.Generate(pkg); err != nil && !is[*golang.BrokenError](err) {
		err = usagef("%v", err) // names that no package can have
	}
	return g, err
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// packageName is the name of the package in the folder that is written to: that of the Go files there, so that what is generated
// builds with them, else the folder's.
func (f *packageFlags) packageName() (string, error) {
	files, err := filepath.Glob(filepath.Join(f.Out, "*.go"))
	if err != nil {
		return "", usagef("--out: %v", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_kgen.go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly)
		if err != nil {
			continue // its author will hear of it from the compiler
		}
		if parsed.Name.Name == "main" {
			return "", usagef("--out: %s holds package main, and a program can't be imported: give a folder of its own", f.Out)
		}
		return parsed.Name.Name, nil
	}
	return golang.PackageName(filepath.Base(f.Out)), nil
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// spec says what the flags ask for.
func (f *packageFlags) spec() (golang.Spec, error) {
	var s golang.Spec
	profiles, err := lookupProfiles(f.Profiles)
	if err != nil {
		return s, err
	}
	var longest int
	switch {
	case f.Model != "":
		p, err := models.LookupPreset(f.Model)
		if err != nil {
			return s, usagef("--model: %v", err)
		}
		s, longest = golang.ForModel(p.Name, p.About, p.Hyperparameters, profiles), p.Context
	case f.GGUF != "":
		file, err := kgen.OpenFile(f.GGUF)
		if err != nil {
			return s, err
		}
		defer file.Close()
		base := filepath.Base(f.GGUF)
		h := file.Hyperparameters
		s, longest = golang.ForModel(strings.TrimSuffix(base, filepath.Ext(base)), "The model of "+base, h, profiles), h.Context
		var names []string
		for _, p := range profiles {
			names = append(names, p.Name)
		}
		s.Command = "kgen gen --gguf " + quoted(base) + " --profile " + strings.Join(names, ",")
	default:
		return s, usagef("give --model or --gguf")
	}
	if f.Ctx < 0 || f.Ctx > longest {
		return s, usagef("--ctx: %d is not from 1 to the model's context, %d", f.Ctx, longest)
	}
	if f.Ctx > 0 {
		s.Context = f.Ctx
		s.Command += fmt.Sprintf(" --ctx %d", f.Ctx)
	}
	return s, nil
}

// profileNames lists the profiles that come with kgen.
func profileNames() string {
	var names []string
	for _, p := range schedules.Profiles() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// lookupProfiles returns the profiles that the flag --profile names.
func lookupProfiles(names []string) ([]schedules.Profile, error) {
	if len(names) == 0 {
		return nil, usagef("--profile: it names none; there are: %s", profileNames())
	}
	var all []schedules.Profile
	for _, name := range names {
		p, err := schedules.Lookup(strings.TrimSpace(name))
		if err != nil {
			return nil, usagef("--profile: %v", err)
		}
		if slices.ContainsFunc(all, func(other schedules.Profile) bool { return other.Name == p.Name }) {
			return nil, usagef("--profile: %s is named twice", p.Name)
		}
		all = append(all, p)
	}
	return all, nil
}

type genVerb struct {
	packageFlags
	DryRun bool `short:"n" help:"List the files and what would become of them; write nothing."`
	Check  bool `help:"Print what would change as a diff and write nothing; status 1 if something would."`
}

func (genVerb) Help() string {
	return `The package holds the model's kernels as WGSL files and Go code that dispatches them, to be kept in version control. Files that
are no longer made are removed, those of others are left alone. No GPU is opened. In a Go file of the package:

  //go:generate go tool kgen gen --gguf model.gguf --out .

Example:

  kgen gen --gguf model.gguf --profile portable,subgroups --out internal/model`
}

func (v *genVerb) Run(ctx context.Context, t *terminal) error {
	if v.Check {
		return v.diff(ctx, t)
	}
	g, err := v.generate(ctx, t)
	var broken *golang.BrokenError
	if errors.As(err, &broken) && !v.DryRun {
		if path, e := broken.Write(g.dir); e == nil {
			t.note("what was generated is in %s", path)
		}
	}
	if err != nil {
		return err
	}
	change := g.files.Commit
	if v.DryRun {
		change = g.files.Check
	}
	d, err := change(g.dir)
	if err != nil {
		return plainError{err}
	}
	if v.JSON {
		return t.printJSON(map[string]any{
			"dir": g.dir, "files": len(g.files), "bytes": g.bytes(), "new": list(d.Missing), "changed": list(d.Changed), "removed": list(d.Extra),
		})
	}
	if v.DryRun {
		g.list(t, d)
	}
	t.note("%s: %d files, %d KB; %d new, %d changed, %d removed", g.dir, len(g.files), (g.bytes()+1023)/1024, len(d.Missing), len(d.Changed), len(d.Extra))
	return nil
}

// list prints each file and what becomes of it.
func (g *generated) list(t *terminal, d golang.Difference) {
	becomes := map[string]string{}
	for what, names := range map[string][]string{"new": d.Missing, "changed": d.Changed, "removed": d.Extra} {
		for _, name := range names {
			becomes[name] = what
		}
	}
	for _, name := range g.files.Names() {
		what := becomes[name]
		if what == "" {
			what = "same"
		}
		fmt.Fprintf(t.stdout, "%-8s %s\n", what, name)
	}
	for _, name := range d.Extra {
		fmt.Fprintf(t.stdout, "%-8s %s\n", "removed", name)
	}
}

func (g *generated) bytes() int {
	n := 0
	for _, text := range g.files {
		n += len(text)
	}
	return n
}

// list is names that JSON has as a list even when there are none.
func list(names []string) []string { return append([]string{}, names...) }

type diffVerb struct {
	packageFlags
}

func (diffVerb) Help() string {
	return `The flags are those of gen. The status is 1 when something would change. Example:

  kgen diff --model smollm2-135m --out gen/smollm2_135m`
}

func (v *diffVerb) Run(ctx context.Context, t *terminal) error { return v.diff(ctx, t) }

// diff prints what generating would change.
func (f *packageFlags) diff(ctx context.Context, t *terminal) error {
	g, err := f.generate(ctx, t)
	if err != nil {
		return err
	}
	d, err := g.files.Compare(g.dir)
	if err != nil {
		return plainError{err}
	}
	text, err := g.files.Diff(g.dir)
	if err != nil {
		return plainError{err}
	}
	if f.JSON {
		err = t.printJSON(map[string]any{
			"dir": g.dir, "new": list(d.Missing), "changed": list(d.Changed), "removed": list(d.Extra), "diff": text,
		})
	} else {
		if _, err = t.stdout.WriteString(text); err != nil {
			err = plainError{fmt.Errorf("write the output: %w", err)}
		}
	}
	if err == nil && !d.Empty() {
		t.note("%s: %d new, %d changed, %d removed", g.dir, len(d.Missing), len(d.Changed), len(d.Extra))
		err = errReported
	}
	return err
}

type modelsVerb struct {
	flags
}

func (modelsVerb) Help() string {
	return `Presets say what the header of a model's file says, so that gen needs no file. Example:

  kgen models`
}

func (v *modelsVerb) Run(t *terminal) error {
	v.apply(t)
	type entry struct {
		Name    string `json:"name"`
		About   string `json:"about"`
		Shape   string `json:"shape"`
		Context int    `json:"context"`
	}
	var all []entry
	for _, p := range models.Presets() {
		all = append(all, entry{p.Name, p.About, p.Shape(), p.Context})
	}
	if v.JSON {
		return t.printJSON(map[string]any{"presets": all})
	}
	for _, e := range all {
		fmt.Fprintf(t.stdout, "%-16s %s\n%-16s %s\n", e.Name, e.About, "", e.Shape)
	}
	return nil
}
