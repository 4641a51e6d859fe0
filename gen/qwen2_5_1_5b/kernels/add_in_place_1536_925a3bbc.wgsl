// a = a + b of 1536 values
// workgroup=64
@group(0) @binding(0) var<storage, read_write> a: array<vec4<f32>, 384>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>, 384>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  a[i] += b[i];
}
