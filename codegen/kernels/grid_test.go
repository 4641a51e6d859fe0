package kernels

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Whatever the number of workgroups, they fit two dimensions, each number has one, and fewer than y of them are to spare.
func TestGridOfAnySize(t *testing.T) {
	const most = 65535
	counts := []int{1, 255, 256, 257, 65535, 65536, 65537, 131071, 196608, 262144, 1 << 31}
	for range 10_000 {
		counts = append(counts, 1+rand.IntN(1<<31))
	}
	for _, n := range counts {
		g := newGrid(n, most)
		x, y := g.x, g.y
		if x < 1 || x > most || y < 1 || y > most || x*y < n || x*y-n >= y || (y > 1) != (n > most) || g.size() != [3]int{x, y, 1} {
			t.Fatalf("%d workgroups are %d by %d", n, x, y)
		}
		// Numbers are y·x + x: unique where x is the length of a line, and within u32.
		if folded := strings.Contains(g.index(), "group.y"); folded != (y > 1) || uint64(x)*uint64(y) > 1<<32 {
			t.Fatalf("%d workgroups, %d by %d, are numbered %s", n, x, y, g.index())
		}
		if g.spare() != (x*y > n) {
			t.Fatalf("%d workgroups, %d by %d: spare %v", n, x, y, g.spare())
		}
	}
}
