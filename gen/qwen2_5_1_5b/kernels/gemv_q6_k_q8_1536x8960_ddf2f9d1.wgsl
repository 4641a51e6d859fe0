enable subgroups;
// y = W·x, W Q6_K of 1536 rows of 8960, x of 8-bit codes
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=32 vec=4 unroll=1 xtype=q8 math=dot4i8 reduce=subgroup splitk=1
@group(0) @binding(0) var<storage, read> codes_high_bits_scales: array<vec4<u32>, 698880>;
@group(0) @binding(1) var<storage, read> unit: array<u32, 26880>;
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>, 700>;
@group(0) @binding(3) var<storage, read_write> y0: array<f32, 1536>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let lane = local % 32u;
  let row0 = group.x * 2u + local / 32u;
  let from0 = row0 * 280u;
  var acc0 = 0.0;
  for (var block = lane; block < 280u; block += 32u) {
    let c0 = x[block * 2u];
    let c1 = x[block * 2u + 1u];
    let pairs = bitcast<vec4<f32>>(x[560u + (block >> 1u)]);
    let pair = select(pairs.xy, pairs.zw, (block & 1u) == 1u);
    let xd = pair.x;
    let xs = pair.y;
    let at0 = from0 + block;
    let place0 = (at0 >> 2u) * 4u + (at0 & 1u) * 2u;
    let q0 = codes_high_bits_scales[place0];
    let p0 = codes_high_bits_scales[place0 + 1u];
    let g0 = codes_high_bits_scales[(at0 >> 2u) * 2u + 430080u];
    let h0 = codes_high_bits_scales[(at0 >> 2u) * 2u + 430081u];
    let ab0 = unpack4xI8(codes_high_bits_scales[(at0 >> 3u) + 645120u][(at0 >> 1u) & 3u] >> ((at0 & 1u) * 16u));
    let a0 = ab0.x;
    let b0 = ab0.y;
    let d0 = unpack2x16float(unit[at0 >> 4u])[(at0 >> 3u) & 1u];
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
  }
  let sum0 = acc0;
  let total0 = subgroupAdd(sum0);
  if (lane == 0u) {
    y0[row0] = total0;
  }
}
