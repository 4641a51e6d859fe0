// y = a row of W, Q8_0 of 64 rows of 96, if it is one of rows 128 to 191 of 200
// workgroup=64
@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>, 384>;
@group(0) @binding(1) var<storage, read> scales: array<u32, 96>;
@group(0) @binding(2) var<storage, read> params: array<u32, 28>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>, 24>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  if (i < 24u) {
    let row = min(params[0u], 199u) - 128u;
    if (row < 64u) {
      let at = row * 3u + (i >> 3u);
      let part = i & 7u;
      let word = codes[at * 2u + (part >> 2u)][part & 3u];
      let d = unpack2x16float(scales[at >> 1u])[at & 1u];
      y[i] = d * vec4<f32>(unpack4xI8(word));
    }
  }
}
