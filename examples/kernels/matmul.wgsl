// c = a·b in tiles, with a of M rows and K columns, b of K rows and N columns, all in row-major order. A workgroup computes a tile of
// c: dispatch (N + tile - 1) / tile by (M + tile - 1) / tile of them. No size is a multiple of the tile.

const M = 37u;
const K = 50u;
const N = 29u;
const tile = 16u;

@group(0) @binding(0) var<storage, read> a: array<f32, M * K>;
@group(0) @binding(1) var<storage, read> b: array<f32, K * N>;
@group(0) @binding(2) var<storage, read_write> c: array<f32, M * N>;

var<workgroup> aTile: array<array<f32, tile>, tile>;
var<workgroup> bTile: array<array<f32, tile>, tile>;

@compute @workgroup_size(tile, tile)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let row = group.y * tile + local.y;
  let column = group.x * tile + local.x;
  var sum = 0.0;
  for (var k = 0u; k < K; k += tile) {
    aTile[local.y][local.x] = 0.0; // beyond the edge
    if (row < M && k + local.x < K) {
      aTile[local.y][local.x] = a[row * K + k + local.x];
    }
    bTile[local.y][local.x] = 0.0;
    if (k + local.y < K && column < N) {
      bTile[local.y][local.x] = b[(k + local.y) * N + column];
    }
    workgroupBarrier(); // the tiles are filled
    for (var i = 0u; i < tile; i++) {
      sum = fma(aTile[local.y][i], bTile[i][local.x], sum);
    }
    workgroupBarrier(); // nobody reads them any more
  }
  if (row < M && column < N) {
    c[row * N + column] = sum;
  }
}
