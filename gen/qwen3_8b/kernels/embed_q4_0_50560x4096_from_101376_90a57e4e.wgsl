// y = a row of W, Q4_0 of 50560 rows of 4096, if it is one of rows 101376 to 151935 of 151936
// workgroup=64
@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>, 6471680>;
@group(0) @binding(1) var<storage, read> scales: array<u32, 3235840>;
@group(0) @binding(2) var<storage, read> params: array<u32, 520>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4<f32>, 1024>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  let row = min(params[0u], 151935u) - 101376u;
  if (row < 50560u) {
    let at = row * 128u + (i >> 3u);
    let part = i & 7u;
    let word = codes[at][part & 3u];
    let q = vec4<f32>(unpack4xU8((word >> (part & 4u)) & 0x0f0f0f0fu));
    let d = unpack2x16float(scales[at >> 1u])[at & 1u];
    y[i] = d * (q - 8.0);
  }
}
