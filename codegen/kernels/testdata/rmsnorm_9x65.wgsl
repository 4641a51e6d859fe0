// y = x / sqrt(mean(x²) + 1e-06) · weights, 9 rows of 65
// workgroup=32 reduce=tree
@group(0) @binding(0) var<storage, read> x: array<f32, 585>;
@group(0) @binding(1) var<storage, read> weights: array<f32, 65>;
@group(0) @binding(2) var<storage, read_write> y: array<f32, 585>;
var<workgroup> sums: array<f32, 32>;

@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first = group.x * 65u;
  var squares = 0.0;
  for (var i = local; i < 65u; i += 32u) {
    let v = x[first + i];
    squares = fma(v, v, squares);
  }
  sums[local] = squares;
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
  let scale = inverseSqrt(sums[0] / 65.0f + 1e-06f);
  for (var i = local; i < 65u; i += 32u) {
    y[first + i] = x[first + i] * scale * weights[i];
  }
}
