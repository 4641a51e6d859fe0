// y = 30·tanh(x/30) of 1000 values
// workgroup=64
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>, 250>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>, 250>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  if (i < 250u) {
    let z = x[i] * 0.06666667f;
    let e = exp(select(z, vec4<f32>(80.0), z > vec4<f32>(80.0)));
    y[i] = 30.0f * (1.0 - 2.0 / (e + 1.0));
  }
}
