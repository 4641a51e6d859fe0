// y = W·x, W Q4_K of 1792 rows of 1536, x of 8-bit codes, results of [1536 256] rows, biases
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=q8 math=dot4i8 reduce=none splitk=1
@group(0) @binding(0) var<storage, read> codes_scales: array<vec4<u32>, 96768>;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>, 120>;
@group(0) @binding(2) var<storage, read> bias: array<f32, 1792>;
@group(0) @binding(3) var<storage, read_write> y0_y1: array<f32, 1792>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row0 = group.x * 64u + local;
  let from0 = row0 * 48u;
  var acc0 = 0.0;
  for (var block = 0u; block < 48u; block += 1u) {
    let c0 = x[block * 2u];
    let c1 = x[block * 2u + 1u];
    let pairs = bitcast<vec4<f32>>(x[96u + (block >> 1u)]);
    let pair = select(pairs.xy, pairs.zw, (block & 1u) == 1u);
    let xd = pair.x;
    let xs = pair.y;
    let at0 = from0 + block;
    let q0 = codes_scales[(at0 >> 1u) * 2u];
    let p0 = codes_scales[(at0 >> 1u) * 2u + 1u];
    let s0 = codes_scales[(at0 >> 3u) + 86016u];
    let bytes0 = s0.yzw >> vec3<u32>((at0 & 3u) * 8u);
    let late0 = (at0 & 4u) != 0u;
    let scale0 = select(bytes0.x & 63u, (bytes0.z & 15u) | ((bytes0.x >> 2u) & 48u), late0);
    let minimum0 = select(bytes0.y & 63u, ((bytes0.z >> 4u) & 15u) | ((bytes0.y >> 2u) & 48u), late0);
    let units0 = unpack2x16float(s0.x);
    let d0 = units0.x * f32(scale0);
    let m0 = -(units0.y * f32(minimum0));
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
  }
  let sum0 = acc0;
  if (row0 < 1536u) {
    y0_y1[row0] = sum0 + bias[row0];
  } else {
    y0_y1[row0] = sum0 + bias[row0];
  }
}
