// the next token of the prompt
@group(0) @binding(0) var<storage, read_write> params: array<u32, 520>;

@compute @workgroup_size(1)
fn main() {
  let written = params[7u];
  let token = params[params[6u] + min(written, 255u)];
  params[0u] = token;
  params[1u] += 1u;
  params[2u] += 1u;
  params[7u] = written + 1u;
}
