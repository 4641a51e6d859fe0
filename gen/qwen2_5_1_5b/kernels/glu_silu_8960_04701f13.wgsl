// y = silu(gate) · up of 8960 values
// workgroup=64
@group(0) @binding(0) var<storage, read> gate_up: array<vec4<f32>, 4480>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>, 2240>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  let g = gate_up[i];
  y[i] = g / (1.0 + exp(min(-g, vec4<f32>(80.0)))) * gate_up[i + 2240u];
}
