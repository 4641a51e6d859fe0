// the largest of 151936 values, in stretches of 1187
// workgroup=128 partials=128
@group(0) @binding(0) var<storage, read> x: array<f32, 151936>;
@group(0) @binding(1) var<storage, read_write> partials: array<vec2<u32>, 128>;
var<workgroup> tops: array<f32, 128>;
var<workgroup> indices: array<u32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let end = min((group.x + 1u) * 1187u, 151936u);
  let first = group.x * 1187u + local;
  var top = -3.4028234663852886e+38f;
  var at = 0xffffffffu;
  for (var i = first; i < end; i += 128u) {
    let value = x[i];
    let index = i;
    if (value > top) {
      top = value;
      at = index;
    }
  }
  tops[local] = top;
  indices[local] = at;
  workgroupBarrier();
  if (local < 64u) {
    let value = tops[local + 64u];
    let index = indices[local + 64u];
    if (value > tops[local] || (value == tops[local] && index < indices[local])) {
      tops[local] = value;
      indices[local] = index;
    }
  }
  workgroupBarrier();
  if (local < 32u) {
    let value = tops[local + 32u];
    let index = indices[local + 32u];
    if (value > tops[local] || (value == tops[local] && index < indices[local])) {
      tops[local] = value;
      indices[local] = index;
    }
  }
  workgroupBarrier();
  if (local < 16u) {
    let value = tops[local + 16u];
    let index = indices[local + 16u];
    if (value > tops[local] || (value == tops[local] && index < indices[local])) {
      tops[local] = value;
      indices[local] = index;
    }
  }
  workgroupBarrier();
  if (local < 8u) {
    let value = tops[local + 8u];
    let index = indices[local + 8u];
    if (value > tops[local] || (value == tops[local] && index < indices[local])) {
      tops[local] = value;
      indices[local] = index;
    }
  }
  workgroupBarrier();
  if (local < 4u) {
    let value = tops[local + 4u];
    let index = indices[local + 4u];
    if (value > tops[local] || (value == tops[local] && index < indices[local])) {
      tops[local] = value;
      indices[local] = index;
    }
  }
  workgroupBarrier();
  if (local < 2u) {
    let value = tops[local + 2u];
    let index = indices[local + 2u];
    if (value > tops[local] || (value == tops[local] && index < indices[local])) {
      tops[local] = value;
      indices[local] = index;
    }
  }
  workgroupBarrier();
  if (local < 1u) {
    let value = tops[local + 1u];
    let index = indices[local + 1u];
    if (value > tops[local] || (value == tops[local] && index < indices[local])) {
      tops[local] = value;
      indices[local] = index;
    }
  }
  workgroupBarrier();
  if (local == 0u) {
    partials[group.x] = vec2<u32>(bitcast<u32>(tops[0]), indices[0]);
  }
}
