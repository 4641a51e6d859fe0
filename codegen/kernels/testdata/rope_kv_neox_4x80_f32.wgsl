// rotate 20 of 80 values of 4 query heads and 4 key heads (neox); append k and v to the f32 cache
// workgroup=64
@group(0) @binding(0) var<storage, read> params: array<u32, 28>;
@group(0) @binding(1) var<storage, read> table: array<vec2<f32>, 1280>;
@group(0) @binding(2) var<storage, read_write> q_k_v: array<f32, 960>;
@group(0) @binding(3) var<storage, read_write> key_cache_value_cache: array<f32, 102400>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  if (i < 360u) {
    let position = min(params[1u], 127u);
    let angles = position * 10u;
    if (i < 40u) {
      let pair = i % 10u;
      let at = i / 10u * 80u + pair;
      let turn = table[angles + pair];
      let a = q_k_v[at];
      let b = q_k_v[at + 10u];
      q_k_v[at] = fma(a, turn.x, -(b * turn.y));
      q_k_v[at + 10u] = fma(b, turn.x, a * turn.y);
    } else {
      let page = min(params[params[5u] + position / 32u], 4u);
      let slot = (page * 32u + position % 32u) * 320u;
      if (i < 200u) {
        let e = (i - 40u) * 2u;
        let within = e % 80u;
        var first = q_k_v[e + 320u];
        var second = q_k_v[e + 321u];
        if (within < 20u) {
          let upper0 = within >= 10u;
          let other0 = q_k_v[select(e + 10u, e - 10u, upper0) + 320u];
          let turn0 = table[angles + select(within, within - 10u, upper0)];
          first = fma(first, turn0.x, select(-other0, other0, upper0) * turn0.y);
        }
        if (within + 1u < 20u) {
          let upper1 = within + 1u >= 10u;
          let other1 = q_k_v[select(e + 11u, e + 1u - 10u, upper1) + 320u];
          let turn1 = table[angles + select(within + 1u, within + 1u - 10u, upper1)];
          second = fma(second, turn1.x, select(-other1, other1, upper1) * turn1.y);
        }
        key_cache_value_cache[slot + e] = first;
        key_cache_value_cache[slot + e + 1u] = second;
      } else {
        let e = (i - 200u) * 2u;
        key_cache_value_cache[slot + e + 51200u] = q_k_v[e + 640u];
        key_cache_value_cache[slot + e + 51201u] = q_k_v[e + 641u];
      }
    }
  }
}
