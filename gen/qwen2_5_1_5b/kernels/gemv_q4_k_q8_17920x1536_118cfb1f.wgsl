enable subgroups;
// y = W·x, W Q4_K of 17920 rows of 1536, x of 8-bit codes, results of [8960 8960] rows
// workgroup=64 rows=2 scale=thread x=global grid=tile threads=32 vec=4 unroll=1 xtype=q8 math=dot4i8 reduce=subgroup splitk=1
@group(0) @binding(0) var<storage, read> codes_scales: array<vec4<u32>, 967680>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>, 120>;
@group(0) @binding(2) var<storage, read_write> y0_y1: array<f32, 17920>;

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
    let q0 = codes_scales[(at0 >> 1u) * 2u];
    let p0 = codes_scales[(at0 >> 1u) * 2u + 1u];
    let s0 = codes_scales[(at0 >> 3u) + 860160u];
    let bytes0 = s0.yzw >> vec3<u32>((at0 & 3u) * 8u);
    let late0 = (at0 & 4u) != 0u;
    let scale0 = select(bytes0.x & 63u, (bytes0.z & 15u) | ((bytes0.x >> 2u) & 48u), late0);
    let minimum0 = select(bytes0.y & 63u, ((bytes0.z >> 4u) & 15u) | ((bytes0.y >> 2u) & 48u), late0);
    let units0 = unpack2x16float(s0.x);
    let d0 = units0.x * f32(scale0);
    let m0 = -(units0.y * f32(minimum0));
    let at1 = from1 + block;
    let q1 = codes_scales[(at1 >> 1u) * 2u];
    let p1 = codes_scales[(at1 >> 1u) * 2u + 1u];
    let s1 = codes_scales[(at1 >> 3u) + 860160u];
    let bytes1 = s1.yzw >> vec3<u32>((at1 & 3u) * 8u);
    let late1 = (at1 & 4u) != 0u;
    let scale1 = select(bytes1.x & 63u, (bytes1.z & 15u) | ((bytes1.x >> 2u) & 48u), late1);
    let minimum1 = select(bytes1.y & 63u, ((bytes1.z >> 4u) & 15u) | ((bytes1.y >> 2u) & 48u), late1);
    let units1 = unpack2x16float(s1.x);
    let d1 = units1.x * f32(scale1);
    let m1 = -(units1.y * f32(minimum1));
    let low0 = (q0 >> vec4<u32>((at0 & 1u) * 4u)) & vec4<u32>(0x0f0f0f0fu);
    let high0 = (p0 >> vec4<u32>((at0 & 1u) * 4u)) & vec4<u32>(0x0f0f0f0fu);
    var dots0 = 0i;
    dots0 += dot4I8Packed(low0.x, c0.x);
    dots0 += dot4I8Packed(low0.y, c0.y);
    dots0 += dot4I8Packed(low0.z, c0.z);
    dots0 += dot4I8Packed(low0.w, c0.w);
    dots0 += dot4I8Packed(high0.x, c1.x);
    dots0 += dot4I8Packed(high0.y, c1.y);
    dots0 += dot4I8Packed(high0.z, c1.z);
    dots0 += dot4I8Packed(high0.w, c1.w);
    acc0 = fma(d0, xd * f32(dots0), acc0);
    acc0 = fma(m0, xs, acc0);
    let low1 = (q1 >> vec4<u32>((at1 & 1u) * 4u)) & vec4<u32>(0x0f0f0f0fu);
    let high1 = (p1 >> vec4<u32>((at1 & 1u) * 4u)) & vec4<u32>(0x0f0f0f0fu);
    var dots1 = 0i;
    dots1 += dot4I8Packed(low1.x, c0.x);
    dots1 += dot4I8Packed(low1.y, c0.y);
    dots1 += dot4I8Packed(low1.z, c0.z);
    dots1 += dot4I8Packed(low1.w, c0.w);
    dots1 += dot4I8Packed(high1.x, c1.x);
    dots1 += dot4I8Packed(high1.y, c1.y);
    dots1 += dot4I8Packed(high1.z, c1.z);
    dots1 += dot4I8Packed(high1.w, c1.w);
    acc1 = fma(d1, xd * f32(dots1), acc1);
    acc1 = fma(m1, xs, acc1);
  }
  let sum0 = acc0;
  let sum1 = acc1;
  let total0 = subgroupAdd(sum0);
  let total1 = subgroupAdd(sum1);
  if (lane == 0u) {
    if (row0 < 8960u) {
      y0_y1[row0] = total0;
    } else {
      y0_y1[row0] = total0;
    }
    if (row1 < 8960u) {
      y0_y1[row1] = total1;
    } else {
      y0_y1[row1] = total1;
    }
  }
}
