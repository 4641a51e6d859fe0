// y = gelu(gate) · up of 257 values
// workgroup=64
@group(0) @binding(0) var<storage, read> gate: array<f32, 257>;
@group(0) @binding(1) var<storage, read> up: array<f32, 257>;
@group(0) @binding(2) var<storage, read_write> y: array<f32, 257>;

const twice_root = 1.5957692f; // 2·sqrt(2/π)

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let i = group.x * 64u + local;
  if (i < 257u) {
    let g = gate[i];
    let z = twice_root * (g + 0.044715 * g * g * g);
    y[i] = g / (1.0 + exp(min(-z, 80.0))) * up[i];
  }
}
