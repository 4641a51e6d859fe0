package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

type auditVerb struct {
	flags
	Paths   []string `arg:"" name:"package" help:"Generated packages: folders, or DIR/... for all below one."`
	Profile []string `default:"portable" sep:"," placeholder:"A,B" help:"The device profiles to hold them to (${default})."`
}

func (auditVerb) Help() string {
	return `For each package and profile it takes the variants that a device of that profile would get, and holds each of their kernels to the
profile's limits. Bindings are counted in the kernel's text too. The status is 1 when a kernel is over a limit, a file was edited since
it was generated, or no variant serves a profile. Example:

  kgen audit ./gen/... --profile portable,compat`
}

// auditRow is a kernel with what it takes, of variants that a profile's devices get.
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
}

// auditReport is what audit finds.
type auditReport struct {
	Kernels  []auditRow `json:"kernels"`
	Unserved []unserved `json:"unserved"` // profiles that no variant of a package serves
	Edited   []string   `json:"edited"`   // files that are not as they were made
	Over     int        `json:"over"`     // kernels over a limit
	Faults   int        `json:"faults"`
}

type unserved struct {
	Package string `json:"package"`
	Profile string `json:"profile"`
	Why     string `json:"why"`
}

func (v *auditVerb) Run(t *terminal) error {
	v.apply(t)
	dirs, err := packageDirs(v.Paths)
	if err != nil {
		return err
	}
	profiles, err := lookupProfiles(v.Profile)
	if err != nil {
		return err
	}
	r := auditReport{Kernels: []auditRow{}, Unserved: []unserved{}, Edited: []string{}}
	for _, dir := range dirs {
		p, err := readPackage(dir)
		if err != nil {
			return err
		}
		for _, name := range p.Edited {
			r.Edited = append(r.Edited, filepath.Join(dir, name))
		}
		for _, profile := range profiles {
			r.add(dir, p.Variants, profile)
		}
	}
	for _, row := range r.Kernels {
		if row.Over != "" {
			r.Over++
		}
		if row.Fault != "" {
			r.Faults++
		}
	}
	if v.JSON {
		err = t.printJSON(r)
	} else {
		r.print(t)
	}
	if err == nil && r.Over+r.Faults+len(r.Unserved)+len(r.Edited) > 0 {
		err = errReported
	}
	return err
}

// add holds the variants that a device of the profile gets to its limits: one for each contract and cache.
func (r *auditReport) add(dir string, variants []golang.ReadVariant, p schedules.Profile) {
	device := plan.Device{Kind: "gpu", Name: p.Name, Limits: p.Limits, Subgroups: p.Subgroups, SubgroupSize: p.SubgroupSize, F16: p.F16}
	if device.Subgroups && device.SubgroupSize == 0 {
		device.SubgroupSize = golang.GuaranteedSize
	}
	first := len(r.Kernels)
	var missing []unserved
	for _, wish := range wishes(variants) {
		choice, err := kgenrt.Choose(chooseFrom(variants), device, wish)
		if err != nil {
			missing = append(missing, unserved{dir, p.Name, err.Error()})
			continue
		}
		at := slices.IndexFunc(variants, func(v golang.ReadVariant) bool { return v.Name == choice.Variant.Name })
		for _, k := range variants[at].Kernels {
			row := auditKernel(k, device)
			row.Package, row.Profile = dir, p.Name
			known := slices.IndexFunc(r.Kernels[first:], func(other auditRow) bool { return other.Kernel == row.Kernel })
			if known < 0 {
				known = len(r.Kernels) - first
				r.Kernels = append(r.Kernels, row)
			}
			row = r.Kernels[first+known]
			r.Kernels[first+known].Variants = append(row.Variants, choice.Variant.Name)
		}
	}
	if len(r.Kernels) == first {
		_, err := kgenrt.Choose(chooseFrom(variants), device, kgenrt.Wish{})
		missing = []unserved{{dir, p.Name, fmt.Sprint(err)}} // all of them for the same reason
	}
	r.Unserved = append(r.Unserved, missing...)
}

// wishes are the contracts and caches that there are variants for.
func wishes(variants []golang.ReadVariant) []kgenrt.Wish {
	var all []kgenrt.Wish
	for _, v := range variants {
		w := kgenrt.Wish{Activations: kgenrt.Activations(v.Activations), KV: v.KV}
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

func chooseFrom(variants []golang.ReadVariant) []kgenrt.Variant {
	var all []kgenrt.Variant
	for _, v := range variants {
		all = append(all, kgenrt.Variant{
			Name: v.Name, Profile: v.Profile, Activations: kgenrt.Activations(v.Activations), KV: v.KV, Context: v.Context, Requires: v.Requires,
		})
	}
	return all
}

func auditKernel(k plan.Kernel, d plan.Device) auditRow {
	need := plan.Requires{Limits: plan.Limits{
		WorkgroupBytes: k.WorkgroupBytes, Invocations: k.Workgroup[0] * k.Workgroup[1] * k.Workgroup[2],
		WorkgroupX: k.Workgroup[0], WorkgroupY: k.Workgroup[1], WorkgroupZ: k.Workgroup[2],
	}}
	for _, b := range k.Bindings {
		if b.Access == plan.Uniform {
			need.UniformBuffers++
			need.UniformBytes = max(need.UniformBytes, b.Bytes)
		} else {
			need.StorageBuffers++
			need.BindingBytes = max(need.BindingBytes, b.Bytes)
		}
	}
	row := auditRow{
		Kernel: k.Name, Storage: need.StorageBuffers, Uniform: need.UniformBuffers,
		WorkgroupBytes: need.WorkgroupBytes, Invocations: need.Invocations, Fault: compareText(k),
	}
	if err := need.Check(d); err != nil {
		row.Over = err.Error()
	}
	return row
}

// What a kernel's text declares. Generated texts have a declaration in each line.
var (
	storageDeclaration = regexp.MustCompile(`(?m)^@group\(0\) @binding\(\d+\) var<storage`)
	uniformDeclaration = regexp.MustCompile(`(?m)^@group\(0\) @binding\(\d+\) var<uniform>`)
	anyDeclaration     = regexp.MustCompile(`@binding\(`)
	comment            = regexp.MustCompile(`//[^\n]*`)
	workgroupSize      = regexp.MustCompile(`@workgroup_size\(([^)]*)\)`)
)

// compareText says how a kernel's text differs from what the package's Go code says of it, "" when it does not.
func compareText(k plan.Kernel) string {
	storage, uniform := 0, 0
	for _, b := range k.Bindings {
		if b.Access == plan.Uniform {
			uniform++
		} else {
			storage++
		}
	}
	text := comment.ReplaceAllString(k.Text, "")
	count := func(r *regexp.Regexp) int { return len(r.FindAllString(text, -1)) }
	if s, u := count(storageDeclaration), count(uniformDeclaration); s != storage || u != uniform || count(anyDeclaration) != s+u {
		return fmt.Sprintf("the text declares %d storage and %d uniform bindings, %d in all; the Go code has %d and %d",
			s, u, count(anyDeclaration), storage, uniform)
	}
	size := strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%d, %d, %d", k.Workgroup[0], k.Workgroup[1], k.Workgroup[2]), ", 1"), ", 1")
	if found := workgroupSize.FindAllStringSubmatch(text, -1); len(found) != 1 || found[0][1] != size {
		return "the text has not the one workgroup size of the Go code, " + size
	}
	return ""
}

func (r *auditReport) print(t *terminal) {
	for i, k := range r.Kernels {
		if i == 0 || k.Package != r.Kernels[i-1].Package || k.Profile != r.Kernels[i-1].Profile {
			fmt.Fprintf(t.stdout, "%s, profile %s\n%-44s %7s %7s %9s %11s\n", k.Package, k.Profile, "kernel", "storage", "uniform", "memory", "invocations")
		}
		fmt.Fprintf(t.stdout, "%-44s %7d %7d %9d %11d\n", k.Kernel, k.Storage, k.Uniform, k.WorkgroupBytes, k.Invocations)
		if k.Over != "" {
			fmt.Fprintf(t.stdout, "  over: %s\n", k.Over)
		}
		if k.Fault != "" {
			fmt.Fprintf(t.stdout, "  fault: %s\n", k.Fault)
		}
	}
	for _, u := range r.Unserved {
		fmt.Fprintf(t.stdout, "%s, profile %s: %s\n", u.Package, u.Profile, u.Why)
	}
	for _, name := range r.Edited {
		fmt.Fprintf(t.stdout, "%s is not as it was generated\n", name)
	}
	fmt.Fprintf(t.stdout, "%d over the limit", r.Over)
	if r.Faults > 0 {
		fmt.Fprintf(t.stdout, ", %d faults", r.Faults)
	}
	if len(r.Edited) > 0 {
		fmt.Fprintf(t.stdout, ", %d edited files", len(r.Edited))
	}
	if len(r.Unserved) > 0 {
		fmt.Fprintf(t.stdout, ", %d times no variant", len(r.Unserved))
	}
	fmt.Fprintln(t.stdout)
}
