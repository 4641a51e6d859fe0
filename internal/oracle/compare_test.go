package oracle

import (
	"math"
	"testing"
)

func TestFirstDifference(t *testing.T) {
	want, ties := []uint32{1, 2, 3, 4}, []int{2}
	for _, c := range []struct {
		got     []uint32
		step    int
		excused bool
	}{
		{[]uint32{1, 2, 3, 4}, -1, false},
		{[]uint32{1, 2, 9, 9}, 2, true},
		{[]uint32{1, 9, 9, 4}, 1, false},
		{[]uint32{1, 2, 3, 9}, 3, false},
		{[]uint32{1, 2}, 2, false},
	} {
		if step, excused := FirstDifference(c.got, want, ties); step != c.step || excused != c.excused {
			t.Errorf("%v: %d %v, want %d %v", c.got, step, excused, c.step, c.excused)
		}
	}
}

// TestNaN: a result that is no number must not pass for a small difference.
func TestNaN(t *testing.T) {
	nan := float32(math.NaN())
	if v := NMSE([]float32{1, nan}, []float32{1, 2}); !math.IsNaN(v) {
		t.Errorf("NMSE %v", v)
	}
	if v := MaxAbs([]float32{nan, 2}, []float32{1, 2}); !math.IsNaN(v) {
		t.Errorf("MaxAbs %v", v)
	}
}

func TestMeasures(t *testing.T) {
	got, want := []float32{1, 2, 2}, []float32{1, 2, 3}
	if v := NMSE(got, want); math.Abs(v-1.0/14) > 1e-12 {
		t.Errorf("NMSE %v, want 1/14", v)
	}
	if v := MaxAbs(got, want); v != 1 {
		t.Errorf("MaxAbs %v, want 1", v)
	}
	if v := LogSumExp([]float32{1000, 1000}); math.Abs(v-1000-math.Ln2) > 1e-12 {
		t.Errorf("LogSumExp %v", v)
	}
}

func TestFilesAreWhole(t *testing.T) {
	for _, name := range Tiny() {
		if m := Load(t, name); len(m.Prompts) != 3 {
			t.Errorf("%s has %d prompts, want 3", name, len(m.Prompts))
		}
	}
}
