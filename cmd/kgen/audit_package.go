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

// readPackages audits the packages in folders.
func (r *auditReport) readPackages(dirs []string, profiles []schedules.Profile) error {
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
	return nil
}

// auditDevice is a device that offers what a profile promises, and no more.
func auditDevice(p schedules.Profile) plan.Device {
	device := plan.Device{Kind: "gpu", Name: p.Name, Limits: p.Limits, Subgroups: p.Subgroups, SubgroupSize: p.SubgroupSize, F16: p.F16}
	if device.Subgroups && device.SubgroupSize == 0 {
		device.SubgroupSize = golang.GuaranteedSize
	}
	return device
}

// add holds the variants that a device of the profile gets to its limits: one for each contract and cache.
func (r *auditReport) add(dir string, variants []golang.ReadVariant, p schedules.Profile) {
	device := auditDevice(p)
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
