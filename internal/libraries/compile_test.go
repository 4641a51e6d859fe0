package libraries

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const stubSource = "const char *kgen_dawn_version(void) { return KGEN_DAWN_VERSION; }\n"

// withStub is a library that needs a stub, in a wheel with licences.
func withStub(t *testing.T, stub string) (Library, string) {
	wheel := makeWheel(t, memberName, content, "a.dist-info/LICENSE", []byte("permission"), "a.dist-info/more/MIT", []byte("as is"), "a.dist-info/other", []byte("more"))
	l := library(wheel)
	l.Stub = stub
	l.Sources[0].LicenceDir, l.Sources[0].Licences = "a.dist-info", []string{"LICENSE", "more/MIT"}
	file := filepath.Join(t.TempDir(), wheelName)
	write(t, file, string(wheel))
	return l, file
}

// fakeCompiler puts a program in the place of the C compiler.
func fakeCompiler(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for a compiler is a shell script; libraries with a stub are for Linux alone")
	}
	file := filepath.Join(t.TempDir(), "cc")
	write(t, file, "#!/bin/sh\n"+script)
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CC", file+" -g")
}

// writesTarget is a compiler that writes its arguments to the file after -o.
const writesTarget = `all="$*"; while [ "$1" != -o ]; do shift; done; echo "$all" >"$2"`

func TestStub(t *testing.T) {
	fakeCompiler(t, writesTarget)
	l, wheel := withStub(t, stubSource)
	o := options(t, l, "http://127.0.0.1:1")
	o.From = wheel
	done, err := Install(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	whole := []string{
		"made-up-1.0/liba.so", "made-up-1.0/libwebgpu_dawn.so", "made-up-1.0/licences/LICENSE", "made-up-1.0/licences/MIT", "made-up-1.0/stub.json",
	}
	holds(t, o.Folder, whole...)
	made, err := os.ReadFile(done.File)
	if err != nil || filepath.Base(done.File) != "libwebgpu_dawn.so" {
		t.Fatalf("%s: %v", done.File, err)
	}
	for _, want := range []string{"-g -O2 -shared -fPIC", `-DKGEN_DAWN_VERSION="1.0"`, "stub.c"} {
		if !strings.Contains(string(made), want) {
			t.Errorf("the compiler ran with %q, want %q", made, want)
		}
	}

	dir := filepath.Dir(done.File)
	for name, damage := range map[string]func(){
		"nothing":         func() {},
		"library":         func() { write(t, filepath.Join(dir, "liba.so"), "x") },
		"compiled stub":   func() { write(t, done.File, "x") },
		"record":          func() { write(t, filepath.Join(dir, recordName), "{") },
		"record is gone":  func() { os.Remove(filepath.Join(dir, recordName)) },
		"another stub":    func() { o.Library.Stub = stubSource + "\n" },
		"library is gone": func() { os.Remove(filepath.Join(dir, "liba.so")) },
	} {
		damage()
		done, err := Install(t.Context(), o)
		if err != nil || done.There != (name == "nothing") {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		holds(t, o.Folder, whole...)
		if again, err := Install(t.Context(), o); err != nil || !again.There {
			t.Errorf("%s: %+v, %v after it was mended", name, again, err)
		}
	}
}

// TestStubFails lets the compiler fail: its own words are in the error, and what to install.
func TestStubFails(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"no compiler", "", "no-compiler-here"},
		{"no headers", "echo dlfcn.h: No such file >&2; exit 1", "dlfcn.h: No such file"},
		{"nothing made", "exit 0", "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if fakeCompiler(t, c.script); c.script == "" {
				t.Setenv("CC", "no-compiler-here")
			}
			l, wheel := withStub(t, stubSource)
			o := options(t, l, "http://127.0.0.1:1")
			o.From = wheel
			_, err := Install(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			var e *CompilerError
			if c.name != "nothing made" && (!errors.As(err, &e) || !strings.Contains(err.Error(), "apt install gcc libc6-dev")) {
				t.Errorf("error %v doesn't say what to install", err)
			}
			holds(t, o.Folder)
		})
	}
}

// TestDawnStubCompiles runs the real compiler on the real stub.
func TestDawnStubCompiles(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil || runtime.GOOS != "linux" {
		if os.Getenv("KGEN_REQUIRE") == "1" && runtime.GOOS == "linux" {
			t.Fatal("cc is missing, and `make setup` needs it")
		}
		t.Skip("cc is missing, and `make setup` needs it on Linux")
	}
	dawn, err := Lookup("dawn")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := compile(t.Context(), dawn.Stub, "1.2", dir); err != nil {
		t.Fatal(err)
	}
	if err := checkStub(dir, dawn.Stub); err != nil {
		t.Error(err)
	}
	holds(t, dir, stubName, recordName)
}

// TestInspect names the builds that files are.
func TestInspect(t *testing.T) {
	fakeCompiler(t, writesTarget)
	plain := library(rightWheel(t))
	stubbed, wheel := withStub(t, stubSource)
	stubbed.Name, stubbed.Sources[0].Name = "stubbed", "b-project"
	stubbed.Sources[0].Wheels[0].Member.SHA256, stubbed.Sources[0].Wheels[0].As = sum(content), "inner.so"
	o := options(t, stubbed, "")
	o.From = wheel
	done, err := Install(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	all := []Library{stubbed, plain}
	if s := Inspect(all, done.File); !s.Pinned || s.SHA256 != sum(content) || !strings.Contains(s.Text, "as pinned, of b-project 1.0 for linux/amd64 (unpacked alone)") {
		t.Errorf("%+v", s)
	}
	write(t, done.File, "x")
	if s := Inspect(all, done.File); s.Pinned || !strings.Contains(s.Text, "libwebgpu_dawn.so has SHA-256") {
		t.Errorf("%+v", s)
	}
	all = []Library{plain}
	file := filepath.Join(t.TempDir(), "any.so")
	write(t, file, string(content))
	if s := Inspect(all, file); !s.Pinned || s.SHA256 != sum(content) {
		t.Errorf("%+v", s)
	}
	write(t, file, "x")
	if s := Inspect(all, file); s.Pinned || s.Text != "no build that kgen pins" {
		t.Errorf("%+v", s)
	}
	if s := Inspect(all, "libwgpu_native.so"); s.Pinned || s.SHA256 != "" || s.Text == "" {
		t.Errorf("%+v", s)
	}
}
