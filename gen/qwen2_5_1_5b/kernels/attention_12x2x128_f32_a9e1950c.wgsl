// y = softmax(0.08838834764831843·q·k)·v: 12 query heads, 2 key heads of 128, f32 cache in pages of 32
// workgroup=128
@group(0) @binding(0) var<storage, read> params: array<u32, 520>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f32>, 384>;
@group(0) @binding(2) var<storage, read> kv: array<vec4<f32>, 1048576>;
@group(0) @binding(3) var<storage, read_write> y: array<f32, 1536>;
var<workgroup> scores: array<f32, 128>;
var<workgroup> weights: array<f32, 128>;
var<workgroup> offsets: array<u32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let keys = params[2u];
  let query = group.x * 32u;
  let head = group.x / 6u * 128u;
  let unit0 = local;
  var acc0 = 0.0;
  var total = 0.0;
  const masked = -1e+30f; // below every score, and finite
  var best: f32 = masked;
  for (var tile = 0u; tile < keys; tile += 128u) {
    let seen = tile + local < keys;
    let key = min(tile + local, keys - 1u);
    let page = min(params[params[5u] + key / 32u], 255u);
    let slot = (page * 32u + key % 32u) * 256u;
    let start = slot + head;
    let at = start / 4u;
    var dots = vec4<f32>();
    dots = fma(q[query], kv[at], dots);
    dots = fma(q[query + 1u], kv[at + 1u], dots);
    dots = fma(q[query + 2u], kv[at + 2u], dots);
    dots = fma(q[query + 3u], kv[at + 3u], dots);
    dots = fma(q[query + 4u], kv[at + 4u], dots);
    dots = fma(q[query + 5u], kv[at + 5u], dots);
    dots = fma(q[query + 6u], kv[at + 6u], dots);
    dots = fma(q[query + 7u], kv[at + 7u], dots);
    dots = fma(q[query + 8u], kv[at + 8u], dots);
    dots = fma(q[query + 9u], kv[at + 9u], dots);
    dots = fma(q[query + 10u], kv[at + 10u], dots);
    dots = fma(q[query + 11u], kv[at + 11u], dots);
    dots = fma(q[query + 12u], kv[at + 12u], dots);
    dots = fma(q[query + 13u], kv[at + 13u], dots);
    dots = fma(q[query + 14u], kv[at + 14u], dots);
    dots = fma(q[query + 15u], kv[at + 15u], dots);
    dots = fma(q[query + 16u], kv[at + 16u], dots);
    dots = fma(q[query + 17u], kv[at + 17u], dots);
    dots = fma(q[query + 18u], kv[at + 18u], dots);
    dots = fma(q[query + 19u], kv[at + 19u], dots);
    dots = fma(q[query + 20u], kv[at + 20u], dots);
    dots = fma(q[query + 21u], kv[at + 21u], dots);
    dots = fma(q[query + 22u], kv[at + 22u], dots);
    dots = fma(q[query + 23u], kv[at + 23u], dots);
    dots = fma(q[query + 24u], kv[at + 24u], dots);
    dots = fma(q[query + 25u], kv[at + 25u], dots);
    dots = fma(q[query + 26u], kv[at + 26u], dots);
    dots = fma(q[query + 27u], kv[at + 27u], dots);
    dots = fma(q[query + 28u], kv[at + 28u], dots);
    dots = fma(q[query + 29u], kv[at + 29u], dots);
    dots = fma(q[query + 30u], kv[at + 30u], dots);
    dots = fma(q[query + 31u], kv[at + 31u], dots);
    let score = select(masked, (dots.x + dots.y + (dots.z + dots.w)) * 0.088388346f, seen);
    scores[local] = score;
    workgroupBarrier();
    let count = min(keys - tile, 128u);
    var top = best;
    for (var j = 0u; j < count; j += 4u) {
      top = max(top, max(max(scores[j], scores[j + 1u]), max(scores[j + 2u], scores[j + 3u])));
    }
    let below = score - top;
    weights[local] = select(0.0, exp(select(below, -80.0, below < -80.0)), seen);
    offsets[local] = start + 2097152u;
    let keep = exp(max(best - top, -80.0));
    best = top;
    workgroupBarrier();
    total *= keep;
    acc0 *= keep;
    for (var j = 0u; j < count; j += 4u) {
      let weight0 = weights[j];
      let row0 = offsets[j];
      total += weight0;
      acc0 = fma(weight0, kv[(row0 + unit0) >> 2u][(row0 + unit0) & 3u], acc0);
      let weight1 = weights[j + 1u];
      let row1 = offsets[j + 1u];
      total += weight1;
      acc0 = fma(weight1, kv[(row1 + unit0) >> 2u][(row1 + unit0) & 3u], acc0);
      let weight2 = weights[j + 2u];
      let row2 = offsets[j + 2u];
      total += weight2;
      acc0 = fma(weight2, kv[(row2 + unit0) >> 2u][(row2 + unit0) & 3u], acc0);
      let weight3 = weights[j + 3u];
      let row3 = offsets[j + 3u];
      total += weight3;
      acc0 = fma(weight3, kv[(row3 + unit0) >> 2u][(row3 + unit0) & 3u], acc0);
    }
  }
  y[group.x * 128u + unit0] = acc0 / max(total, 1e-30);
}
