package kgen_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/gguf"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

var update = flag.Bool("update", false, "rewrite docs/errors.md")

// Every code of the table can be provoked, and what comes is typed and tells what to do.
func TestEveryCode(t *testing.T) {
	tiny := write(t, "tiny.gguf", oracle.Bytes(t, "llama-q4_1.gguf"))
	load := func(path string, opts kgen.Options) error {
		m, err := kgen.Load(t.Context(), path, opts)
		if err == nil {
			m.Close()
		}
		return err
	}
	provoke := map[kgenrt.Code]func(t *testing.T) error{
		kgenrt.NoWebGPU: func(t *testing.T) error {
			t.Setenv("KGEN_WEBGPU_LIB", write(t, "library.so", []byte("no library")))
			return load(tiny, kgen.Options{})
		},
		kgenrt.NoModel:      func(t *testing.T) error { return load(filepath.Join(t.TempDir(), "absent.gguf"), kgen.Options{}) },
		kgenrt.UnknownModel: func(t *testing.T) error { return load("smollm9", kgen.Options{}) },
		kgenrt.InvalidModel: func(t *testing.T) error {
			return load(write(t, "text.gguf", []byte("no header in here at all")), kgen.Options{})
		},
		kgenrt.UnsupportedModel: func(t *testing.T) error {
			data := oracle.Bytes(t, "llama-q4_1.gguf")
			other := strings.Replace(string(data), "general.architecture\x08\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00llama", "general.architecture\x08\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00mamba", 1)
			return load(write(t, "mamba.gguf", []byte(other)), kgen.Options{Device: "cpu"})
		},
		kgenrt.InvalidTemplate: func(t *testing.T) error { return withoutTemplate(t, tiny) },
		kgenrt.BadRequest:      func(t *testing.T) error { return load(tiny, kgen.Options{Device: "quantum"}) },
		kgenrt.ContextFull: func(t *testing.T) error {
			m, err := kgen.Load(t.Context(), tiny, kgen.Options{Device: "cpu", Context: 4})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			s, err := m.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			return last(s.GenerateIDs(t.Context(), []uint32{1, 2, 3, 4, 5}, kgen.Generation{}))
		},
		kgenrt.LimitExceeded: func(t *testing.T) error {
			f, err := kgen.OpenFile(tiny)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			p, err := schedules.Lookup("portable")
			if err != nil {
				t.Fatal(err)
			}
			p.Limits.BindingBytes = 4096
			_, err = f.Compile(kgen.CompileOptions{Profile: p, Context: 512, KV: ir.F32})
			return err
		},
		kgenrt.OutOfMemory:   func(t *testing.T) error { return engineFails(t, &plan.DeviceError{Fault: plan.OutOfMemory}) },
		kgenrt.KernelRefused: func(t *testing.T) error { return engineFails(t, &plan.KernelError{Kernel: "gemv", Detail: "bad text"}) },
		kgenrt.DeviceRefused: func(t *testing.T) error { return engineFails(t, &plan.DeviceError{Fault: plan.Miscomputes}) },
		kgenrt.DeviceLost:    func(t *testing.T) error { return engineFails(t, &plan.DeviceError{Fault: plan.Lost}) },
		kgenrt.Aborted: func(t *testing.T) error {
			m, err := kgen.Load(t.Context(), tiny, kgen.Options{Device: "cpu"})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			s, err := m.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return last(s.GenerateIDs(ctx, []uint32{1, 2}, kgen.Generation{}))
		},
		kgenrt.GenerationFailed: func(t *testing.T) error { return engineFails(t, errors.New("something nobody foresaw")) },
	}
	for _, row := range kgenrt.Codes() {
		t.Run(string(row.Code), func(t *testing.T) {
			f := provoke[row.Code]
			if f == nil {
				t.Fatal("nothing here provokes it")
			}
			err := f(t)
			var typed *kgenrt.Error
			if !errors.As(err, &typed) {
				t.Fatalf("%T %v has no code", err, err)
			}
			if typed.Code != row.Code || typed.Message == "" || typed.Code.Info().Fix == "" {
				t.Errorf("got %s: %v", typed.Code, err)
			}
		})
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// last returns the error that ends a sequence.
func last(pieces func(func(kgen.Piece, error) bool)) (err error) {
	for _, e := range pieces {
		err = e
	}
	return err
}

func withoutTemplate(t *testing.T, path string) error {
	m, err := kgen.Load(t.Context(), path, kgen.Options{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s, err := m.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	s.Template = nil
	return last(s.Chat(t.Context(), []kgen.Message{{Role: "user", Content: "hello"}}, kgen.Generation{}))
}

// engineFails loads a model on a backend whose every call fails with err.
func engineFails(t *testing.T, err error) error {
	data := oracle.Bytes(t, "llama-q4_1.gguf")
	f, e := gguf.Parse(strings.NewReader(string(data)), int64(len(data)))
	if e != nil {
		t.Fatal(e)
	}
	h, e := models.FromGGUF(f)
	if e != nil {
		t.Fatal(e)
	}
	g, e := models.Build(h, models.Options{})
	if e != nil {
		t.Fatal(e)
	}
	p, e := schedules.Lookup("portable")
	if e != nil {
		t.Fatal(e)
	}
	r, e := codegen.Compile(g, codegen.Options{Profile: p, Context: 64})
	if e != nil {
		t.Fatal(e)
	}
	_, e = kgenrt.NewEngine(t.Context(), r.Plan, failing{err: err}, f, kgenrt.EngineOptions{})
	return e
}

// failing is a backend that does nothing but fail. A method that is missing here must not be reached.
type failing struct {
	plan.Backend
	err error
}

func (f failing) Device() plan.Device                        { return plan.Device{} }
func (f failing) NewBuffer(plan.Buffer) (plan.Handle, error) { return 0, f.err }

// docs/errors.md is the table for people.
func TestErrorsDocument(t *testing.T) {
	var text strings.Builder
	text.WriteString("# Errors\n\nEvery error that package kgen returns has one of these codes: in Go as `kgenrt.Error.Code`, with `--json` as `error.code`. What the\n" +
		"command says of WGSL texts, packages and other files has a message alone, `error.message`.\n\n")
	text.WriteString("| code | usual cause | what to do | HTTP |\n|---|---|---|---|\n")
	for _, row := range kgenrt.Codes() {
		fmt.Fprintf(&text, "| %s | %s | %s | %d |\n", row.Code, row.Cause, row.Fix, row.Status)
	}
	const path = "docs/errors.md"
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != text.String() {
		t.Errorf("%s is not what the table says (%v); run: go test . -run TestErrorsDocument -update", path, err)
	}
}
