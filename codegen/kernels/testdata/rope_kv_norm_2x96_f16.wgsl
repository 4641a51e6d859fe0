// rotate 32 of 96 values of 2 query heads and 1 key heads (norm); append k and v to the f16 cache
// workgroup=64
@group(0) @binding(0) var<storage, read> params: array<u32, 28>;
@group(0) @binding(1) var<storage, read> table: array<vec2<f32>, 2048>;
@group(0) @binding(2) var<storage, read_write> q_k_v: array<f32, 416>;
@group(0) @binding(3) var<storage, read_write> key_cache_value_cache: array<u32, 15360>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  let position = min(params[1u], 127u);
  let angles = position * 16u;
  if (i < 32u) {
    let pair = i % 16u;
    let at = i / 16u * 96u + pair * 2u;
    let turn = table[angles + pair];
    let a = q_k_v[at];
    let b = q_k_v[at + 1u];
    q_k_v[at] = fma(a, turn.x, -(b * turn.y));
    q_k_v[at + 1u] = fma(b, turn.x, a * turn.y);
  } else {
    let page = min(params[params[5u] + position / 32u], 4u);
    let slot = (page * 32u + position % 32u) * 96u;
    if (i < 80u) {
      let e = (i - 32u) * 2u;
      let within = e % 96u;
      var first = q_k_v[e + 192u];
      var second = q_k_v[e + 193u];
      if (within < 32u) {
        let turn = table[angles + within / 2u];
        let a = first;
        first = fma(a, turn.x, -(second * turn.y));
        second = fma(second, turn.x, a * turn.y);
      }
      key_cache_value_cache[(slot + e) / 2u] = pack2x16float(vec2<f32>(first, second));
    } else {
      let e = (i - 80u) * 2u;
      key_cache_value_cache[(slot + e) / 2u + 7680u] = pack2x16float(vec2<f32>(q_k_v[e + 320u], q_k_v[e + 321u]));
    }
  }
}
