// y = W·x, W Q8_0 of 64 rows of 64, x of 8-bit codes
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=q8 math=unpacked reduce=none splitk=1
@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>, 256>;
@group(0) @binding(1) var<storage, read> scales: array<u32, 64>;
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>, 5>;
@group(0) @binding(3) var<storage, read_write> y0: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row0 = group.x * 64u + local;
  let from0 = row0 * 2u;
  var acc0 = 0.0;
  for (var block = 0u; block < 2u; block += 1u) {
    let c0 = x[block * 2u];
    let c1 = x[block * 2u + 1u];
    let v0 = unpack4xI8(c0.x);
    let v1 = unpack4xI8(c0.y);
    let v2 = unpack4xI8(c0.z);
    let v3 = unpack4xI8(c0.w);
    let v4 = unpack4xI8(c1.x);
    let v5 = unpack4xI8(c1.y);
    let v6 = unpack4xI8(c1.z);
    let v7 = unpack4xI8(c1.w);
    let pairs = bitcast<vec4<f32>>(x[4u + (block >> 1u)]);
    let pair = select(pairs.xy, pairs.zw, (block & 1u) == 1u);
    let xd = pair.x;
    let xs = pair.y;
    let at0 = from0 + block;
    let low0 = codes[at0 * 2u];
    let high0 = codes[at0 * 2u + 1u];
    let d0 = unpack2x16float(scales[at0 >> 1u])[at0 & 1u];
    var dots0 = 0i;
    dots0 += dot(unpack4xI8(low0.x), v0);
    dots0 += dot(unpack4xI8(low0.y), v1);
    dots0 += dot(unpack4xI8(low0.z), v2);
    dots0 += dot(unpack4xI8(low0.w), v3);
    dots0 += dot(unpack4xI8(high0.x), v4);
    dots0 += dot(unpack4xI8(high0.y), v5);
    dots0 += dot(unpack4xI8(high0.z), v6);
    dots0 += dot(unpack4xI8(high0.w), v7);
    acc0 = fma(d0, xd * f32(dots0), acc0);
  }
  let sum0 = acc0;
  y0[row0] = sum0;
}
