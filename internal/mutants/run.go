package mutants

import (
	"context"
	"sync"

	"github.com/kgen-wgsl/kgen/codegen/mutate"
)

// Judge returns what is wrong with a text, and nothing where it finds no fault. Errors are those of the judge itself.
type Judge func(ctx context.Context, m mutate.Mutant) (fault string, err error)

// Result is what a judge said of a mutant.
type Result struct {
	mutate.Mutant
	Fault string // empty for a mutant that survives
}

// Killed reports whether the judge found a fault.
func (r Result) Killed() bool { return r.Fault != "" }

// Run lets a judge look at mutants, several at a time, and returns results in the order of the mutants. It ends at the first error.
func Run(ctx context.Context, mutants []mutate.Mutant, judge Judge, workers int) ([]Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]Result, len(mutants))
	next := make(chan int)
	var wait sync.WaitGroup
	for range max(workers, 1) {
		wait.Go(func() {
			for i := range next {
				fault, err := judge(ctx, mutants[i])
				if err != nil {
					cancel(err)
				}
				results[i] = Result{mutants[i], fault}
			}
		})
	}
	for i := range mutants {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	return results, context.Cause(ctx)
}
