//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// What may end the process runs in a process of its own: this test binary again, with childCase set to the name of the case.
const childCase = "KGEN_TEST_CHILD"

// child runs a case of a test and returns what the process printed, and an error if it did not end well.
func child(test, name string, env ...string) (string, error) {
	c := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v", "-test.timeout=120s")
	c.Env = append(append(os.Environ(), env...), childCase+"="+name)
	out, err := c.CombinedOutput()
	return string(out), err
}

// mustLive fails or skips the test as the child did.
func mustLive(t *testing.T, out string, err error) {
	t.Helper()
	switch {
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case strings.Contains(out, "--- SKIP"):
		t.Skipf("the child process skipped it\n%s", out)
	case !strings.Contains(out, "--- PASS"):
		t.Fatalf("the child process did not come to the end of the case\n%s", out)
	}
	t.Logf("%s", out)
}

// stack is a library and the driver that it finds.
type stack struct {
	library string // its name without the version
	version string
	file    string
	env     []string
}

// stacks lists the libraries to run cases on: the one that KGEN_WEBGPU_LIB names, or the first of each sort that the search
// finds. A library that refuses the drivers of the system gets SwiftShader, if set-up has put it into the cache.
var stacks = sync.OnceValues(func() ([]stack, error) {
	h := thisHost()
	files := []string{h.forced(Options{})}
	if files[0] == "" {
		files = nil
		for _, p := range h.places() {
			for _, f := range p.files() {
				if f.err == nil && !p.plain {
					files = append(files, f.path)
				}
			}
		}
	}
	var list []stack
	var why []string
	known := map[string]bool{}
	for _, file := range files {
		for _, env := range [][]string{nil, swiftShader(h)} {
			env := append([]string{"KGEN_WEBGPU_LIB=" + file}, env...)
			out, err := child("TestStack", "stack", append(env, "KGEN_REQUIRE=")...)
			_, name, ok := strings.Cut(out, "library: ")
			switch {
			case err != nil:
				return nil, fmt.Errorf("%s %v: %w\n%s", file, env[1:], err, out)
			case !ok: // the child skipped the test
				why = append(why, file+": "+out)
				continue
			}
			name, _, _ = strings.Cut(name, "\n")
			name, version, _ := strings.Cut(name, " ")
			if !known[name] {
				list = append(list, stack{name, version, file, env})
				known[name] = true
			}
			break
		}
	}
	if len(list) == 0 {
		return nil, &plan.DeviceError{Fault: plan.NoLibrary, Call: "find libraries", Detail: strings.Join(why, "\n")}
	}
	return list, nil
})

// swiftShader returns the variables that choose the driver of Chrome.
func swiftShader(h host) []string {
	cache := h.env("KGEN_CACHE")
	if cache == "" {
		cache = filepath.Join(h.cache, "kgen")
	}
	icd := filepath.Join(cache, "driver", "swiftshader", "vk_swiftshader_icd.json")
	return []string{"VK_DRIVER_FILES=" + icd, "VK_ICD_FILENAMES=" + icd}
}

// TestStack tells the library and the adapter of a child.
func TestStack(t *testing.T) {
	if os.Getenv(childCase) == "" {
		list, err := stacks()
		if err != nil {
			missing(t, err)
		}
		for _, s := range list {
			t.Logf("%s %s, %s", s.library, s.version, s.env)
		}
		return
	}
	a := testAdapter(t)
	d := testDevice(t, plan.Requires{})
	testPipeline(t, d, axpy())
	fmt.Printf("library: %s\nadapter: %s\n", a.library.Name(), a.info.Name)
}

// onEveryStack runs a test on each library. Where none is named, both sorts are wanted.
func onEveryStack(t *testing.T, run func(t *testing.T, s stack)) {
	t.Helper()
	list, err := stacks()
	if err != nil {
		missing(t, err)
	}
	found := map[string]bool{}
	for _, s := range list {
		found[s.library] = true
		t.Run(s.library, func(t *testing.T) { run(t, s) })
	}
	for _, name := range []string{native, dawn} {
		if !found[name] && thisHost().forced(Options{}) == "" {
			t.Run(name, func(t *testing.T) {
				missing(t, &plan.DeviceError{Fault: plan.NoLibrary, Call: "find " + name, Detail: "there is none that can be used with a driver of this machine"})
			})
		}
	}
}
