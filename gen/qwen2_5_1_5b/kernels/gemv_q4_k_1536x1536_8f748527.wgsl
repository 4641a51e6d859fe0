enable subgroups;
// y = W·x, W Q4_K of 1536 rows of 1536
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=32 vec=4 unroll=1 xtype=f32 math=deferred reduce=subgroup splitk=1
@group(0) @binding(0) var<storage, read> codes_scales: array<vec4<u32>, 82944>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>, 384>;
@group(0) @binding(2) var<storage, read_write> y0: array<f32, 1536>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let lane = local % 32u;
  let row0 = group.x * 2u + local / 32u;
  let from0 = row0 * 48u;
  var acc0 = vec4<f32>();
  for (var block = lane; block < 48u; block += 32u) {
    let x0 = x[block * 8u];
    let x1 = x[block * 8u + 1u];
    let x2 = x[block * 8u + 2u];
    let x3 = x[block * 8u + 3u];
    let x4 = x[block * 8u + 4u];
    let x5 = x[block * 8u + 5u];
    let x6 = x[block * 8u + 6u];
    let x7 = x[block * 8u + 7u];
    let xs = x0 + x1 + (x2 + x3) + (x4 + x5 + (x6 + x7));
    let at0 = from0 + block;
    let q0 = codes_scales[(at0 >> 1u) * 2u];
    let p0 = codes_scales[(at0 >> 1u) * 2u + 1u];
    let s0 = codes_scales[(at0 >> 3u) + 73728u];
    let bytes0 = s0.yzw >> vec3<u32>((at0 & 3u) * 8u);
    let late0 = (at0 & 4u) != 0u;
    let scale0 = select(bytes0.x & 63u, (bytes0.z & 15u) | ((bytes0.x >> 2u) & 48u), late0);
    let minimum0 = select(bytes0.y & 63u, ((bytes0.z >> 4u) & 15u) | ((bytes0.y >> 2u) & 48u), late0);
    let units0 = unpack2x16float(s0.x);
    let d0 = units0.x * f32(scale0);
    let m0 = -(units0.y * f32(minimum0));
    let low0 = (q0 >> vec4<u32>((at0 & 1u) * 4u)) & vec4<u32>(0x0f0f0f0fu);
    let high0 = (p0 >> vec4<u32>((at0 & 1u) * 4u)) & vec4<u32>(0x0f0f0f0fu);
    var dots0 = vec4<f32>(unpack4xU8(low0.x)) * x0;
    dots0 = fma(vec4<f32>(unpack4xU8(low0.y)), x1, dots0);
    dots0 = fma(vec4<f32>(unpack4xU8(low0.z)), x2, dots0);
    dots0 = fma(vec4<f32>(unpack4xU8(low0.w)), x3, dots0);
    dots0 = fma(vec4<f32>(unpack4xU8(high0.x)), x4, dots0);
    dots0 = fma(vec4<f32>(unpack4xU8(high0.y)), x5, dots0);
    dots0 = fma(vec4<f32>(unpack4xU8(high0.z)), x6, dots0);
    dots0 = fma(vec4<f32>(unpack4xU8(high0.w)), x7, dots0);
    acc0 = fma(vec4<f32>(d0), dots0, acc0);
    acc0 = fma(vec4<f32>(m0), xs, acc0);
  }
  let sum0 = acc0.x + acc0.y + (acc0.z + acc0.w);
  let total0 = subgroupAdd(sum0);
  if (lane == 0u) {
    y0[row0] = total0;
  }
}
