// y = softmax(0.125·q·k)·v: 9 query heads, 3 key heads of 64, f16 cache in pages of 32
// workgroup=64
@group(0) @binding(0) var<storage, read> params: array<u32, 520>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f32>, 144>;
@group(0) @binding(2) var<storage, read> key_cache_value_cache: array<vec4<u32>, 393216>;
@group(0) @binding(3) var<storage, read_write> y: array<vec2<f32>, 288>;
var<workgroup> scores: array<f32, 64>;
var<workgroup> weights: array<f32, 64>;
var<workgroup> offsets: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let keys = params[2u];
  let query = group.x * 16u;
  let head = group.x / 3u * 64u;
  let unit0 = min(local, 31u);
  var acc0 = vec2<f32>();
  var total = 0.0;
  const masked = -1e+30f; // below every score, and finite
  var best: f32 = masked;
  for (var tile = 0u; tile < keys; tile += 64u) {
    let seen = tile + local < keys;
    let key = min(tile + local, keys - 1u);
    let page = min(params[params[5u] + key / 32u], 255u);
    let slot = (page * 32u + key % 32u) * 192u;
    let start = slot + head;
    let at = start / 8u;
    var dots = vec4<f32>();
    let k0 = key_cache_value_cache[at];
    dots = fma(q[query], vec4<f32>(unpack2x16float(k0.x), unpack2x16float(k0.y)), dots);
    dots = fma(q[query + 1u], vec4<f32>(unpack2x16float(k0.z), unpack2x16float(k0.w)), dots);
    let k1 = key_cache_value_cache[at + 1u];
    dots = fma(q[query + 2u], vec4<f32>(unpack2x16float(k1.x), unpack2x16float(k1.y)), dots);
    dots = fma(q[query + 3u], vec4<f32>(unpack2x16float(k1.z), unpack2x16float(k1.w)), dots);
    let k2 = key_cache_value_cache[at + 2u];
    dots = fma(q[query + 4u], vec4<f32>(unpack2x16float(k2.x), unpack2x16float(k2.y)), dots);
    dots = fma(q[query + 5u], vec4<f32>(unpack2x16float(k2.z), unpack2x16float(k2.w)), dots);
    let k3 = key_cache_value_cache[at + 3u];
    dots = fma(q[query + 6u], vec4<f32>(unpack2x16float(k3.x), unpack2x16float(k3.y)), dots);
    dots = fma(q[query + 7u], vec4<f32>(unpack2x16float(k3.z), unpack2x16float(k3.w)), dots);
    let k4 = key_cache_value_cache[at + 4u];
    dots = fma(q[query + 8u], vec4<f32>(unpack2x16float(k4.x), unpack2x16float(k4.y)), dots);
    dots = fma(q[query + 9u], vec4<f32>(unpack2x16float(k4.z), unpack2x16float(k4.w)), dots);
    let k5 = key_cache_value_cache[at + 5u];
    dots = fma(q[query + 10u], vec4<f32>(unpack2x16float(k5.x), unpack2x16float(k5.y)), dots);
    dots = fma(q[query + 11u], vec4<f32>(unpack2x16float(k5.z), unpack2x16float(k5.w)), dots);
    let k6 = key_cache_value_cache[at + 6u];
    dots = fma(q[query + 12u], vec4<f32>(unpack2x16float(k6.x), unpack2x16float(k6.y)), dots);
    dots = fma(q[query + 13u], vec4<f32>(unpack2x16float(k6.z), unpack2x16float(k6.w)), dots);
    let k7 = key_cache_value_cache[at + 7u];
    dots = fma(q[query + 14u], vec4<f32>(unpack2x16float(k7.x), unpack2x16float(k7.y)), dots);
    dots = fma(q[query + 15u], vec4<f32>(unpack2x16float(k7.z), unpack2x16float(k7.w)), dots);
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
    offsets[local] = start / 2u;
    let keep = exp(max(best - top, -80.0));
    best = top;
    workgroupBarrier();
    total *= keep;
    acc0 *= keep;
    for (var j = 0u; j < count; j += 4u) {
      let weight0 = weights[j];
      let row0 = offsets[j];
      total += weight0;
      acc0 = fma(vec2<f32>(weight0), unpack2x16float(key_cache_value_cache[((row0 + unit0) >> 2u) + 196608u][(row0 + unit0) & 3u]), acc0);
      let weight1 = weights[j + 1u];
      let row1 = offsets[j + 1u];
      total += weight1;
      acc0 = fma(vec2<f32>(weight1), unpack2x16float(key_cache_value_cache[((row1 + unit0) >> 2u) + 196608u][(row1 + unit0) & 3u]), acc0);
      let weight2 = weights[j + 2u];
      let row2 = offsets[j + 2u];
      total += weight2;
      acc0 = fma(vec2<f32>(weight2), unpack2x16float(key_cache_value_cache[((row2 + unit0) >> 2u) + 196608u][(row2 + unit0) & 3u]), acc0);
      let weight3 = weights[j + 3u];
      let row3 = offsets[j + 3u];
      total += weight3;
      acc0 = fma(vec2<f32>(weight3), unpack2x16float(key_cache_value_cache[((row3 + unit0) >> 2u) + 196608u][(row3 + unit0) & 3u]), acc0);
    }
  }
  if (local < 32u) {
    y[group.x * 32u + unit0] = acc0 / max(total, 1e-30);
  }
}
