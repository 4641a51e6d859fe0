// y = W·x, W Q4_0 of 64 rows of 96, x of 8-bit codes
// workgroup=64 rows=2 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=q8 math=unpacked reduce=none splitk=1
@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>, 192>;
@group(0) @binding(1) var<storage, read> scales: array<u32, 96>;
@group(0) @binding(2) var<storage, read> x: array<vec4<u32>, 8>;
@group(0) @binding(3) var<storage, read_write> y0: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row0 = (group.x * 64u + local) * 2u;
  let row1 = row0 + 1u;
  let from0 = min(row0, 63u) * 3u;
  let from1 = min(row1, 63u) * 3u;
  var acc0 = 0.0;
  var acc1 = 0.0;
  for (var block = 0u; block < 3u; block += 1u) {
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
    let pairs = bitcast<vec4<f32>>(x[6u + (block >> 1u)]);
    let pair = select(pairs.xy, pairs.zw, (block & 1u) == 1u);
    let xd = pair.x;
    let xs = pair.y;
    let at0 = from0 + block;
    let q0 = codes[at0];
    let d0 = unpack2x16float(scales[at0 >> 1u])[at0 & 1u];
    let at1 = from1 + block;
    let q1 = codes[at1];
    let d1 = unpack2x16float(scales[at1 >> 1u])[at1 & 1u];
    var dots0 = 0i;
    dots0 += dot(unpack4xI8(q0.x & 0x0f0f0f0fu), v0);
    dots0 += dot(unpack4xI8((q0.x >> 4u) & 0x0f0f0f0fu), v4);
    dots0 += dot(unpack4xI8(q0.y & 0x0f0f0f0fu), v1);
    dots0 += dot(unpack4xI8((q0.y >> 4u) & 0x0f0f0f0fu), v5);
    dots0 += dot(unpack4xI8(q0.z & 0x0f0f0f0fu), v2);
    dots0 += dot(unpack4xI8((q0.z >> 4u) & 0x0f0f0f0fu), v6);
    dots0 += dot(unpack4xI8(q0.w & 0x0f0f0f0fu), v3);
    dots0 += dot(unpack4xI8((q0.w >> 4u) & 0x0f0f0f0fu), v7);
    acc0 = fma(d0, fma(xd, f32(dots0), -8.0 * xs), acc0);
    var dots1 = 0i;
    dots1 += dot(unpack4xI8(q1.x & 0x0f0f0f0fu), v0);
    dots1 += dot(unpack4xI8((q1.x >> 4u) & 0x0f0f0f0fu), v4);
    dots1 += dot(unpack4xI8(q1.y & 0x0f0f0f0fu), v1);
    dots1 += dot(unpack4xI8((q1.y >> 4u) & 0x0f0f0f0fu), v5);
    dots1 += dot(unpack4xI8(q1.z & 0x0f0f0f0fu), v2);
    dots1 += dot(unpack4xI8((q1.z >> 4u) & 0x0f0f0f0fu), v6);
    dots1 += dot(unpack4xI8(q1.w & 0x0f0f0f0fu), v3);
    dots1 += dot(unpack4xI8((q1.w >> 4u) & 0x0f0f0f0fu), v7);
    acc1 = fma(d1, fma(xd, f32(dots1), -8.0 * xs), acc1);
  }
  let sum0 = acc0;
  let sum1 = acc1;
  if (row0 < 64u) {
    y0[row0] = sum0;
  }
  if (row1 < 64u) {
    y0[row1] = sum1;
  }
}
