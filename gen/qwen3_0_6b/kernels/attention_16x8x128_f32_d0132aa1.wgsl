// y = softmax(0.08838834764831843·q·k)·v: 16 query heads, 8 key heads of 128, f32 cache in pages of 32
// workgroup=128
@group(0) @binding(0) var<storage, read> params: array<u32, 520>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f32>, 512>;
@group(0) @binding(2) var<storage, read> key_cache_value_cache: array<vec4<f32>, 4194304>;
@group(0) @binding(3) var<storage, read_write> y: array<f32, 2048>;
var<workgroup> scores: array<f32, 128>;
var<workgroup> weights: array<f32, 128>;
var<workgroup> offsets: array<u32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let keys = params[2u];
  let query = group.x * 32u;
  let head = group.x / 2u * 128u;
  let unit0 = local;
  var acc0 = 0.0;
  var total = 0.0;
  const masked = -1e+30f; // below every score, and finite
  var best: f32 = masked;
  for (var tile = 0u; tile < keys; tile += 128u) {
    let seen = tile + local < keys;
    let key = min(tile + local, keys - 1u);
    let page = min(params[params[5u] + key / 32u], 255u);
    let slot = (page * 32u + key % 32u) * 1024u;
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
    dots = fma(q[query + 16u], key_cache_value_cache[at + 16u], dots);
    dots = fma(q[query + 17u], key_cache_value_cache[at + 17u], dots);
    dots = fma(q[query + 18u], key_cache_value_cache[at + 18u], dots);
    dots = fma(q[query + 19u], key_cache_value_cache[at + 19u], dots);
    dots = fma(q[query + 20u], key_cache_value_cache[at + 20u], dots);
    dots = fma(q[query + 21u], key_cache_value_cache[at + 21u], dots);
    dots = fma(q[query + 22u], key_cache_value_cache[at + 22u], dots);
    dots = fma(q[query + 23u], key_cache_value_cache[at + 23u], dots);
    dots = fma(q[query + 24u], key_cache_value_cache[at + 24u], dots);
    dots = fma(q[query + 25u], key_cache_value_cache[at + 25u], dots);
    dots = fma(q[query + 26u], key_cache_value_cache[at + 26u], dots);
    dots = fma(q[query + 27u], key_cache_value_cache[at + 27u], dots);
    dots = fma(q[query + 28u], key_cache_value_cache[at + 28u], dots);
    dots = fma(q[query + 29u], key_cache_value_cache[at + 29u], dots);
    dots = fma(q[query + 30u], key_cache_value_cache[at + 30u], dots);
    dots = fma(q[query + 31u], key_cache_value_cache[at + 31u], dots);
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
      acc0 = fma(weight0, key_cache_value_cache[((row0 + unit0) >> 2u) + 2097152u][(row0 + unit0) & 3u], acc0);
      let weight1 = weights[j + 1u];
      let row1 = offsets[j + 1u];
      total += weight1;
      acc0 = fma(weight1, key_cache_value_cache[((row1 + unit0) >> 2u) + 2097152u][(row1 + unit0) & 3u], acc0);
      let weight2 = weights[j + 2u];
      let row2 = offsets[j + 2u];
      total += weight2;
      acc0 = fma(weight2, key_cache_value_cache[((row2 + unit0) >> 2u) + 2097152u][(row2 + unit0) & 3u], acc0);
      let weight3 = weights[j + 3u];
      let row3 = offsets[j + 3u];
      total += weight3;
      acc0 = fma(weight3, key_cache_value_cache[((row3 + unit0) >> 2u) + 2097152u][(row3 + unit0) & 3u], acc0);
    }
  }
  y[group.x * 128u + unit0] = acc0 / max(total, 1e-30);
}
