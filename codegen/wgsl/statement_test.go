package wgsl_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// statements holds bodies that are right, many of them uniform by a thread.
func statements() map[string]func(m *wgsl.Module) {
	type M = *wgsl.Module
	return map[string]func(m M){
		"assignments": func(m M) {
			m.Set("n", "u + 1")
			m.Add("acc.x", "f")
			m.Sub("acc", "v4")
			m.Mul("acc", "2.0")
			m.Div("sum", "3")
			m.Or("n", "1")
			m.And("n", "0xffu")
			m.Xor("n", "u")
			m.Shl("n", "1")
			m.Shr("n", "u & 31u")
			m.FMA("sum", "f", "f * 2.0")
			m.FMA("acc", "v4", "vec4(f)")
			m.Set("list[i & 3]", "f")
			m.Set("part[u]", "sum")
			m.Set("y[u]", "sum + acc.w")
			m.Call("atomicAdd(&counts[u & 3u], 1)")
			m.Call("atomicStore(&tally[0], 3u)")
		},
		"operands": func(m M) {
			m.Set("a[u]", "u")
			m.Add("a[0]", "1")
			m.Set("b[u]", "f")
			m.Add("b[u]", "f")
			m.FMA("b[1]", "f", "f")
			m.Set("q[u].y", "f")
			m.Add("q[u][1]", "f")
			m.Mul("q[u].x", "2")
			m.Add("q[u]", "v4")
			m.Set("y[0]", "w[u].x")
		},
		"control": func(m M) {
			m.IfElse("c", func() { m.Add("sum", "1") }, func() {
				m.If("u > 3u", func() { m.Set("sum", "2") })
			})
			m.Loop("k", "0", 4, 1, func() { m.Add("sum", "x[k]") })
			m.Loop("k", "0i", "i", 2, func() { m.Continue() })
			m.Loop("k: i32", "-3", 4, 1, func() { m.Break() })
			m.Loop("k", "lane", "columns / 2u + 1", "columns", func() { m.Let("u", "k") })
			m.While("n < %du", func() { m.Add("n", "1") }, 10)
			m.If("c", func() { m.Return("") })
			m.Set("y[u]", "sum")
		},
		"uniform loop bound": func(m M) { m.Loop("k", "0", "limits[0].x", 1, func() { m.Barrier() }) },
		"uniform by group":   func(m M) { m.If("codes[group.x].y > groups.x", func() { m.Set("y[u]", "subgroupAdd(f)") }) },
		"uniform load":       func(m M) { m.While("workgroupUniformLoad(&best) > 0u", func() { m.Set("best", "0"); m.Barrier() }) },
		"uniform variable": func(m M) {
			m.Loop("k", "16", 64, 8, func() { m.Set("n", "k"); m.If("n > 3u", func() { m.Barrier() }) })
		},
		"barrier, then tail":  func(m M) { m.Barrier(); m.StorageBarrier(); m.If("c", func() { m.Return("") }); m.Set("y[u]", "f") },
		"uniform break":       func(m M) { m.Loop("k", "0", 4, 1, func() { m.Barrier(); m.If("k == group.x", func() { m.Break() }) }) },
		"loop left by some":   func(m M) { m.Loop("k", "lane", 64, 32, func() { m.If("c", func() { m.Break() }) }); m.Barrier() },
		"subgroup in uniform": func(m M) { m.Let("r", "subgroupShuffleXor(f, 1u) + subgroupBroadcastFirst(f)") },
	}
}

func TestStatements(t *testing.T) {
	for name, body := range statements() {
		if _, err := kernel(body).Text(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// How statements print.
func TestStatementText(t *testing.T) {
	m := kernel(func(m *wgsl.Module) {
		m.Comment("operands, %d%%", 100)
		m.Set("b[u]", "f")
		m.Add("b[u + 1]", "f * 2")
		m.Add("a[i]", "1")
		m.Set("q[u].y", "f")
		m.Add("q[u][1]", "f")
		m.FMA("b[0]", "f", "v2.y")
		m.ConstOf("blocks", "columns / 32", "K / 32")
		m.Let("n%d: u32", "%d", 7, 3)
		m.IfElse("c", func() { m.Break() }, func() {
			m.IfElse("u > %du", func() { m.Set("acc[u & 3u]", "f") }, func() { m.Shr("n", "2") }, 3)
		})
		m.Loop("k", "lane", 96, 32, func() { m.Add("sum", "x[k]") })
		m.Loop("k", "0", "limits[0].x + 1", 1, func() { m.While("c && k < 2u", func() { m.Continue() }) })
		m.Return("")
	})
	text, _ := m.Text() // the break is out of place
	_, got, _ := strings.Cut(text, "// operands")
	want := `, 100%
  arena[u + 64u] = bitcast<u32>(f);
  arena[u + 65u] = bitcast<u32>(bitcast<f32>(arena[u + 65u]) + f * 2);
  arena[i] += 1;
  wide[u + 32u].y = bitcast<u32>(f);
  wide[u + 32u][1] = bitcast<u32>(bitcast<vec4<f32>>(wide[u + 32u])[1] + f);
  arena[64] = bitcast<u32>(fma(f, v2.y, bitcast<f32>(arena[64])));
  const blocks = columns / 32; // K / 32
  let n7: u32 = 3;
  if (c) {
    break;
  } else if (u > 3u) {
    acc[u & 3u] = f;
  } else {
    n >>= 2;
  }
  for (var k = lane; k < 96u; k += 32u) {
    sum += x[k];
  }
  for (var k = 0u; k < limits[0].x + 1; k += 1u) {
    while (c && k < 2u) {
      continue;
    }
  }
  return;
}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The frame of a kernel: extensions, header, declarations, in order.
func TestModuleText(t *testing.T) {
	m := wgsl.New()
	m.Comment("sum of %d values", 64)
	m.Const("n", "64u")
	m.Read("x", "f16", 64)
	m.ReadWrite("y", "f32", 1)
	m.Workgroup("part", "vec3<f32>", 5)
	m.Workgroup("count", "atomic<u32>", 0)
	m.Func("square", "v: f32, s: vec2u", "f32", func() { m.Return("v * v") })
	m.Comment("The sum.")
	m.Compute3(8, 2, 1, "@builtin(subgroup_size) size: u32", func() {
		m.If("size > 4u", func() { m.Set("y[0]", "square(f32(x[0]), vec2(1))") })
	})
	want := `enable f16;
enable subgroups;
// sum of 64 values
const n = 64u;

@group(0) @binding(0) var<storage, read> x: array<f16, 64>;
@group(0) @binding(1) var<storage, read_write> y: array<f32, 1>;
var<workgroup> part: array<vec3<f32>, 5>;
var<workgroup> count: atomic<u32>;

fn square(v: f32, s: vec2<u32>) -> f32 {
  return v * v;
}

// The sum.
@compute @workgroup_size(8, 2, 1)
fn main(@builtin(subgroup_size) size: u32) {
  if (size > 4u) {
    y[0] = square(f32(x[0]), vec2(1));
  }
}
`
	if got := mustText(t, m); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := m.WorkgroupBytes(); n != 5*16+16 {
		t.Errorf("%d bytes of workgroup memory, want 96", n)
	}
	b := m.Bindings()
	if len(b) != 2 || b[0].Bytes != 128 || b[0].Count != 64 || b[1].Name != "y" || b[1].Elem != wgsl.F32 {
		t.Errorf("bindings: %v", b)
	}
}
