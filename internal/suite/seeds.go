package suite

import "math/rand/v2"

// Seeds are three that never change.
func Seeds() []uint64 { return []uint64{1, 2, 3} }

// FreshSeeds draws n seeds that change from run to run: a bound that only fits the numbers it was found with shows sooner or later.
func FreshSeeds(n int) []uint64 {
	var all []uint64
	for range n {
		all = append(all, rand.Uint64())
	}
	return all
}
