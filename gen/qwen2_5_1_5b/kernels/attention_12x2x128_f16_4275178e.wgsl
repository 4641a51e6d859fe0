// y = softmax(0.08838834764831843·q·k)·v: 12 query heads, 2 key heads of 128, f16 cache in pages of 32
// workgroup=128
@group(0) @binding(0) var<storage, read> params: array<u32, 520>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f32>, 384>;
@group(0) @binding(2) var<storage, read> key_cache_value_cache: array<vec4<u32>, 524288>;
@group(0) @binding(3) var<storage, read_write> y: array<vec2<f32>, 768>;
var<workgroup> scores: array<f32, 128>;
var<workgroup> weights: array<f32, 128>;
var<workgroup> offsets: array<u32, 128>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let keys = params[2u];
  let query = group.x * 32u;
  let head = group.x / 6u * 128u;
  let unit0 = min(local, 63u);
  var acc0 = vec2<f32>();
  var total = 0.0;
  const masked = -1e+30f; // below every score, and finite
  var best: f32 = masked;
  for (var tile = 0u; tile < keys; tile += 128u) {
    let seen = tile + local < keys;
    let key = min(tile + local, keys - 1u);
    let page = min(params[params[5u] + key / 32u], 255u);
    let slot = (page * 32u + key % 32u) * 256u;
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
    let k8 = key_cache_value_cache[at + 8u];
    dots = fma(q[query + 16u], vec4<f32>(unpack2x16float(k8.x), unpack2x16float(k8.y)), dots);
    dots = fma(q[query + 17u], vec4<f32>(unpack2x16float(k8.z), unpack2x16float(k8.w)), dots);
    let k9 = key_cache_value_cache[at + 9u];
    dots = fma(q[query + 18u], vec4<f32>(unpack2x16float(k9.x), unpack2x16float(k9.y)), dots);
    dots = fma(q[query + 19u], vec4<f32>(unpack2x16float(k9.z), unpack2x16float(k9.w)), dots);
    let k10 = key_cache_value_cache[at + 10u];
    dots = fma(q[query + 20u], vec4<f32>(unpack2x16float(k10.x), unpack2x16float(k10.y)), dots);
    dots = fma(q[query + 21u], vec4<f32>(unpack2x16float(k10.z), unpack2x16float(k10.w)), dots);
    let k11 = key_cache_value_cache[at + 11u];
    dots = fma(q[query + 22u], vec4<f32>(unpack2x16float(k11.x), unpack2x16float(k11.y)), dots);
    dots = fma(q[query + 23u], vec4<f32>(unpack2x16float(k11.z), unpack2x16float(k11.w)), dots);
    let k12 = key_cache_value_cache[at + 12u];
    dots = fma(q[query + 24u], vec4<f32>(unpack2x16float(k12.x), unpack2x16float(k12.y)), dots);
    dots = fma(q[query + 25u], vec4<f32>(unpack2x16float(k12.z), unpack2x16float(k12.w)), dots);
    let k13 = key_cache_value_cache[at + 13u];
    dots = fma(q[query + 26u], vec4<f32>(unpack2x16float(k13.x), unpack2x16float(k13.y)), dots);
    dots = fma(q[query + 27u], vec4<f32>(unpack2x16float(k13.z), unpack2x16float(k13.w)), dots);
    let k14 = key_cache_value_cache[at + 14u];
    dots = fma(q[query + 28u], vec4<f32>(unpack2x16float(k14.x), unpack2x16float(k14.y)), dots);
    dots = fma(q[query + 29u], vec4<f32>(unpack2x16float(k14.z), unpack2x16float(k14.w)), dots);
    let k15 = key_cache_value_cache[at + 15u];
    dots = fma(q[query + 30u], vec4<f32>(unpack2x16float(k15.x), unpack2x16float(k15.y)), dots);
    dots = fma(q[query + 31u], vec4<f32>(unpack2x16float(k15.z), unpack2x16float(k15.w)), dots);
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
      acc0 = fma(vec2<f32>(weight0), unpack2x16float(key_cache_value_cache[((row0 + unit0) >> 2u) + 262144u][(row0 + unit0) & 3u]), acc0);
      let weight1 = weights[j + 1u];
      let row1 = offsets[j + 1u];
      total += weight1;
      acc0 = fma(vec2<f32>(weight1), unpack2x16float(key_cache_value_cache[((row1 + unit0) >> 2u) + 262144u][(row1 + unit0) & 3u]), acc0);
      let weight2 = weights[j + 2u];
      let row2 = offsets[j + 2u];
      total += weight2;
      acc0 = fma(vec2<f32>(weight2), unpack2x16float(key_cache_value_cache[((row2 + unit0) >> 2u) + 262144u][(row2 + unit0) & 3u]), acc0);
      let weight3 = weights[j + 3u];
      let row3 = offsets[j + 3u];
      total += weight3;
      acc0 = fma(vec2<f32>(weight3), unpack2x16float(key_cache_value_cache[((row3 + unit0) >> 2u) + 262144u][(row3 + unit0) & 3u]), acc0);
    }
  }
  if (local < 64u) {
    y[group.x * 64u + unit0] = acc0 / max(total, 1e-30);
  }
}
