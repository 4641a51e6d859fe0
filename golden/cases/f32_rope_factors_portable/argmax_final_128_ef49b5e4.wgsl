// the largest of 1 partial results becomes the next token
// workgroup=32 partials=1
@group(0) @binding(0) var<storage, read> partials: array<vec2<u32>, 1>;
@group(0) @binding(1) var<storage, read_write> params: array<u32, 266>;
var<workgroup> tops: array<f32, 32>;
var<workgroup> indices: array<u32, 32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) local: u32) {
  var top = -3.4028234663852886e+38f;
  var at = 0xffffffffu;
  for (var i = local; i < 1u; i += 32u) {
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
    let token = min(indices[0], 127u);
    let written = params[7u];
    if (indices[0] > 127u && params[3u] == 0u) {
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
