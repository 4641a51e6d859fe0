//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

var update = flag.Bool("update", false, "rewrite docs/aborts.md")

// TestAborts runs each case twice in processes of their own: as a program without this package would make the mistake, and
// through the exported methods.
func TestAborts(t *testing.T) {
	if name := os.Getenv(childCase); name != "" {
		inChild(t, name)
		return
	}
	onEveryStack(t, func(t *testing.T, s stack) {
		for _, c := range abortCases() {
			if c.raw != nil {
				t.Run(c.name+"/raw", func(t *testing.T) { c.runRaw(t, s) })
			}
			t.Run(c.name, func(t *testing.T) {
				out, err := child("TestAborts", c.name, append(s.env, c.env...)...)
				mustLive(t, out, err)
			})
		}
	})
}

// lived is what a child prints that made a mistake and came back.
const lived = "the library came back"

func (c *abortCase) runRaw(t *testing.T, s stack) {
	out, err := child("TestAborts", "raw "+c.name, append(s.env, c.env...)...)
	dies, last := c.dies[s.library], strings.Contains(out, lived)
	switch {
	case dies == "" && (err != nil || !last):
		t.Errorf("%s should come back: %v\n%s", s.library, err, out)
	case dies != "" && (err == nil || last):
		t.Errorf("%s should end the process; say so no longer, if it is better now\n%s", s.library, out)
	case dies != "" && !strings.Contains(out, dies):
		t.Errorf("the process ended without %q\n%s", dies, out)
	}
}

func inChild(t *testing.T, name string) {
	for _, c := range abortCases() {
		switch name {
		case "raw " + c.name:
			c.raw(t, newBench(t, plan.Requires{}))
			fmt.Println(lived)
			os.Exit(0) // what the mistake left over is no matter
		case c.name:
			c.runAndCheck(t)
		default:
			continue
		}
		return
	}
	t.Fatalf("there is no case %q", name)
}

// runAndCheck looks at the error, and at the device afterwards.
func (c *abortCase) runAndCheck(t *testing.T) {
	var b *bench
	if !c.bare {
		b = newBench(t, plan.Requires{})
	}
	err := c.run(t, b)
	if c.want == nil {
		if err != nil {
			t.Fatal(err)
		}
	} else {
		checkError(t, err, c.want, c.text)
		if len(c.by) > 0 {
			if part := c.by[b.api.flavour.name]; !strings.Contains(err.Error(), part) {
				t.Errorf("the text lacks %q: %v", part, err)
			}
		}
	}
	if c.bare || c.lost {
		return
	}
	if err := b.submit(b.work(64, 1, 1)); err != nil {
		t.Errorf("the device is of no use afterwards: %v", err)
	}
}

// TestAbortsByConstruction holds the package's source to what the cases say of it: who uses what.
func TestAbortsByConstruction(t *testing.T) {
	users := identifierUsers(t)
	for _, c := range abortCases() {
		if c.run == nil || c.want == nil && (c.never == "") == (c.ends == "") {
			t.Errorf("%s: it does not say how it ends", c.name)
		}
		for name, want := range c.users {
			slices.Sort(want)
			if d := cmp.Diff(want, users[name]); d != "" {
				t.Errorf("%s rests on who uses %s: %s", c.name, name, d)
			}
		}
	}
	for _, name := range boundNames(t) {
		if isStub(name) {
			t.Errorf("%s is looked up in wgpu-native, which does not implement it", name)
		}
	}
	if len(stubs()) != 40 {
		t.Errorf("%d stubs, want 40", len(stubs()))
	}
}

// identifierUsers returns for each identifier the functions of the package that use it, and for calls through the table of
// flavours those that make them.
func identifierUsers(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	users := map[string][]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			note := func(name string) {
				if !slices.Contains(users[name], f.Name.Name) {
					users[name] = append(users[name], f.Name.Name)
					slices.Sort(users[name])
				}
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if inner, ok := n.X.(*ast.SelectorExpr); ok {
						note(inner.Sel.Name + "." + n.Sel.Name)
					}
				case *ast.Ident:
					note(n.Name)
				}
				return true
			})
		}
	}
	return users
}

// boundNames returns what is looked up in wgpu-native.
func boundNames(t *testing.T) []string {
	t.Helper()
	number := purego.NewCallback(func() uintptr { return nativeOldest })
	var names []string
	a, err := bind(func(name string) uintptr {
		if name == "wgpuInstanceRequestAdapterF" || name == "wgpuGetInstanceCapabilities" {
			return 0
		}
		names = append(names, name)
		return number
	})
	if err != nil || a.flavour.name != native {
		t.Fatalf("bound %v, %v", a, err)
	}
	return names
}

// stubs lists what wgpu-native 29 exports and does not implement.
func stubs() []string {
	list := strings.Fields(`wgpuInstanceWaitAny wgpuGetProcAddress wgpuGetInstanceFeatures wgpuHasInstanceFeature
		wgpuInstanceGetWGSLLanguageFeatures wgpuInstanceHasWGSLLanguageFeature wgpuShaderModuleGetCompilationInfo
		wgpuDeviceCreateComputePipelineAsync wgpuDeviceCreateRenderPipelineAsync wgpuDeviceGetAdapterInfo wgpuDeviceGetLostFuture
		wgpuBufferGetMapState wgpuBufferReadMappedRange wgpuBufferWriteMappedRange wgpuExternalTextureAddRef
		wgpuExternalTextureRelease wgpuSupportedInstanceFeaturesFreeMembers wgpuSupportedWGSLLanguageFeaturesFreeMembers
		wgpuTextureGetTextureBindingViewDimension`)
	for _, object := range strings.Fields(`BindGroup BindGroupLayout Buffer CommandBuffer CommandEncoder ComputePassEncoder
		ComputePipeline Device ExternalTexture PipelineLayout QuerySet Queue RenderBundle RenderBundleEncoder RenderPassEncoder
		RenderPipeline Sampler ShaderModule Surface Texture TextureView`) {
		list = append(list, "wgpu"+object+"SetLabel")
	}
	return list
}

func isStub(name string) bool { return slices.Contains(stubs(), name) }

func typeName(err error) string { return strings.TrimPrefix(fmt.Sprintf("%T", err), "*plan.") }

// TestAbortsDocument compares docs/aborts.md with the table.
func TestAbortsDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "aborts.md")
	if *update {
		if err := os.WriteFile(path, []byte(abortsDocument()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(abortsDocument(), strings.ReplaceAll(string(have), "\r\n", "\n")); d != "" {
		t.Errorf("docs/aborts.md is not what the table says; make golden writes it: %s", d)
	}
}

const abortsIntro = `# Mistakes that end a process

wgpu-native ends the process on a list of mistakes, and nothing in Go can catch that. This table has each of them, and those that
a library reports as errors. Each was made in a process of its own through exported methods of runtime/webgpu, on wgpu-native 29
and on Dawn; the tests that do so, TestAborts and TestAbortsByConstruction, hold what stands here. "By itself" is what the
library does when a program calls it so without this package. A device is lost by wgpuDeviceDestroy, of which the package is not
told.

Two cases are left that no check takes away, and both stand in the table. A device that is lost between the small write before each
submit and the end of that submit, some microseconds later: a server that must survive it runs the engine in a child process. And
text that is nested thousands deep: the text of kernels is a part of the program, as its Go code is; kgen vet, which reads any text,
has a child process read it.

| mistake | by itself | here |
|---|---|---|
`

// abortsDocument writes the table of cases as docs/aborts.md.
func abortsDocument() string {
	var s strings.Builder
	s.WriteString(abortsIntro)
	for _, c := range abortCases() {
		fmt.Fprintf(&s, "| **%s**: %s | %s | %s |\n", c.name, c.about, c.byItself(), c.outcome())
	}
	return s.String()
}

func (c *abortCase) byItself() string {
	if c.alone != "" {
		return c.alone
	}
	if c.raw == nil {
		return "reports an error"
	}
	var parts []string
	for _, name := range []string{native, dawn} {
		if text := c.dies[name]; text != "" {
			parts = append(parts, name+" ends the process: `"+strings.ReplaceAll(text, "`", "")+"`")
		} else {
			parts = append(parts, name+" comes back")
		}
	}
	return strings.Join(parts, "; ")
}

func (c *abortCase) outcome() string {
	s := c.ends
	if c.never != "" {
		s = "unreachable: " + c.never
	}
	if c.want == nil {
		return s
	}
	if s != "" {
		s += ". The nearest call gives "
	}
	parts := strings.Split(c.text, "|")
	s += typeName(c.want)
	switch want := c.want.(type) {
	case *plan.LimitError:
		parts = []string{want.Error()}
		if want.Subject == "" {
			parts = []string{c.text}
		}
	case *plan.PlanError:
		parts[0] = "plan: " + want.Subject + ": ... " + parts[0]
	case *plan.DeviceError:
		s += " of fault " + []string{"", "NoLibrary", "NoAdapter", "OutOfMemory", "Lost", "Closed", "Failed"}[want.Fault]
		if want.Call != "" {
			parts[0] = want.Call + ": ... " + parts[0]
		}
	}
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			s += ", `" + part + "`"
		}
	}
	for _, name := range []string{native, dawn} {
		if c.by[name] != "" {
			s += "; " + name + ": `" + c.by[name] + "`"
		}
	}
	return s
}

// destroy makes the device lost.
func (b *bench) destroy(t *testing.T) {
	t.Helper()
	on(t, b, func() { call1(b.api.addr[fnDeviceDestroy], b.device) })
}

// calledWhenLost makes each call: all say that the device is lost.
func (b *bench) calledWhenLost(t *testing.T, n plan.Ticket) {
	t.Helper()
	b.Submit(b.work(64, 1, 1)) // any first call notes the loss
	for _, name := range calls {
		err := b.oneCall(name, n)
		if name == "Wait" && (err == nil || n == 0) {
			continue // the work was done before, or there was none
		}
		isFault(t, name, err, plan.Lost)
	}
}

func isFault(t *testing.T, call string, err error, fault plan.DeviceFault) {
	t.Helper()
	var e *plan.DeviceError
	if !errors.As(err, &e) || e.Fault != fault {
		t.Errorf("%s: got %T %v, want fault %d", call, err, err, fault)
		return
	}
	t.Logf("%s: %v", call, err)
}

// calls are the methods of a device that can fail.
var calls = []string{"NewBuffer", "Write", "NewPipeline", "NewGroup", "JudgeText", "JudgeKernel", "Submit", "Wait"}

// oneCall makes one call that uses the device.
func (b *bench) oneCall(name string, n plan.Ticket) (err error) {
	switch name {
	case "NewBuffer":
		_, err = b.NewBuffer(plan.Buffer{Name: "z", Kind: plan.ArenaBuffer, Bytes: 64})
	case "Write":
		err = b.Write(plan.Handle(b.x), 0, make([]byte, 4))
	case "NewPipeline":
		_, err = b.NewPipeline(axpy(), false)
	case "NewGroup":
		_, err = b.NewGroup([]plan.Access{plan.Read}, []plan.Range{{Buffer: b.x, Bytes: 256}})
	case "JudgeText":
		err = b.JudgeText("text", axpy().Text)
	case "JudgeKernel":
		err = b.JudgeKernel(axpy(), false)
	case "Submit":
		_, err = b.Submit(b.work(64, 1, 1))
	case "Wait":
		_, err = b.Wait(context.Background(), n)
	}
	return err
}
