// y = softmax(0.125·q·k)·v: 9 query heads, 3 key heads of 64, f32 cache in pages of 32
// workgroup=64
@group(0) @binding(0) var<storage, read> params: array<u32, 520>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f32>, 144>;
@group(0) @binding(2) var<storage, read> key_cache_value_cache: array<vec4<f32>, 786432>;
@group(0) @binding(3) var<storage, read_write> y: array<f32, 576>;
var<workgroup> scores: array<f32, 64>;
var<workgroup> weights: array<f32, 64>;
var<workgroup> offsets: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let keys = params[2u];
  let query = group.x * 16u;
  let head = group.x / 3u * 64u;
  let unit0 = local;
  var acc0 = 0.0;
  var total = 0.0;
  const masked = -1e+30f; // below every score, and finite
  var best: f32 = masked;
  for (var tile = 0u; tile < keys; tile += 64u) {
    let seen = tile + local < keys;
    let key = min(tile + local, keys - 1u);
    let page = min(params[params[5u] + key / 32u], 255u);
    let slot = (page * 32u + key % 32u) * 192u;
    let start = slot + head;
    let at = start / 4u;
    var dots = vec4<f32>();
    dots = fma(q[query], key_cache_value_cache[at], dots);
    dots = fma(q[query + 1u], key_cache_value_cache[at + 1u], dots);
    dots = fma(q[query + 2u], key_cache_value_cache[at + 2u], dots);
    dots = fma(q[query + 3u], key_cache_value_cache[at + 3u], dots);
    dots = fma(q[query + 4u], key_cache_value_cache[at + 4u], dots);
    dots = fma(q[query + 5u], key_cache_value_cache[at + 5u], dots);
    dots = fma(q[query + 6u], key_cache_value_cache[at + 6u], dots);
    dots = fma(q[query + 7u], key_cache_value_cache[at + 7u], dots);
    dots = fma(q[query + 8u], key_cache_value_cache[at + 8u], dots);
    dots = fma(q[query + 9u], key_cache_value_cache[at + 9u], dots);
    dots = fma(q[query + 10u], key_cache_value_cache[at + 10u], dots);
    dots = fma(q[query + 11u], key_cache_value_cache[at + 11u], dots);
    dots = fma(q[query + 12u], key_cache_value_cache[at + 12u], dots);
    dots = fma(q[query + 13u], key_cache_value_cache[at + 13u], dots);
    dots = fma(q[query + 14u], key_cache_value_cache[at + 14u], dots);
    dots = fma(q[query + 15u], key_cache_value_cache[at + 15u], dots);
    let score = select(masked, (dots.x + dots.y + (dots.z + dots.w)) * 0.125f, seen);
    scores[local] = score;
    workgroupBarrier();
    let count = min(keys - tile, 64u);
    var top = best;
    for (var j = 0u; j < count; j += 4u) {
      top = max(top, max(max(scores[j], scores[j + 1u]), max(scores[j + 2u], scores[j + 3u])));
    }
    let below = score - top;
    weights[local] = select(0.0, exp(select(below, -80.0, below < -80.0)), seen);
    offsets[local] = start;
    let keep = exp(max(best - top, -80.0));
    best = top;
    workgroupBarrier();
    total *= keep;
    acc0 *= keep;
    for (var j = 0u; j < count; j += 4u) {
      let weight0 = weights[j];
      let row0 = offsets[j];
      total += weight0;
      acc0 = fma(weight0, key_cache_value_cache[((row0 + unit0) >> 2u) + 393216u][(row0 + unit0) & 3u], acc0);
      let weight1 = weights[j + 1u];
      let row1 = offsets[j + 1u];
      total += weight1;
      acc0 = fma(weight1, key_cache_value_cache[((row1 + unit0) >> 2u) + 393216u][(row1 + unit0) & 3u], acc0);
      let weight2 = weights[j + 2u];
      let row2 = offsets[j + 2u];
      total += weight2;
      acc0 = fma(weight2, key_cache_value_cache[((row2 + unit0) >> 2u) + 393216u][(row2 + unit0) & 3u], acc0);
      let weight3 = weights[j + 3u];
      let row3 = offsets[j + 3u];
      total += weight3;
      acc0 = fma(weight3, key_cache_value_cache[((row3 + unit0) >> 2u) + 393216u][(row3 + unit0) & 3u], acc0);
    }
  }
  y[group.x * 64u + unit0] = acc0 / max(total, 1e-30);
}
