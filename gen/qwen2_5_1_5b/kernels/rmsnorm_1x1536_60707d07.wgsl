// y = x / sqrt(mean(x²) + 9.999999974752427e-07) · weights, 1 rows of 1536
// workgroup=128 reduce=tree
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>, 384>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<f32>, 384>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>, 384>;
var<workgroup> sums: array<f32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let first = group.x * 384u;
  var squares = vec4<f32>();
  for (var i = local; i < 384u; i += 128u) {
    let v = x[first + i];
    squares = fma(v, v, squares);
  }
  sums[local] = squares.x + squares.y + (squares.z + squares.w);
  workgroupBarrier();
  if (local < 64u) {
    sums[local] += sums[local + 64u];
  }
  workgroupBarrier();
  if (local < 32u) {
    sums[local] += sums[local + 32u];
  }
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
  let scale = inverseSqrt(sums[0] / 1536.0f + 1e-06f);
  for (var i = local; i < 384u; i += 128u) {
    y[first + i] = x[first + i] * scale * weights[i];
  }
}
