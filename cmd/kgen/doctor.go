package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/internal/libraries"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
)

type doctorVerb struct {
	flags
}

func (doctorVerb) Help() string {
	return `It loads the library, lists adapters, runs small kernels with known answers on the one that would be taken, and times a submit. Each
problem comes with its cause and what to do. The status is 0 when kernels can run on a device, else 1. Example:

  kgen doctor
  KGEN_WEBGPU_LIB=~/.cache/kgen/lib/dawn-0.32.0.4/libwebgpu_dawn.so kgen doctor`
}

// doctorReport is what doctor finds.
type doctorReport struct {
	Usable      bool              `json:"usable"` // kernels can run on a device
	Library     *libPlace         `json:"library"`
	Compiler    string            `json:"compiler,omitempty"` // of the library: naga or tint
	Places      []libPlace        `json:"places"`             // all that were looked at
	Loader      string            `json:"vulkan_loader,omitempty"`
	LoaderError string            `json:"vulkan_loader_error,omitempty"`
	Environment map[string]string `json:"environment"` // variables that choose a library, driver, adapter or mode
	Adapters    []doctorAdapter   `json:"adapters"`    // the best first
	Features    *doctorFeatures   `json:"features"`    // of the chosen adapter, as measured
	Limits      []doctorLimit     `json:"limits"`
	Checks      []doctorCheck     `json:"checks"`
	SubmitMicro float64           `json:"submit_wait_us,omitempty"` // the median of a submit with its wait
	Checked     bool              `json:"checked"`                  // bounds checks stay in proved kernels
	Profile     string            `json:"profile,omitempty"`
	Findings    []doctorFinding   `json:"findings"`
}

type doctorAdapter struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	API    string `json:"api"`
	Driver string `json:"driver"`
	Chosen bool   `json:"chosen"`
}

type doctorFeatures struct {
	F16          bool `json:"f16"`
	Subgroups    bool `json:"subgroups"`
	SubgroupSize int  `json:"subgroup_size"` // 0 when it varies
	PackedDot    bool `json:"packed_dot"`
	LoopTrips    int  `json:"loop_trips"` // 0 when not capped
}

type doctorLimit struct {
	Name    string `json:"name"`
	Used    uint64 `json:"used"` // by the profile
	Offered uint64 `json:"offered"`
	Unit    string `json:"unit,omitempty"`
}

type doctorCheck struct {
	Name   string  `json:"name"`
	OK     bool    `json:"ok"`
	Detail string  `json:"detail,omitempty"`
	Effect string  `json:"effect,omitempty"`
	Millis float64 `json:"ms"`
}

// doctorFinding is something to know about, with what to do. A fatal one keeps kernels from running on a device.
type doctorFinding struct {
	Problem string `json:"problem"`
	Cause   string `json:"cause"`
	Fix     string `json:"fix"`
	Fatal   bool   `json:"fatal"`
}

// doctorVariables choose what is used.
var doctorVariables = []string{
	"KGEN_WEBGPU_LIB", "WGPU_LIB_PATH", "KGEN_ADAPTER", "KGEN_GPU_CHECKS", "KGEN_CACHE", "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES",
}

func (v *doctorVerb) Run(ctx context.Context, t *terminal) error {
	v.apply(t)
	r := &doctorReport{
		Environment: map[string]string{}, Places: []libPlace{}, Adapters: []doctorAdapter{}, Limits: []doctorLimit{}, Checks: []doctorCheck{},
		Findings: []doctorFinding{}, Checked: os.Getenv("KGEN_GPU_CHECKS") == "1",
	}
	for _, name := range doctorVariables {
		if value := os.Getenv(name); value != "" {
			r.Environment[name] = value
		}
	}
	if err := r.examine(ctx); err != nil {
		return err
	}
	r.Usable = !slices.ContainsFunc(r.Findings, func(f doctorFinding) bool { return f.Fatal })
	err := error(nil)
	if v.JSON {
		err = t.printJSON(r)
	} else {
		r.print(doctorText{t.stdout, t.outIsTerminal && !v.NoColor && os.Getenv("NO_COLOR") == ""})
	}
	if err == nil && !r.Usable {
		err = errReported
	}
	return err
}

func (r *doctorReport) find(f doctorFinding) { r.Findings = append(r.Findings, f) }

// examine goes from the library to a kernel's answer, as far as it gets. Its error is the context's alone.
func (r *doctorReport) examine(ctx context.Context) error {
	places, library := surveyLibraries(libraries.All(), webgpu.Options{})
	r.Places = places
	if at := slices.IndexFunc(places, func(p libPlace) bool { return p.Chosen }); at >= 0 {
		r.Library = &places[at]
	}
	r.vulkan()
	if library == nil {
		r.noLibrary()
		return ctx.Err()
	}
	defer library.Close()
	if r.Compiler = "tint"; library.Naga() {
		r.Compiler = "naga"
	}
	r.Checked = r.Checked || r.Compiler == "tint" // Dawn has no way to compile a kernel without checks
	if !r.Library.Pinned {
		r.find(doctorFinding{
			Problem: "the library is no build that kgen pins",
			Cause:   r.Library.Status,
			Fix:     "it is used all the same; `kgen lib install` gets one that kgen was tested with",
		})
	}
	adapters, err := library.Adapters()
	if err != nil {
		r.noAdapter(err)
		return ctx.Err()
	}
	for _, a := range adapters {
		info := a.Info()
		r.Adapters = append(r.Adapters, doctorAdapter{info.Name, info.Kind, info.API, info.Driver, false})
	}
	for i, a := range adapters { // the first that computes right is taken
		if r.check(ctx, a) {
			r.Adapters[i].Chosen = true
			r.use(ctx, a)
			return ctx.Err()
		}
	}
	r.find(doctorFinding{
		Problem: "no adapter can be used", Cause: "each fails for the reasons above",
		Fix: "update the driver; until then --device cpu computes without it", Fatal: true,
	})
	return ctx.Err()
}

// vulkan looks at the loader and at the driver files that the environment names.
func (r *doctorReport) vulkan() {
	name, err := webgpu.VulkanLoader()
	if r.Loader = name; err != nil {
		r.LoaderError = err.Error()
	}
	for _, variable := range []string{"VK_DRIVER_FILES", "VK_ICD_FILENAMES"} {
		for _, file := range filepath.SplitList(os.Getenv(variable)) {
			if _, err := os.Stat(file); err != nil {
				r.find(doctorFinding{
					Problem: fmt.Sprintf("%s names %s", variable, file),
					Cause:   err.Error(),
					Fix:     "name the JSON file of a Vulkan driver, or unset " + variable,
				})
			}
		}
	}
}

// noLibrary tells what to do without a library.
func (r *doctorReport) noLibrary() {
	f := doctorFinding{Problem: "there is no WebGPU library", Cause: "none of the places above has one that can be used", Fix: "kgen lib install", Fatal: true}
	switch file := os.Getenv("KGEN_WEBGPU_LIB"); {
	case len(r.Places) == 1 && r.Places[0].Path == "":
		f.Cause, f.Fix = r.Places[0].Error, "build kgen without the tag nogpu, on Linux, macOS or Windows, amd64 or arm64"
	case file != "":
		f.Cause, f.Fix = "KGEN_WEBGPU_LIB allows "+file+" alone: "+r.Places[0].Error, "name another file, or unset KGEN_WEBGPU_LIB and run: kgen lib install"
	}
	r.find(f)
}

// noAdapter tells what to do without an adapter.
func (r *doctorReport) noAdapter(err error) {
	f := doctorFinding{Problem: "there is no adapter", Cause: err.Error(), Fix: "install the driver of the machine's GPU", Fatal: true}
	var fault *plan.DeviceError
	if errors.As(err, &fault) {
		f.Cause = strings.TrimSuffix(strings.TrimSpace(strings.TrimSuffix(fault.Detail, webgpu.SetupHint)), "; is a driver installed?")
	}
	switch chosen := os.Getenv("VK_DRIVER_FILES") + os.Getenv("VK_ICD_FILENAMES"); {
	case os.Getenv("KGEN_ADAPTER") != "":
		f.Fix = "name one of these in KGEN_ADAPTER by index or part of the name, or unset it"
	case chosen != "":
		f.Fix = "VK_DRIVER_FILES and VK_ICD_FILENAMES hide every other driver: name one that works, or unset them"
	case runtime.GOOS == "linux":
		f.Fix = "install the Vulkan driver of the machine's GPU, or a software one (Debian: apt install libvulkan1 mesa-vulkan-drivers)"
	}
	if r.Compiler == "tint" {
		f.Fix += "; Dawn refuses the software adapter of Mesa 22, which wgpu-native takes: kgen lib install wgpu-native"
	}
	if r.LoaderError != "" {
		f.Cause += "; the Vulkan loader: " + r.LoaderError
	}
	r.find(f)
}

// check runs small kernels with known answers and says whether the adapter can be used.
func (r *doctorReport) check(ctx context.Context, a *webgpu.Adapter) bool {
	checks, err := a.Checks(ctx)
	info := a.Info()
	r.Features = &doctorFeatures{info.F16, info.Subgroups, info.SubgroupSize, !info.BadPackedDot, info.LoopTrips}
	r.Checks = r.Checks[:0]
	for _, c := range checks {
		r.Checks = append(r.Checks, doctorCheck{c.Name, c.OK, c.Detail, c.Effect, float64(c.Nanos) / 1e6})
		if !c.OK {
			r.find(doctorFinding{
				Problem: fmt.Sprintf("%s: check %s: %s", info.Name, c.Name, c.Detail), Cause: "the driver, or the library's compiler",
				Fix: "none is needed here, as " + c.Effect + "; another version of the driver or another library may do better",
			})
		}
	}
	if err != nil {
		r.find(doctorFinding{
			Problem: info.Name + " can't be used", Cause: err.Error(), Fix: "update its driver, or try another library: kgen lib install dawn",
		})
	}
	return err == nil
}

// use chooses the profile for an adapter, and times a submit.
func (r *doctorReport) use(ctx context.Context, a *webgpu.Adapter) {
	info := a.Info()
	profile, passed, err := kgen.DeviceProfile(info)
	if err != nil {
		r.find(doctorFinding{
			Problem: "no profile fits the adapter", Cause: err.Error(), Fix: "choose another adapter by KGEN_ADAPTER, or --device cpu", Fatal: true,
		})
		return
	}
	for _, err := range passed {
		r.find(doctorFinding{Problem: "a better profile is passed over", Cause: err.Error(), Fix: "none is needed: profile " + profile.Name + " is used"})
	}
	r.Profile = profile.Name
	r.limits(profile.Limits, info.Limits)
	if info.Kind == "software" {
		r.find(doctorFinding{
			Problem: "the adapter is a software one", Cause: "no hardware adapter was listed",
			Fix: "if the machine has a GPU, install its driver; results are right either way",
		})
	}
	took, err := submitTime(ctx, a, profile.Requires())
	if err != nil {
		r.find(doctorFinding{Problem: "the adapter can't be opened for the profile", Cause: err.Error(), Fix: "update its driver", Fatal: true})
		return
	}
	r.SubmitMicro = float64(took.Nanoseconds()) / 1e3
}

// limits compares those that people run into.
func (r *doctorReport) limits(used, offered plan.Limits) {
	r.Limits = []doctorLimit{
		{"storage buffers", uint64(used.StorageBuffers), uint64(offered.StorageBuffers), ""},
		{"binding", used.BindingBytes, offered.BindingBytes, "B"},
		{"buffer", used.BufferBytes, offered.BufferBytes, "B"},
		{"workgroup memory", uint64(used.WorkgroupBytes), uint64(offered.WorkgroupBytes), "B"},
		{"invocations", uint64(used.Invocations), uint64(offered.Invocations), ""},
	}
}

// submitTime is the median time from a submit of one small kernel to its answer.
func submitTime(ctx context.Context, a *webgpu.Adapter, requires plan.Requires) (time.Duration, error) {
	d, err := a.Open(ctx, requires)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	const bytes = 256
	kernel := &plan.Kernel{
		Name:      "doctor_count",
		Text:      "@group(0) @binding(0) var<storage, read_write> x: array<u32, 64>;\n@compute @workgroup_size(64)\nfn main(@builtin(local_invocation_index) i: u32) { x[i] += i; }\n",
		Bindings:  []plan.Binding{{Name: "x", Access: plan.ReadWrite, Bytes: bytes}},
		Workgroup: [3]int{64, 1, 1},
	}
	buffer, err := d.NewBuffer(plan.Buffer{Name: "x", Kind: plan.OutputBuffer, Bytes: bytes})
	if err != nil {
		return 0, err
	}
	pipeline, err := d.NewPipeline(kernel, false)
	if err != nil {
		return 0, err
	}
	x := plan.Range{Buffer: int(buffer), Bytes: bytes}
	group, err := d.NewGroup(kernel.Accesses(), []plan.Range{x})
	if err != nil {
		return 0, err
	}
	work := plan.Work{Replays: [][]uint32{{uint32(pipeline), uint32(group), 1, 1, 1}}, Reads: []plan.Range{x}}
	var times []time.Duration
	for range 21 {
		start := time.Now()
		ticket, err := d.Submit(work)
		if err != nil {
			return 0, err
		}
		if _, err := d.Wait(ctx, ticket); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
