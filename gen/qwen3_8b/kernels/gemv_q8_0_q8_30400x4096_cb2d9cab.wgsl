// y = W·x, W Q8_0 of 30400 rows of 4096, x of 8-bit codes
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=q8 math=dot4i8 reduce=none splitk=1
@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>, 7782400>;
@group(0) @binding(1) var<storage, read> scales: array<u32, 1945600>;
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>, 320>;
@group(0) @binding(3) var<storage, read_write> y0: array<f32, 30400>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row0 = group.x * 64u + local;
  let from0 = row0 * 128u;
  var acc0 = 0.0;
  for (var block = 0u; block < 128u; block += 1u) {
    let c0 = x[block * 2u];
    let c1 = x[block * 2u + 1u];
    let pairs = bitcast<vec4<f32>>(x[256u + (block >> 1u)]);
    let pair = select(pairs.xy, pairs.zw, (block & 1u) == 1u);
    let xd = pair.x;
    let xs = pair.y;
    let at0 = from0 + block;
    let low0 = codes[at0 * 2u];
    let high0 = codes[at0 * 2u + 1u];
    let d0 = unpack2x16float(scales[at0 >> 1u])[at0 & 1u];
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
  }
  let sum0 = acc0;
  y0[row0] = sum0;
}
