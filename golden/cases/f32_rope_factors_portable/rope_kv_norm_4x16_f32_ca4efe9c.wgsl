// rotate 16 of 16 values of 4 query heads and 2 key heads (norm); append k and v to the f32 cache
// workgroup=64
@group(0) @binding(0) var<storage, read> params: array<u32, 266>;
@group(0) @binding(1) var<storage, read> table: array<vec2<f32>, 512>;
@group(0) @binding(2) var<storage, read_write> q_k_v: array<f32, 160>;
@group(0) @binding(3) var<storage, read_write> key_cache_value_cache: array<f32, 4096>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  let position = min(params[1u], 63u);
  let angles = position * 8u;
  if (i < 32u) {
    let pair = i % 8u;
    let at = i / 8u * 16u + pair * 2u;
    let turn = table[angles + pair];
    let a = q_k_v[at];
    let b = q_k_v[at + 1u];
    q_k_v[at] = fma(a, turn.x, -(b * turn.y));
    q_k_v[at + 1u] = fma(b, turn.x, a * turn.y);
  } else {
    let page = min(params[params[5u] + position / 32u], 1u);
    let slot = (page * 32u + position % 32u) * 32u;
    if (i < 48u) {
      let e = (i - 32u) * 2u;
      let within = e % 16u;
      var first = q_k_v[e + 64u];
      var second = q_k_v[e + 65u];
      let turn = table[angles + within / 2u];
      let a = first;
      first = fma(a, turn.x, -(second * turn.y));
      second = fma(second, turn.x, a * turn.y);
      key_cache_value_cache[slot + e] = first;
      key_cache_value_cache[slot + e + 1u] = second;
    } else {
      let e = (i - 48u) * 2u;
      key_cache_value_cache[slot + e + 2048u] = q_k_v[e + 128u];
      key_cache_value_cache[slot + e + 2049u] = q_k_v[e + 129u];
    }
  }
}
