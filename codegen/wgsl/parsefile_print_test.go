package wgsl_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// What others wrote prints in kgen's form, with its comments; everything that Parse knows is in here.
func TestParsePrints(t *testing.T) {
	const text = `diagnostic(off,derivative_uniformity); requires packed_4x8_integer_dot_product;
enable f16 ;
enable subgroups;
// both
alias Real=f32;
struct S{a:Real,/* padded */@size(16)b:u32,c:array<vec3f,2*N>,};
@id(3)override scale:f32=1e-5;override tile=8u; // columns
const N=2;   // a half of them
const_assert N>1;
@group(1)@binding(2)var<storage,read_write>s:array<S>;
var<workgroup>w:array<array<f32,N>,tile>;var<private>p=1u;
@must_use fn twice(x:f32)->f32{return x*2;}
@compute@workgroup_size(tile,2)fn main(@builtin(local_invocation_index)i:u32){
  /* several
     lines */
  var k=0;
  loop{if k>3{break;}else if k==2{continue;}else{k++;}
    // next
    continuing{k+=1;break if k==9;}}
  switch k{case 1,2:{_=twice(1);}default{}}
  for(;;){break;}
  while(k<3){k--;}
  let q=&s[i].c[1];(*q).x=scale;q.y=-(-1.0);{w[i%tile][0]=f32(1.5h);}
  return;
}
`
	const want = `enable f16;
enable subgroups;
diagnostic(off, derivative_uniformity);
requires packed_4x8_integer_dot_product;
// both
alias Real = f32;

struct S {
  a: f32,
  @size(16) b: u32,
  c: array<vec3<f32>, 4>,
}

// padded
@id(3) override scale: f32 = 1e-05;
override tile = 8u; // columns
const N = 2; // a half of them
const_assert N > 1;

@group(1) @binding(2) var<storage, read_write> s: array<S>;
var<workgroup> w: array<array<f32, 2>, tile>;
var<private> p: u32 = 1u;

@must_use
fn twice(x: f32) -> f32 {
  return x * 2;
}

@compute @workgroup_size(tile, 2, 1)
fn main(@builtin(local_invocation_index) i: u32) {
  // several
  //     lines
  var k = 0;
  loop {
    if (k > 3) {
      break;
    } else if (k == 2) {
      continue;
    } else {
      k += 1;
    }
    // next
    continuing {
      k += 1;
      break if k == 9;
    }
  }
  switch (k) {
    case 1, 2: {
      _ = twice(1);
    }
    default: {
    }
  }
  for (;;) {
    break;
  }
  while (k < 3) {
    k -= 1;
  }
  let q = &s[i].c[1];
  (*q).x = scale;
  q.y = -(-1.0);
  {
    w[i % tile][0] = f32(1.5h);
  }
  return;
}
`
	f, err := wgsl.Parse("text.wgsl", text)
	if err != nil {
		t.Fatal(err)
	}
	printed := wgsl.Print(f)
	if d := cmp.Diff(want, printed); d != "" {
		t.Error(d)
	}
	parsesBack(t, "text.wgsl", f, printed)
	eachCompiler(t, func(t *testing.T, _ string, c judge.Validator) {
		for _, text := range []string{text, printed} {
			if ok, why := accepts(t, c, text); !ok {
				t.Errorf("refused:\n%s\n%s", why, text)
			}
		}
	})
}
