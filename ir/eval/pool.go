package eval

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// pool runs loops on a fixed number of goroutines. Chunks have fixed borders and every element is computed by one
// goroutine from start to end, so results do not depend on how many there are.
type pool struct {
	scratch []scratch // one per goroutine
}

// scratch is working memory that a goroutine keeps from chunk to chunk.
type scratch struct {
	row    []float32    // a dequantised row
	rows   [4][]float64 // four of them
	scores []float64
	sums   []float64
}

func newPool() *pool { return &pool{scratch: make([]scratch, runtime.GOMAXPROCS(0))} }

// run calls f for [0, n) as split does. A fault of a goroutine goes on in the caller's, where guarded finds it.
func (p *pool) run(n, chunk int, f func(s *scratch, from, to int)) {
	var fault atomic.Pointer[SourceError]
	p.split(n, chunk, func(s *scratch, from, to int) {
		err := guarded(func() error {
			f(s, from, to)
			return nil
		})
		if err != nil {
			fault.CompareAndSwap(nil, err.(*SourceError))
		}
	})
	if found := fault.Load(); found != nil {
		panic(found.Fault)
	}
}

// split calls f for [0, n) cut into chunks of the given size, the last one perhaps shorter.
func (p *pool) split(n, chunk int, f func(s *scratch, from, to int)) {
	chunks := (n + chunk - 1) / chunk
	var next atomic.Int64
	work := func(s *scratch) {
		for c := int(next.Add(1)) - 1; c < chunks; c = int(next.Add(1)) - 1 {
			f(s, c*chunk, min(n, (c+1)*chunk))
		}
	}
	var wait sync.WaitGroup
	for i := 1; i < min(len(p.scratch), chunks); i++ {
		wait.Go(func() { work(&p.scratch[i]) })
	}
	work(&p.scratch[0])
	wait.Wait()
}

// sized returns a slice of n elements, the given one when it is big enough. Its contents are arbitrary.
func sized[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}
