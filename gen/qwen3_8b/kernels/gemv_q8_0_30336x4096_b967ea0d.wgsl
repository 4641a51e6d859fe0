// y = W·x, W Q8_0 of 30336 rows of 4096
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=f32 math=deferred reduce=none splitk=1
@group(0) @binding(0) var<storage, read> codes: array<vec4<u32>, 7766016>;
@group(0) @binding(1) var<storage, read> scales: array<u32, 1941504>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>, 1024>;
@group(0) @binding(3) var<storage, read_write> y0: array<f32, 30336>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row0 = group.x * 64u + local;
  let from0 = row0 * 128u;
  var acc0 = vec4<f32>();
  for (var block = 0u; block < 128u; block += 1u) {
    let x0 = x[block * 8u];
    let x1 = x[block * 8u + 1u];
    let x2 = x[block * 8u + 2u];
    let x3 = x[block * 8u + 3u];
    let x4 = x[block * 8u + 4u];
    let x5 = x[block * 8u + 5u];
    let x6 = x[block * 8u + 6u];
    let x7 = x[block * 8u + 7u];
    let at0 = from0 + block;
    let low0 = codes[at0 * 2u];
    let high0 = codes[at0 * 2u + 1u];
    let d0 = unpack2x16float(scales[at0 >> 1u])[at0 & 1u];
    var dots0 = vec4<f32>(unpack4xI8(low0.x)) * x0;
    dots0 = fma(vec4<f32>(unpack4xI8(low0.y)), x1, dots0);
    dots0 = fma(vec4<f32>(unpack4xI8(low0.z)), x2, dots0);
    dots0 = fma(vec4<f32>(unpack4xI8(low0.w)), x3, dots0);
    dots0 = fma(vec4<f32>(unpack4xI8(high0.x)), x4, dots0);
    dots0 = fma(vec4<f32>(unpack4xI8(high0.y)), x5, dots0);
    dots0 = fma(vec4<f32>(unpack4xI8(high0.z)), x6, dots0);
    dots0 = fma(vec4<f32>(unpack4xI8(high0.w)), x7, dots0);
    acc0 = fma(vec4<f32>(d0), dots0, acc0);
  }
  let sum0 = acc0.x + acc0.y + (acc0.z + acc0.w);
  y0[row0] = sum0;
}
