// rotate 64 of 64 values of 8 query heads and 2 key heads (neox); append k and v to the f16 cache
// workgroup=64
@group(0) @binding(0) var<storage, read> params: array<u32, 28>;
@group(0) @binding(1) var<storage, read> table: array<vec2<f32>, 4096>;
@group(0) @binding(2) var<storage, read_write> q_k_v: array<f32, 768>;
@group(0) @binding(3) var<storage, read_write> key_cache_value_cache: array<u32, 20480>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  let position = min(params[1u], 127u);
  let angles = position * 32u;
  if (i < 256u) {
    let pair = i % 32u;
    let at = i / 32u * 64u + pair;
    let turn = table[angles + pair];
    let a = q_k_v[at];
    let b = q_k_v[at + 32u];
    q_k_v[at] = fma(a, turn.x, -(b * turn.y));
    q_k_v[at + 32u] = fma(b, turn.x, a * turn.y);
  } else {
    let page = min(params[params[5u] + position / 32u], 4u);
    let slot = (page * 32u + position % 32u) * 128u;
    if (i < 320u) {
      let e = (i - 256u) * 2u;
      let within = e % 64u;
      var first = q_k_v[e + 512u];
      var second = q_k_v[e + 513u];
      let upper0 = within >= 32u;
      let other0 = q_k_v[select(e + 32u, e - 32u, upper0) + 512u];
      let turn0 = table[angles + select(within, within - 32u, upper0)];
      first = fma(first, turn0.x, select(-other0, other0, upper0) * turn0.y);
      let upper1 = within + 1u >= 32u;
      let other1 = q_k_v[select(e + 33u, e + 1u - 32u, upper1) + 512u];
      let turn1 = table[angles + select(within + 1u, within + 1u - 32u, upper1)];
      second = fma(second, turn1.x, select(-other1, other1, upper1) * turn1.y);
      key_cache_value_cache[(slot + e) / 2u] = pack2x16float(vec2<f32>(first, second));
    } else {
      let e = (i - 320u) * 2u;
      key_cache_value_cache[(slot + e) / 2u + 10240u] = pack2x16float(vec2<f32>(q_k_v[e + 640u], q_k_v[e + 641u]));
    }
  }
}
