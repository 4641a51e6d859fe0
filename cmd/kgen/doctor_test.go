package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/gpu"
)

// doctor runs the command in a process of its own, as drivers read the environment that a process starts with.
func doctor(t *testing.T, env []string, args ...string) (report doctorReport, text string, status int) {
	t.Helper()
	kgen, err := exec.LookPath("kgen") // the test binary, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), kgen, append([]string{"doctor"}, args...)...)
	c.Env = append(os.Environ(), env...)
	out, err := c.Output()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	if len(args) > 0 && args[0] == "--json" {
		if err := json.Unmarshal(out, &report); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	}
	return report, string(out), c.ProcessState.ExitCode()
}

// TestDoctorUsable runs it where there is an adapter, and compares with what the runtime says of it.
func TestDoctorUsable(t *testing.T) {
	info, _ := gpu.Adapter(t).Measure(t.Context())
	r, _, status := doctor(t, nil, "--json")
	if status != exitDone || !r.Usable || r.Library == nil || r.Library.Name != info.Library || !r.Library.Chosen {
		t.Fatalf("status %d, report %+v", status, r)
	}
	chosen := 0
	for _, a := range r.Adapters {
		if a.Chosen {
			chosen++
			if a.Name != info.Name || a.Kind != info.Kind || a.API != info.API {
				t.Errorf("chose %+v, want %s", a, info.Name)
			}
		}
	}
	if chosen != 1 {
		t.Errorf("%d adapters are chosen", chosen)
	}
	if f := r.Features; f.F16 != info.F16 || f.Subgroups != info.Subgroups || f.SubgroupSize != info.SubgroupSize || f.LoopTrips != info.LoopTrips {
		t.Errorf("features %+v, want those of %+v", f, info)
	}
	for _, l := range r.Limits {
		if l.Used == 0 || l.Used > l.Offered {
			t.Errorf("limit %+v", l)
		}
	}
	if len(r.Limits) == 0 || len(r.Checks) == 0 || r.Profile == "" || r.SubmitMicro <= 0 || r.Checked != (r.Compiler == "tint") {
		t.Errorf("report %+v", r)
	}

	r, text, _ := doctor(t, []string{"KGEN_GPU_CHECKS=1"})
	for _, want := range []string{
		"library    " + info.Library, "<- chosen", "set        KGEN_GPU_CHECKS=1", "mode       all kernels are checked", "checks     copy ok",
		"usable: kernels run on a device\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("there are colours, and no terminal")
	}
}

// TestDoctorNoDriver hides every driver.
func TestDoctorNoDriver(t *testing.T) {
	if gpu.Adapter(t).Info().API != "vulkan" {
		t.Skip("drivers can be hidden where they are Vulkan's alone; `make setup` brings one on Linux")
	}
	none := filepath.Join(t.TempDir(), "none.json")
	r, _, status := doctor(t, []string{"VK_DRIVER_FILES=" + none, "VK_ICD_FILENAMES=" + none}, "--json")
	if status != exitFailure || r.Usable || r.Library == nil || len(r.Adapters) != 0 {
		t.Errorf("status %d, report %+v", status, r)
	}
	var texts []string
	for _, f := range r.Findings {
		texts = append(texts, f.Problem+"|"+f.Cause+"|"+f.Fix)
	}
	text := strings.Join(texts, "\n")
	for _, want := range []string{"VK_DRIVER_FILES names " + none, "there is no adapter|", "hide every other driver"} {
		if !strings.Contains(text, want) {
			t.Errorf("the findings lack %q:\n%s", want, text)
		}
	}
}

// TestDoctorNoLibrary has nothing in the cache, or a file that is none.
func TestDoctorNoLibrary(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.so")
	if err := os.WriteFile(bad, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, _, status := doctor(t, []string{"KGEN_WEBGPU_LIB=" + bad, "VK_DRIVER_FILES=", "VK_ICD_FILENAMES="}, "--json")
	if status != exitFailure || r.Usable || r.Library != nil || len(r.Places) != 1 || r.Places[0].Path != bad || r.Places[0].Error == "" {
		t.Errorf("status %d, report %+v", status, r)
	}
	if len(r.Findings) != 1 || !r.Findings[0].Fatal || !strings.Contains(r.Findings[0].Cause, r.Places[0].Error) || !strings.Contains(r.Findings[0].Fix, "kgen lib install") {
		t.Errorf("findings %+v", r.Findings)
	}
	_, text, status := doctor(t, []string{"KGEN_WEBGPU_LIB=" + bad, "VK_DRIVER_FILES=", "VK_ICD_FILENAMES="})
	if status != exitFailure || !strings.Contains(text, "tried      "+bad+": ") || !strings.HasSuffix(text, "not usable: models run on the CPU alone\n") {
		t.Errorf("status %d:\n%s", status, text)
	}
}

// TestDoctorColours marks what is bad on a terminal.
func TestDoctorColours(t *testing.T) {
	var r doctorReport
	r.find(doctorFinding{"a", "b", "c", true})
	for _, c := range []struct {
		colour bool
		want   string
	}{
		{false, "\nproblem: a\n  cause: b\n  fix:   c\n\nnot usable: models run on the CPU alone\n"},
		{true, "\n\x1b[31mproblem\x1b[0m: a\n  cause: b\n  fix:   c\n\n\x1b[31mnot usable: models run on the CPU alone\x1b[0m\n"},
	} {
		var out strings.Builder
		r.print(doctorText{&out, c.colour})
		if out.String() != c.want {
			t.Errorf("got %q, want %q", out.String(), c.want)
		}
	}
}

// TestDoctorMode says of each library what its kernels run with.
func TestDoctorMode(t *testing.T) {
	for _, c := range []struct {
		compiler string
		checked  bool
		want     string
	}{
		{"naga", false, "run unchecked (KGEN_GPU_CHECKS=1 checks them)"},
		{"naga", true, "as KGEN_GPU_CHECKS=1 asks"},
		{"tint", true, "as Dawn does it no other way"},
	} {
		var out strings.Builder
		(&doctorReport{Usable: true, Compiler: c.compiler, Checked: c.checked}).print(doctorText{&out, false})
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s, checked %v: %s", c.compiler, c.checked, out.String())
		}
	}
}

func TestAmount(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 49152: "48 KiB", 128 << 20: "128 MiB", 2147483644: "2 GiB", 1 << 40: "1 TiB", 1536 << 20: "1.5 GiB"} {
		if got := (doctorLimit{Unit: "B"}).amount(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
