// y = a row of W, F32 of 128 rows of 64
// workgroup=64
@group(0) @binding(0) var<storage, read> values: array<vec4<f32>, 2048>;
@group(0) @binding(1) var<storage, read> params: array<u32, 266>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>, 16>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  if (i < 16u) {
    let row = min(params[0u], 127u);
    let at = row * 16u + i;
    y[i] = values[at];
  }
}
