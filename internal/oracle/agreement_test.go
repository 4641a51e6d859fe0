package oracle

import (
	"math"
	"testing"
)

// ln gives logits for a distribution, moved by a constant that must not matter.
func ln(shift float64, p ...float64) []float32 {
	out := make([]float32, len(p))
	for i, v := range p {
		out[i] = float32(math.Log(v) + shift)
	}
	return out
}

func TestKLD(t *testing.T) {
	// ½·ln(½/¼) + ½·ln(½/¾) = ½·ln(4/3)
	if v, want := KLD(ln(3, 0.25, 0.75), ln(-7, 0.5, 0.5)), math.Log(4.0/3)/2; math.Abs(v-want) > 1e-6 {
		t.Errorf("%v, want %v", v, want)
	}
	if v := KLD(ln(100, 0.1, 0.2, 0.7), ln(0, 0.1, 0.2, 0.7)); math.Abs(v) > 1e-5 {
		t.Errorf("equal distributions: %v", v)
	}
	if v := KLD([]float32{1, float32(math.NaN())}, []float32{1, 2}); !math.IsNaN(v) {
		t.Errorf("NaN gives %v", v)
	}
}

func TestAgreement(t *testing.T) {
	var a Agreement
	a.add(ln(0, 0.25, 0.75), ln(0, 0.5, 0.5), 1, math.Log(2)) // the reference ties: its first token is its top one
	a.add(ln(0, 0.25, 0.75), ln(0, 0.25, 0.75), 0, math.Log(4))
	if a.Positions != 2 || a.Top1() != 0.5 {
		t.Errorf("%s", a.String())
	}
	if want := math.Log(4.0/3) / 4; math.Abs(a.KLD()-want) > 1e-6 {
		t.Errorf("KLD %v, want %v", a.KLD(), want)
	}
	if want := (math.Log(4.0/3) - math.Log(2)) / 2; math.Abs(a.NLL()-want) > 1e-6 {
		t.Errorf("NLL %v, want %v", a.NLL(), want)
	}
}
