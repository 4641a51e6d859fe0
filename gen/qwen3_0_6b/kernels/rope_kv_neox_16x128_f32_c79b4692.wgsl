// rotate 128 of 128 values of 16 query heads and 8 key heads (neox); append k and v to the f32 cache
// workgroup=64
@group(0) @binding(0) var<storage, read> params: array<u32, 520>;
@group(0) @binding(1) var<storage, read> table: array<vec2<f32>, 524288>;
@group(0) @binding(2) var<storage, read_write> q_k_v: array<f32, 4096>;
@group(0) @binding(3) var<storage, read_write> key_cache_value_cache: array<f32, 16777216>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  let position = min(params[1u], 8191u);
  let angles = position * 64u;
  if (i < 1024u) {
    let pair = i % 64u;
    let at = i / 64u * 128u + pair;
    let turn = table[angles + pair];
    let a = q_k_v[at];
    let b = q_k_v[at + 64u];
    q_k_v[at] = fma(a, turn.x, -(b * turn.y));
    q_k_v[at + 64u] = fma(b, turn.x, a * turn.y);
  } else {
    let page = min(params[params[5u] + position / 32u], 255u);
    let slot = (page * 32u + position % 32u) * 1024u;
    if (i < 1536u) {
      let e = (i - 1024u) * 2u;
      let within = e % 128u;
      var first = q_k_v[e + 2048u];
      var second = q_k_v[e + 2049u];
      let upper0 = within >= 64u;
      let other0 = q_k_v[select(e + 64u, e - 64u, upper0) + 2048u];
      let turn0 = table[angles + select(within, within - 64u, upper0)];
      first = fma(first, turn0.x, select(-other0, other0, upper0) * turn0.y);
      let upper1 = within + 1u >= 64u;
      let other1 = q_k_v[select(e + 65u, e + 1u - 64u, upper1) + 2048u];
      let turn1 = table[angles + select(within + 1u, within + 1u - 64u, upper1)];
      second = fma(second, turn1.x, select(-other1, other1, upper1) * turn1.y);
      key_cache_value_cache[slot + e] = first;
      key_cache_value_cache[slot + e + 1u] = second;
    } else {
      let e = (i - 1536u) * 2u;
      key_cache_value_cache[slot + e + 8388608u] = q_k_v[e + 3072u];
      key_cache_value_cache[slot + e + 8388609u] = q_k_v[e + 3073u];
    }
  }
}
