// y = W·x, W Q6_K of 151936 rows of 1536
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=f32 math=deferred reduce=none splitk=1
@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>, 7292928>;
@group(0) @binding(1) var<storage, read> high_bits_scales: array<vec4<u32>, 4558080>;
@group(0) @binding(2) var<storage, read> unit: array<u32, 455808>;
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>, 384>;
@group(0) @binding(4) var<storage, read_write> y0: array<f32, 151936>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row0 = group.x * 64u + local;
  let from0 = row0 * 48u;
  var acc0 = vec4<f32>();
  for (var block = 0u; block < 48u; block += 1u) {
    let x0 = x[block * 8u];
    let x1 = x[block * 8u + 1u];
    let x2 = x[block * 8u + 2u];
    let x3 = x[block * 8u + 3u];
    let x4 = x[block * 8u + 4u];
    let x5 = x[block * 8u + 5u];
    let x6 = x[block * 8u + 6u];
    let x7 = x[block * 8u + 7u];
    let at0 = from0 + block;
    let place0 = (at0 >> 2u) * 4u + (at0 & 1u) * 2u;
    let q0 = codes[place0];
    let p0 = codes[place0 + 1u];
    let g0 = high_bits_scales[(at0 >> 2u) * 2u];
    let h0 = high_bits_scales[(at0 >> 2u) * 2u + 1u];
    let ab0 = unpack4xI8(high_bits_scales[(at0 >> 3u) + 3646464u][(at0 >> 1u) & 3u] >> ((at0 & 1u) * 16u));
    let a0 = ab0.x;
    let b0 = ab0.y;
    let d0 = unpack2x16float(unit[at0 >> 4u])[(at0 >> 3u) & 1u];
    let shift0 = vec4<u32>((at0 & 2u) * 2u);
    let low0 = ((((q0 >> shift0) & vec4<u32>(0x0f0f0f0fu)) | (((g0 >> vec4<u32>((at0 & 3u) * 2u)) & vec4<u32>(0x03030303u)) << vec4<u32>(4u))) + vec4<u32>(0x60606060u)) ^ vec4<u32>(0x80808080u);
    let high0 = ((((p0 >> shift0) & vec4<u32>(0x0f0f0f0fu)) | (((h0 >> vec4<u32>((at0 & 3u) * 2u)) & vec4<u32>(0x03030303u)) << vec4<u32>(4u))) + vec4<u32>(0x60606060u)) ^ vec4<u32>(0x80808080u);
    var first0 = vec4<f32>(unpack4xI8(low0.x)) * x0;
    first0 = fma(vec4<f32>(unpack4xI8(low0.y)), x1, first0);
    first0 = fma(vec4<f32>(unpack4xI8(low0.z)), x2, first0);
    first0 = fma(vec4<f32>(unpack4xI8(low0.w)), x3, first0);
    var second0 = vec4<f32>(unpack4xI8(high0.x)) * x4;
    second0 = fma(vec4<f32>(unpack4xI8(high0.y)), x5, second0);
    second0 = fma(vec4<f32>(unpack4xI8(high0.z)), x6, second0);
    second0 = fma(vec4<f32>(unpack4xI8(high0.w)), x7, second0);
    acc0 = fma(vec4<f32>(d0 * f32(a0)), first0, acc0);
    acc0 = fma(vec4<f32>(d0 * f32(b0)), second0, acc0);
  }
  let sum0 = acc0.x + acc0.y + (acc0.z + acc0.w);
  y0[row0] = sum0;
}
