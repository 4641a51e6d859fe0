package golang

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// Spec is a package before its variants are compiled.
type Spec struct {
	Name, Model, Command string // see Package
	About                []string
	Context              int // positions that the KV cache of each variant holds
	// Graph returns the model's graph with a KV cache of the given type.
	Graph   func(kv ir.Elem) (*ir.Graph, error)
	Targets []Target
	// Progress is called when a variant is compiled; nil for none.
	Progress func(done, total int)
}

// Target is what a variant is compiled for.
type Target struct {
	Profile schedules.Profile
	Fast    bool // 8-bit activations where that is quicker
	KV      ir.Elem
}

// GuaranteedSize is the size of subgroups that a generated variant relies on where its profile leaves it to a measurement: the
// size of most GPUs. Devices of another size get a variant without subgroups.
const GuaranteedSize = 32

// Targets returns every combination of profiles, contracts and caches, in the order of the profiles.
func Targets(profiles []schedules.Profile, fast []bool, caches []ir.Elem) []Target {
	var all []Target
	for _, p := range profiles {
		if p.Subgroups && p.SubgroupSize == 0 {
			p.SubgroupSize = GuaranteedSize
		}
		for _, f := range fast {
			for _, kv := range caches {
				all = append(all, Target{p, f, kv})
			}
		}
	}
	return all
}

// Compile compiles the variants of a package, until the context ends. An error names the variant.
func Compile(ctx context.Context, s Spec) (Package, error) {
	p := Package{Name: s.Name, Model: s.Model, Command: s.Command, About: s.About}
	seen := map[Input]bool{}
	input := func(in Input) {
		if !seen[in] {
			seen[in] = true
			p.Inputs = append(p.Inputs, in)
		}
	}
	for i, t := range s.Targets {
		graph, err := s.Graph(t.KV)
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return Package{}, fmt.Errorf("package %s: %w", s.Name, err)
		}
		input(Input{"graph", t.KV.String(), ir.Print(graph)})
		input(Input{"profile", t.Profile.Name, fmt.Sprintf("%+v", t.Profile)})
		v, err := t.compile(graph, s.Context)
		if err != nil {
			return Package{}, fmt.Errorf("package %s, profile %s: %w", s.Name, t.Profile.Name, err)
		}
		// A fast target comes out exact where no weight has kernels for 8-bit activations.
		if !slices.ContainsFunc(p.Variants, func(other Variant) bool { return t.Fast && other.Name() == v.Name() }) {
			p.Variants = append(p.Variants, v)
		}
		if s.Progress != nil {
			s.Progress(i+1, len(s.Targets))
		}
	}
	return p, nil
}

func (t Target) compile(graph *ir.Graph, positions int) (Variant, error) {
	result, err := codegen.Compile(graph, codegen.Options{Profile: t.Profile, Context: positions, Fast: t.Fast})
	if err != nil {
		return Variant{}, err
	}
	v := Variant{Activations: result.Path, KV: t.KV.String(), Graph: ir.Hash(graph), Program: result.Program}
	v.Program.Requires = least(v.Program, result.Plan)
	return v, nil
}

// least returns what a plan needs of a device, which is at most what its profile allows: a variant then serves every device
// that can run it, and not only those that offer all of the profile.
func least(program *codegen.Program, p *plan.Plan) plan.Requires {
	profile := program.Requires
	r := plan.Requires{
		Subgroups: profile.Subgroups, SubgroupSize: profile.SubgroupSize, F16: profile.F16,
		PackedDot: profile.PackedDot, LoopTrips: profile.LoopTrips,
	}
	l := &r.Limits
	l.OffsetAlignment, l.DispatchesInPass = profile.OffsetAlignment, profile.DispatchesInPass
	for _, k := range p.Kernels {
		uniform := 0
		for _, b := range k.Bindings {
			if b.Access == plan.Uniform {
				uniform++
			}
		}
		l.UniformBuffers = max(l.UniformBuffers, uniform)
		l.StorageBuffers = max(l.StorageBuffers, len(k.Bindings)-uniform)
		l.WorkgroupBytes = max(l.WorkgroupBytes, k.WorkgroupBytes)
		l.Invocations = max(l.Invocations, k.Workgroup[0]*k.Workgroup[1]*k.Workgroup[2])
		l.WorkgroupX = max(l.WorkgroupX, k.Workgroup[0])
		l.WorkgroupY = max(l.WorkgroupY, k.Workgroup[1])
		l.WorkgroupZ = max(l.WorkgroupZ, k.Workgroup[2])
	}
	for _, g := range p.Groups {
		for i, at := range g.Ranges {
			if g.Layout[i] == plan.Uniform {
				l.UniformBytes = max(l.UniformBytes, at.Bytes)
			} else {
				l.BindingBytes = max(l.BindingBytes, at.Bytes)
			}
		}
	}
	for _, bytes := range placedBytes(program) {
		l.BindingBytes = max(l.BindingBytes, words(bytes)) // what is placed must fit one binding, whatever is bound of it
	}
	for _, b := range p.Buffers {
		l.BufferBytes = max(l.BufferBytes, b.Bytes)
	}
	for _, list := range p.Lists {
		for at := 0; at < len(list.Records); at += plan.RecordWords {
			l.Workgroups = max(l.Workgroups, int(max(list.Records[at+2], list.Records[at+3], list.Records[at+4])))
		}
	}
	return r
}

// placedBytes lists the sizes of all that the program lets the builder place.
func placedBytes(p *codegen.Program) []uint64 {
	sizes := []uint64{paramsBytes(p.Params)}
	for _, s := range p.Stacks {
		for i := range s.Format.Planes {
			sizes = append(sizes, planeBytes(s, i))
		}
	}
	for _, t := range p.Tables {
		sizes = append(sizes, tableBytes(t))
	}
	for _, c := range p.Caches {
		sizes = append(sizes, c.Bytes)
	}
	for _, o := range p.Outputs {
		sizes = append(sizes, o.Bytes)
	}
	return sizes
}
