// y = W·x, W F16 of 64 rows of 80
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=f32 math=dequantise reduce=none splitk=1
@group(0) @binding(0) var<storage, read> values: array<vec4<u32>, 640>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>, 20>;
@group(0) @binding(2) var<storage, read_write> y0: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row0 = group.x * 64u + local;
  let from0 = row0 * 10u;
  var acc0 = vec4<f32>();
  for (var block = 0u; block < 10u; block += 1u) {
    let x0 = x[block * 2u];
    let x1 = x[block * 2u + 1u];
    let at0 = from0 + block;
    let w0 = values[at0];
    acc0 = fma(vec4<f32>(unpack2x16float(w0.x), unpack2x16float(w0.y)), x0, acc0);
    acc0 = fma(vec4<f32>(unpack2x16float(w0.z), unpack2x16float(w0.w)), x1, acc0);
  }
  let sum0 = acc0.x + acc0.y + (acc0.z + acc0.w);
  y0[row0] = sum0;
}
