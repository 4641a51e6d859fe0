// y = a row of W, F32 of 100 rows of 33
// workgroup=64
@group(0) @binding(0) var<storage, read> values: array<f32, 3300>;
@group(0) @binding(1) var<storage, read> params: array<u32, 28>;
@group(0) @binding(2) var<storage, read_write> y: array<f32, 33>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  if (i < 33u) {
    let row = min(params[0u], 99u);
    let at = row * 33u + i;
    y[i] = values[at];
  }
}
