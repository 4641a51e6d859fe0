// y = W·x, W F32 of 128 rows of 64, results of [64 32 32] rows
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=f32 math=dequantise reduce=none splitk=1
@group(0) @binding(0) var<storage, read> values: array<vec4<f32>, 2048>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>, 16>;
@group(0) @binding(2) var<storage, read_write> y0_y1_y2: array<f32, 160>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row0 = group.x * 64u + local;
  let from0 = row0 * 16u;
  var acc0 = vec4<f32>();
  for (var block = 0u; block < 16u; block += 1u) {
    let x0 = x[block];
    let at0 = from0 + block;
    let w0 = values[at0];
    acc0 = fma(w0, x0, acc0);
  }
  let sum0 = acc0.x + acc0.y + (acc0.z + acc0.w);
  if (row0 < 64u) {
    y0_y1_y2[row0] = sum0;
  } else if (row0 < 96u) {
    y0_y1_y2[row0] = sum0;
  } else {
    y0_y1_y2[row0 + 32u] = sum0;
  }
}
