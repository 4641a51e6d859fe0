// y = x / sqrt(mean(x²) + 1e-05) · weights, 1 rows of 64
// workgroup=32 reduce=tree
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>, 16>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<f32>, 16>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>, 16>;
var<workgroup> sums: array<f32, 32>;

@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first = group.x * 16u;
  var squares = vec4<f32>();
  for (var i = local; i < 16u; i += 32u) {
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
  let scale = inverseSqrt(sums[0] / 64.0f + 1e-05f);
  for (var i = local; i < 16u; i += 32u) {
    y[first + i] = x[first + i] * scale * weights[i];
  }
}
