// rotate 64 of 64 values of 9 query heads and 3 key heads (norm); append k and v to the f16 cache
// workgroup=64
@group(0) @binding(0) var<storage, read> params: array<u32, 520>;
@group(0) @binding(1) var<storage, read> table: array<vec2<f32>, 262144>;
@group(0) @binding(2) var<storage, read_write> q_k_v: array<f32, 960>;
@group(0) @binding(3) var<storage, read_write> key_cache_value_cache: array<u32, 1572864>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  if (i < 480u) {
    let position = min(params[1u], 8191u);
    let angles = position * 32u;
    if (i < 288u) {
      let pair = i % 32u;
      let at = i / 32u * 64u + pair * 2u;
      let turn = table[angles + pair];
      let a = q_k_v[at];
      let b = q_k_v[at + 1u];
      q_k_v[at] = fma(a, turn.x, -(b * turn.y));
      q_k_v[at + 1u] = fma(b, turn.x, a * turn.y);
    } else {
      let page = min(params[params[5u] + position / 32u], 255u);
      let slot = (page * 32u + position % 32u) * 192u;
      if (i < 384u) {
        let e = (i - 288u) * 2u;
        let within = e % 64u;
        var first = q_k_v[e + 576u];
        var second = q_k_v[e + 577u];
        let turn = table[angles + within / 2u];
        let a = first;
        first = fma(a, turn.x, -(second * turn.y));
        second = fma(second, turn.x, a * turn.y);
        key_cache_value_cache[(slot + e) / 2u] = pack2x16float(vec2<f32>(first, second));
      } else {
        let e = (i - 384u) * 2u;
        key_cache_value_cache[(slot + e) / 2u + 786432u] = pack2x16float(vec2<f32>(q_k_v[e + 768u], q_k_v[e + 769u]));
      }
    }
  }
}
