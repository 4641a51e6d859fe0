// y = a row of W, Q6_K of 151936 rows of 1536
// workgroup=64
@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>, 7292928>;
@group(0) @binding(1) var<storage, read> high_bits_scales: array<vec4<u32>, 4558080>;
@group(0) @binding(2) var<storage, read> unit: array<u32, 455808>;
@group(0) @binding(3) var<storage, read> params: array<u32, 520>;
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>, 384>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  let row = min(params[0u], 151935u);
  let at = row * 48u + (i >> 3u);
  let part = i & 7u;
  let place = (at >> 2u) * 4u + (at & 1u) * 2u;
  let q = codes[place];
  let p = codes[place + 1u];
  let g = high_bits_scales[(at >> 2u) * 2u];
  let h = high_bits_scales[(at >> 2u) * 2u + 1u];
  let ab = unpack4xI8(high_bits_scales[(at >> 3u) + 3646464u][(at >> 1u) & 3u] >> ((at & 1u) * 16u));
  let a = ab.x;
  let b = ab.y;
  let d = unpack2x16float(unit[at >> 4u])[(at >> 3u) & 1u];
  let shift = vec4<u32>((at & 2u) * 2u);
  let low = ((((q >> shift) & vec4<u32>(0x0f0f0f0fu)) | (((g >> vec4<u32>((at & 3u) * 2u)) & vec4<u32>(0x03030303u)) << vec4<u32>(4u))) + vec4<u32>(0x60606060u)) ^ vec4<u32>(0x80808080u);
  let high = ((((p >> shift) & vec4<u32>(0x0f0f0f0fu)) | (((h >> vec4<u32>((at & 3u) * 2u)) & vec4<u32>(0x03030303u)) << vec4<u32>(4u))) + vec4<u32>(0x60606060u)) ^ vec4<u32>(0x80808080u);
  let word = select(low, high, part >= 4u)[part & 3u];
  y[i] = d * f32(select(a, b, part >= 4u)) * vec4<f32>(unpack4xI8(word));
}
