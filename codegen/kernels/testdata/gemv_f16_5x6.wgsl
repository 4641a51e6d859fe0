// y = W·x, W F16 of 5 rows of 6
// workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=1 unroll=1 xtype=f32 math=dequantise reduce=none splitk=1
@group(0) @binding(0) var<storage, read> values: array<u32, 15>;
@group(0) @binding(1) var<storage, read> x: array<vec2<f32>, 3>;
@group(0) @binding(2) var<storage, read_write> y0: array<f32, 5>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row0 = group.x * 64u + local;
  let from0 = min(row0, 4u) * 3u;
  var acc0 = vec2<f32>();
  for (var block = 0u; block < 3u; block += 1u) {
    let x0 = x[block];
    let at0 = from0 + block;
    let w0 = values[at0];
    acc0 = fma(unpack2x16float(w0), x0, acc0);
  }
  let sum0 = acc0.x + acc0.y;
  if (row0 < 5u) {
    y0[row0] = sum0;
  }
}
