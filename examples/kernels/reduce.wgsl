enable subgroups;

// sums[g] is the sum of the 1024 values that begin at g * 1024, or of those that there are. Dispatch a workgroup for each sum. The
// sums of a first dispatch are the values of a second one.
//
// It is right for subgroups of 4 to 128 invocations, which are taken to follow each other in local_invocation_index: WGSL doesn't
// promise that, but devices do it where workgroups have one dimension.

@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;

const threads = 256u;
const each = 4u; // values of an invocation

// The sum of each subgroup. There are 64 where they have 4 invocations.
var<workgroup> partial: array<f32, threads / 4u>;

@compute @workgroup_size(threads)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_size) size: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  var sum = 0.0;
  for (var i = 0u; i < each; i++) {
    let at = (group.x * each + i) * threads + local;
    if (at < arrayLength(&values)) {
      sum += values[at];
    }
  }
  let subgroup = subgroupAdd(sum);
  if (lane == 0u) {
    partial[local / size] = subgroup;
  }
  workgroupBarrier();

  // Every subgroup adds the partial sums up; a small subgroup has several for each invocation.
  var rest = 0.0;
  for (var i = lane; i < threads / size; i += size) {
    rest += partial[i];
  }
  let total = subgroupAdd(rest);
  if (local == 0u) {
    sums[group.x] = total;
  }
}
