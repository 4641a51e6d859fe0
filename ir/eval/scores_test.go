package eval_test

import (
	"math"
	"testing"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
)

// Attention of scores that are easy to get wrong: the softmax of finite ones, and NaN where one is NaN or +Inf, but for heads that do not
// see it. Values are 1, 2, 4, ... in head 0, and 7 in head 1, whose scores are 0.
func TestAttentionOfOddScores(t *testing.T) {
	g, err := ir.Parse("scores", `graph "scores"
input q: f32[T, 2, 1]
input kv: f32[2, S, 2, 1]
%y = attention q, kv {scale=1} : f32[T, 2, 1]
output %y
`)
	if err != nil {
		t.Fatal(err)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range map[string]struct {
		scores []float32
		want   float64
	}{
		"one":             {[]float32{-88}, 1},
		"all 88":          {[]float32{88, 88, 88, 88}, 15. / 4},
		"far apart":       {[]float32{1e4, -1e4, 1e4, -1e4}, 2.5},
		"all but one off": {[]float32{-inf, 3, -inf}, 2},
		"NaN":             {[]float32{1, nan, 1}, math.NaN()},
		"infinite":        {[]float32{1, inf, 1}, math.NaN()},
		"all off":         {[]float32{-inf, -inf}, math.NaN()},
	} {
		var keys, values []float32
		for i, score := range c.scores {
			keys = append(keys, score, 0)
			values = append(values, float32(int(1)<<i), 7)
		}
		got, err := eval.Evaluate(g, map[string]eval.Value{"q": numbers(1, 1), "kv": numbers(append(keys, values...)...)}, nil, ir.Sizes{T: 1, S: len(c.scores)})
		if err != nil {
			t.Fatal(err)
		}
		y := got["y"].F32
		if e := math.Abs(float64(y[0]) - c.want); e > 1e-5*c.want || math.IsNaN(c.want) != math.IsNaN(float64(y[0])) {
			t.Errorf("%s: got %v, want %v", name, y[0], c.want)
		}
		if y[1] != 7 {
			t.Errorf("%s: the other head gives %v, want 7", name, y[1])
		}
	}
}
