enable subgroups;
// y = W·x, W Q6_K of 151936 rows of 1536, x of 8-bit codes
// workgroup=64 rows=2 scale=thread x=global grid=tile threads=32 vec=4 unroll=1 xtype=q8 math=dot4i8 reduce=subgroup splitk=1
@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>, 7292928>;
@group(0) @binding(1) var<storage, read> high_bits_scales: array<vec4<u32>, 4558080>;
@group(0) @binding(2) var<storage, read> unit: array<u32, 455808>;
@group(0) @binding(3) var<storage, read> x: array<vec4<u32>, 120>;
@group(0) @binding(4) var<storage, read_write> y0: array<f32, 151936>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let lane = local % 32u;
  let row0 = (group.x * 2u + local / 32u) * 2u;
  let row1 = row0 + 1u;
  let from0 = row0 * 48u;
  let from1 = row1 * 48u;
  var acc0 = 0.0;
  var acc1 = 0.0;
  for (var block = lane; block < 48u; block += 32u) {
    let c0 = x[block * 2u];
    let c1 = x[block * 2u + 1u];
    let pairs = bitcast<vec4<f32>>(x[96u + (block >> 1u)]);
    let pair = select(pairs.xy, pairs.zw, (block & 1u) == 1u);
    let xd = pair.x;
    let xs = pair.y;
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
    let at1 = from1 + block;
    let place1 = (at1 >> 2u) * 4u + (at1 & 1u) * 2u;
    let q1 = codes[place1];
    let p1 = codes[place1 + 1u];
    let g1 = high_bits_scales[(at1 >> 2u) * 2u];
    let h1 = high_bits_scales[(at1 >> 2u) * 2u + 1u];
    let ab1 = unpack4xI8(high_bits_scales[(at1 >> 3u) + 3646464u][(at1 >> 1u) & 3u] >> ((at1 & 1u) * 16u));
    let a1 = ab1.x;
    let b1 = ab1.y;
    let d1 = unpack2x16float(unit[at1 >> 4u])[(at1 >> 3u) & 1u];
    let shift0 = vec4<u32>((at0 & 2u) * 2u);
    let low0 = ((((q0 >> shift0) & vec4<u32>(0x0f0f0f0fu)) | (((g0 >> vec4<u32>((at0 & 3u) * 2u)) & vec4<u32>(0x03030303u)) << vec4<u32>(4u))) + vec4<u32>(0x60606060u)) ^ vec4<u32>(0x80808080u);
    let high0 = ((((p0 >> shift0) & vec4<u32>(0x0f0f0f0fu)) | (((h0 >> vec4<u32>((at0 & 3u) * 2u)) & vec4<u32>(0x03030303u)) << vec4<u32>(4u))) + vec4<u32>(0x60606060u)) ^ vec4<u32>(0x80808080u);
    var first0 = 0i;
    first0 += dot4I8Packed(low0.x, c0.x);
    first0 += dot4I8Packed(low0.y, c0.y);
    first0 += dot4I8Packed(low0.z, c0.z);
    first0 += dot4I8Packed(low0.w, c0.w);
    var second0 = 0i;
    second0 += dot4I8Packed(high0.x, c1.x);
    second0 += dot4I8Packed(high0.y, c1.y);
    second0 += dot4I8Packed(high0.z, c1.z);
    second0 += dot4I8Packed(high0.w, c1.w);
    acc0 = fma(d0, xd * f32(a0 * first0 + b0 * second0), acc0);
    let shift1 = vec4<u32>((at1 & 2u) * 2u);
    let low1 = ((((q1 >> shift1) & vec4<u32>(0x0f0f0f0fu)) | (((g1 >> vec4<u32>((at1 & 3u) * 2u)) & vec4<u32>(0x03030303u)) << vec4<u32>(4u))) + vec4<u32>(0x60606060u)) ^ vec4<u32>(0x80808080u);
    let high1 = ((((p1 >> shift1) & vec4<u32>(0x0f0f0f0fu)) | (((h1 >> vec4<u32>((at1 & 3u) * 2u)) & vec4<u32>(0x03030303u)) << vec4<u32>(4u))) + vec4<u32>(0x60606060u)) ^ vec4<u32>(0x80808080u);
    var first1 = 0i;
    first1 += dot4I8Packed(low1.x, c0.x);
    first1 += dot4I8Packed(low1.y, c0.y);
    first1 += dot4I8Packed(low1.z, c0.z);
    first1 += dot4I8Packed(low1.w, c0.w);
    var second1 = 0i;
    second1 += dot4I8Packed(high1.x, c1.x);
    second1 += dot4I8Packed(high1.y, c1.y);
    second1 += dot4I8Packed(high1.z, c1.z);
    second1 += dot4I8Packed(high1.w, c1.w);
    acc1 = fma(d1, xd * f32(a1 * first1 + b1 * second1), acc1);
  }
  let sum0 = acc0;
  let sum1 = acc1;
  let total0 = subgroupAdd(sum0);
  let total1 = subgroupAdd(sum1);
  if (lane == 0u) {
    y0[row0] = total0;
    y0[row1] = total1;
  }
}
