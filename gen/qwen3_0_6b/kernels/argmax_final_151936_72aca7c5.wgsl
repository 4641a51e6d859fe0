// the largest of 128 partial results becomes the next token
// workgroup=128 partials=128
@group(0) @binding(0) var<storage, read> partials: array<vec2<u32>, 128>;
@group(0) @binding(1) var<storage, read_write> params: array<u32, 520>;
var<workgroup> tops: array<f32, 128>;
var<workgroup> indices: array<u32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) local: u32) {
  var top = -3.4028234663852886e+38f;
  var at = 0xffffffffu;
  for (var i = local; i < 128u; i += 128u) {
    let value = bitcast<f32>(partials[i].x);
    let index = partials[i].y;
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
    let token = min(indices[0], 151935u);
    let written = params[7u];
    if (indices[0] > 151935u && params[3u] == 0u) {
      params[3u] = written + 1u;
    }
    if (written < 256u) {
      params[params[6u] + written] = token;
    }
    params[0u] = token;
    params[1u] += 1u;
    params[2u] += 1u;
    params[7u] = written + 1u;
  }
}
