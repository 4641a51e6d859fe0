// y = a row of W, F16 of 100 rows of 80
// workgroup=64
@group(0) @binding(0) var<storage, read> values: array<vec4<u32>, 1000>;
@group(0) @binding(1) var<storage, read> params: array<u32, 28>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>, 20>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  if (i < 20u) {
    let row = min(params[0u], 99u);
    let eight = values[row * 10u + (i >> 1u)];
    let pair = select(eight.xy, eight.zw, (i & 1u) == 1u);
    y[i] = vec4<f32>(unpack2x16float(pair.x), unpack2x16float(pair.y));
  }
}
