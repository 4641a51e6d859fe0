package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/gguf"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

type inspectVerb struct {
	flags
	Model    string `arg:"" help:"A GGUF file, or the folder of a generated package."`
	Profile  string `default:"portable" placeholder:"NAME" help:"The device profile that kernels are made for (${default}): ${profiles}."`
	Subgroup int    `placeholder:"N" help:"The size of subgroups, for profiles that leave it to the device."`
	Ctx      int    `placeholder:"N" help:"Positions that fit: at most the model's. The default is the model's or 8192, whichever is less."`
	KV       string `name:"kv" placeholder:"TYPE" help:"How the KV cache stores values: f32 or f16. The default is f16, f32 with --exact."`
	Exact    bool   `help:"Keep activations in f32; without it products with quantised weights round them to 8 bits."`
	Header   bool   `xor:"part" help:"Print every key of the header."`
	Tensors  bool   `xor:"part" help:"Print the table of tensors."`
	Graph    bool   `xor:"part" help:"Print the model's graph as text, before the compiler's passes."`
	Steps    bool   `xor:"part" help:"Print every dispatch with its schedule and how its operands were bound."`
	Plan     bool   `xor:"part" help:"Print the plan as text."`
	Kernel   string `xor:"part" placeholder:"NAME" help:"Print the WGSL of the kernels whose names start so."`
}

func (inspectVerb) Help() string {
	return `Without a flag that chooses a part it prints a summary: header, kernels with their bindings, dispatches, buffers. Kernels that are
not proved to stay within their arrays run with checks; it says at which access and why. No GPU is opened. Of a generated package it
prints the kernels and proves them anew, as their files are now; the status is 1 when the package claims more. Example:

  kgen inspect model.gguf --profile compat --kernel gemv`
}

func (v *inspectVerb) Run(t *terminal) error {
	v.apply(t)
	if info, err := os.Stat(v.Model); err == nil && info.IsDir() {
		return v.inspectPackage(t)
	}
	f, err := kgen.OpenFile(v.Model)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, warning := range f.Warnings() {
		t.note("warning: %s", warning)
	}
	switch {
	case v.JSON && (v.Graph || v.Steps || v.Plan || v.Kernel != ""):
		return usagef("--json: graph, steps, plan and kernels are texts; leave it out")
	case v.Header && v.JSON:
		return t.printJSON(headerOf(f.GGUF()))
	case v.Header:
		printHeader(t.stdout, f.GGUF())
	case v.Tensors && v.JSON:
		return t.printJSON(tensorsOf(f.GGUF()))
	case v.Tensors:
		printTensors(t.stdout, f.GGUF())
	default:
		return v.inspectPlan(t, t.stdout, f)
	}
	return nil
}

func (v *inspectVerb) inspectPlan(t *terminal, out io.Writer, f *kgen.File) error {
	kv, err := kgen.ChooseKV(v.KV, v.Exact)
	if err != nil {
		return err
	}
	if v.Graph {
		g, err := f.Graph(kv, false)
		if err == nil {
			_, err = io.WriteString(out, ir.Print(g))
		}
		return err
	}
	r, err := v.compile(f, kv)
	if err != nil {
		return err
	}
	switch {
	case v.JSON:
		return t.printJSON(summarise(f, r))
	case v.Steps:
		printSteps(out, r)
	case v.Plan:
		_, err = io.WriteString(out, codegen.PlanText(r.Plan))
	case v.Kernel != "":
		return printKernels(out, r.Plan, v.Kernel)
	default:
		printSummary(out, summarise(f, r))
	}
	return err
}

func (v *inspectVerb) compile(f *kgen.File, kv ir.Elem) (*codegen.Result, error) {
	profile, err := schedules.Lookup(v.Profile)
	if err != nil {
		return nil, usagef("--profile: %v", err)
	}
	if v.Subgroup != 0 {
		if v.Subgroup < 4 || v.Subgroup > 128 || v.Subgroup&(v.Subgroup-1) != 0 {
			return nil, usagef("--subgroup: %d is no power of two from 4 to 128", v.Subgroup)
		}
		profile.SubgroupSize = v.Subgroup
	}
	return f.Compile(kgen.CompileOptions{Profile: profile, Context: v.Ctx, KV: kv, Fast: !v.Exact})
}

func printHeader(out io.Writer, g *gguf.File) {
	for _, e := range g.Entries() {
		fmt.Fprintf(out, "%s %v = %s\n", e.Key, e.Type, g.Text(e.Key))
	}
}

// headerOf is the header for --json: every key with its type and its value as text.
func headerOf(g *gguf.File) any {
	type entry struct {
		Key   string `json:"key"`
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	all := []entry{}
	for _, e := range g.Entries() {
		all = append(all, entry{e.Key, e.Type.String(), g.Text(e.Key)})
	}
	return map[string]any{"header": all}
}

// tensorsOf is the table of tensors for --json; dims are in the file's order, the contiguous one first.
func tensorsOf(g *gguf.File) any {
	type entry struct {
		Name   string `json:"name"`
		Type   string `json:"type"`
		Dims   any    `json:"dims"`
		Offset any    `json:"offset"`
		Bytes  any    `json:"bytes"`
	}
	all := []entry{}
	for _, t := range g.Tensors() {
		all = append(all, entry{t.Name, t.Type.String(), t.Dims, t.Offset, t.Size})
	}
	return map[string]any{"tensors": all}
}

func printTensors(out io.Writer, g *gguf.File) {
	for _, t := range g.Tensors() {
		fmt.Fprintf(out, "%-40s %-6v %v at %d, %d bytes\n", t.Name, t.Type, t.Dims, t.Offset, t.Size)
	}
}

func printSteps(out io.Writer, r *codegen.Result) {
	for i, s := range r.Steps {
		fmt.Fprintf(out, "%4d %s: %s\n     phases %v, schedule %s\n", i, s.Node, s.Kernel, s.Phases, s.Schedule)
		for line := range strings.Lines(s.Bindings) {
			fmt.Fprintf(out, "     %s\n", strings.TrimRight(line, "\n"))
		}
	}
}

func printKernels(out io.Writer, p *plan.Plan, prefix string) error {
	found := false
	var names []string
	for _, k := range p.Kernels {
		names = append(names, k.Name)
		if strings.HasPrefix(k.Name, prefix) {
			found = true
			fmt.Fprintf(out, "// kernel %s\n%s\n", k.Name, k.Text)
		}
	}
	if !found {
		return usagef("--kernel: no kernel's name starts with %q; there are %s", prefix, strings.Join(names, ", "))
	}
	return nil
}

// summary is what inspect prints by default and with --json.
type summary struct {
	Model        string           `json:"model"`
	Architecture string           `json:"architecture"`
	Profile      string           `json:"profile"`
	Path         string           `json:"path"`
	Context      int              `json:"context"`
	Vocab        int              `json:"vocab"`
	Types        map[string]int   `json:"tensor_types"`
	Kernels      []kernelSummary  `json:"kernels"`
	Pipelines    int              `json:"pipelines"`
	BindGroups   int              `json:"bind_groups"`
	Dispatches   map[string]int   `json:"dispatches"`
	Buffers      []bufferSummary  `json:"buffers"`
	Bytes        map[string]int64 `json:"bytes"`
}

type kernelSummary struct {
	Name           string `json:"name"`
	Storage        int    `json:"storage_bindings"`
	Uniform        int    `json:"uniform_bindings"`
	Workgroup      [3]int `json:"workgroup"`
	WorkgroupBytes int    `json:"workgroup_bytes"`
	Proved         bool   `json:"proved"`
	Dispatches     int    `json:"dispatches"` // in a decode step

	Accesses int              `json:"accesses"`           // index expressions
	Unproved []unprovedAccess `json:"unproved,omitempty"` // those that keep the kernel from being proved
}

type bufferSummary struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Bytes uint64 `json:"bytes"`
}

func summarise(f *kgen.File, r *codegen.Result) summary {
	p := r.Plan
	s := summary{
		Model: f.Hyperparameters.Name, Architecture: f.Hyperparameters.Architecture,
		Profile: p.Profile, Path: r.Path, Context: p.Context, Vocab: p.Vocab,
		Types: map[string]int{}, Pipelines: len(p.Kernels), BindGroups: len(p.Groups), Dispatches: map[string]int{}, Bytes: map[string]int64{},
	}
	for _, t := range f.GGUF().Tensors() {
		s.Types[t.Type.String()]++
	}
	uses := make([]int, len(p.Kernels))
	for _, l := range p.Lists {
		s.Dispatches[l.Phase.String()] = len(l.Records) / plan.RecordWords
		for at := 0; l.Phase == plan.Decode && at < len(l.Records); at += plan.RecordWords {
			uses[l.Records[at]]++
		}
	}
	for i, k := range p.Kernels {
		ks := kernelSummary{Name: k.Name, Workgroup: k.Workgroup, WorkgroupBytes: k.WorkgroupBytes, Proved: k.Proved, Dispatches: uses[i]}
		ks.Accesses, ks.Unproved = r.Proofs[i].Accesses, unprovedOf(r.Proofs[i])
		for _, b := range k.Bindings {
			if b.Access == plan.Uniform {
				ks.Uniform++
			} else {
				ks.Storage++
			}
		}
		s.Kernels = append(s.Kernels, ks)
	}
	for _, b := range p.Buffers {
		s.Buffers = append(s.Buffers, bufferSummary{b.Name, b.Kind.String(), b.Bytes})
		s.Bytes[b.Kind.String()] += int64(b.Bytes)
	}
	return s
}

func printSummary(out io.Writer, s summary) {
	fmt.Fprintf(out, "model      %s (%s), vocabulary %d, context %d\n", s.Model, s.Architecture, s.Vocab, s.Context)
	fmt.Fprintf(out, "tensors    %s\n", counts(s.Types))
	fmt.Fprintf(out, "profile    %s, path %s\n", s.Profile, s.Path)
	fmt.Fprintf(out, "pipelines  %d, bind groups %d\n", s.Pipelines, s.BindGroups)
	fmt.Fprintf(out, "dispatches %s\n\n", counts(s.Dispatches))
	fmt.Fprintf(out, "%-44s %7s %7s %9s %9s %6s %10s\n", "kernel", "storage", "uniform", "workgroup", "memory", "proved", "dispatches")
	for _, k := range s.Kernels {
		fmt.Fprintf(out, "%-44s %7d %7d %9d %9d %6v %10d\n", k.Name, k.Storage, k.Uniform, k.Workgroup[0]*k.Workgroup[1]*k.Workgroup[2], k.WorkgroupBytes, k.Proved, k.Dispatches)
		printUnproved(out, k.Unproved)
	}
	fmt.Fprintf(out, "\n%-16s %-10s %14s\n", "buffer", "kind", "bytes")
	for _, b := range s.Buffers {
		fmt.Fprintf(out, "%-16s %-10s %14d\n", b.Name, b.Kind, b.Bytes)
	}
}

// counts prints a map in the order of its keys.
func counts(m map[string]int) string {
	var parts []string
	for k, n := range m {
		parts = append(parts, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
