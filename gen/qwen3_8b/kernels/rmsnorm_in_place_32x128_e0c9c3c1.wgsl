// y = x / sqrt(mean(x²) + 9.999999974752427e-07) · weights, 32 rows of 128
// workgroup=32 reduce=tree
@group(0) @binding(0) var<storage, read_write> x: array<vec4<f32>, 1024>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<f32>, 32>;
var<workgroup> sums: array<f32, 32>;

@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first = group.x * 32u;
  var squares = vec4<f32>();
  for (var i = local; i < 32u; i += 32u) {
    let v = x[first + i];
    squares = fma(v, v, squares);
  }
  sums[local] = squares.x + squares.y + (squares.z + squares.w);
  workgroupBarrier();
  if (local < 16u) {
    sums[local] += sums[local + 16u];
  }
  workgroupBarrier();
  if (local < 8u) {
    sums[local] += sums[local + 8u];
  }
  workgroupBarrier();
  if (local < 4u) {
    sums[local] += sums[local + 4u];
  }
  workgroupBarrier();
  if (local < 2u) {
    sums[local] += sums[local + 2u];
  }
  workgroupBarrier();
  if (local < 1u) {
    sums[local] += sums[local + 1u];
  }
  workgroupBarrier();
  let scale = inverseSqrt(sums[0] / 128.0f + 1e-06f);
  for (var i = local; i < 32u; i += 32u) {
    x[first + i] = x[first + i] * scale * weights[i];
  }
}
