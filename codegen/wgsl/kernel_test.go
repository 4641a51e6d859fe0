package wgsl_test

import (
	"path"
	"runtime"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

const allBuiltins = "@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32, @builtin(num_workgroups) groups: vec3<u32>"

// kernel builds a module with something of everything in scope.
func kernel(body func(m *wgsl.Module)) *wgsl.Module {
	m := wgsl.New()
	m.Const("columns", "96u")
	m.Const("half_up", "0.5")
	m.Read("codes", "vec4<u32>", 64)
	m.Read("x", "f32", 64)
	m.ReadWrite("y", "f32", 64)
	m.ReadWrite("arena", "u32", 128)
	m.ReadWrite("tally", "atomic<u32>", 4)
	m.Uniform("limits", "vec4<u32>", 2)
	m.Workgroup("part", "f32", 32)
	m.Workgroup("best", "u32", 0)
	m.Workgroup("counts", "atomic<u32>", 4)
	m.Alias("a", "arena", "u32", 0)
	m.Operand("b", "arena", "f32", 64, 32)
	m.ReadWrite("wide", "vec4<u32>", 64)
	m.Alias("q", "wide", "vec4<f32>", 32)
	m.Alias("w", "codes", "vec4<f32>", 8)
	m.Func("square", "v: f32", "f32", func() { m.Return("v * v") })
	m.Compute(32, allBuiltins, func() {
		m.Let("u", "lane")
		m.Let("i", "i32(lane)")
		m.Let("f", "x[lane]")
		m.Let("c", "f > 0")
		m.Let("v2", "vec2(f, 1.0)")
		m.Let("v4", "vec4(f)")
		m.Let("u4", "codes[lane]")
		m.Let("i4", "vec4<i32>(u4)")
		m.Var("n", "0u")
		m.Var("sum", "0.0")
		m.Var("acc", "vec4(0.0)")
		m.Var("list: array<f32, 4>", "")
		body(m)
	})
	return m
}

// last returns the last statement of the last function.
func last(m *wgsl.Module) wgsl.Stmt {
	decls := m.File().Decls
	list := decls[len(decls)-1].(*wgsl.Func).Body.List
	return list[len(list)-1]
}

// line returns the position of its caller as errors give it.
func line() wgsl.Pos {
	_, file, n, _ := runtime.Caller(1)
	return wgsl.Pos{File: path.Join(path.Base(path.Dir(file)), path.Base(file)), Line: n}
}

func mustText(t *testing.T, m *wgsl.Module) string {
	t.Helper()
	text, err := m.Text()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return text
}
