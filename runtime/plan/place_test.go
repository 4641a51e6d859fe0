package plan

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlace(t *testing.T) {
	b := NewBuilder("places", "tiny", requires()) // bindings of 4096 bytes, buffers of 8192
	got := []Range{
		b.Place(WeightsBuffer, "a", 1000),
		b.Place(KVBuffer, "cache", 4096),
		b.Place(WeightsBuffer, "b", 2),
		b.Place(WeightsBuffer, "c", 4096),
		b.Place(WeightsBuffer, "d", 4096),
		b.Place(WeightsBuffer, "e", 4),
	}
	want := []Range{{0, 0, 1000}, {1, 0, 4096}, {0, 1024, 4}, {0, 1280, 4096}, {2, 0, 4096}, {2, 4096, 4}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ranges (-want +got):\n%s", d)
	}
	buffers := []Buffer{{"weights", WeightsBuffer, 5376}, {"kv", KVBuffer, 4096}, {"weights1", WeightsBuffer, 4100}}
	if d := cmp.Diff(buffers, b.plan.Buffers); d != "" {
		t.Errorf("buffers (-want +got):\n%s", d)
	}
	if b.Err() != nil {
		t.Fatal(b.Err())
	}
	b.Place(WeightsBuffer, "weight w", 4100)
	var limit *LimitError
	if !errors.As(b.Err(), &limit) || limit.Subject != "weight w" || limit.Limit != LimitBindingBytes {
		t.Errorf("above the binding limit: %v", b.Err())
	}
}

// What a device may have to bind as one lies in one buffer: keys and values of a layer, and the planes of a stack. Only where a
// buffer can't have both they part.
func TestPlaceTogether(t *testing.T) {
	b := NewBuilder("together", "tiny", requires()) // bindings of 4096 bytes, buffers of 8192
	planes := func(strides ...int) Recipe {
		r := Recipe{Type: "bytes", RowBlocks: 1}
		for i, n := range strides {
			r.Planes = append(r.Planes, Plane{Name: string(rune('a' + i)), BlockBits: 8 * n, RowStride: n, Fields: []Field{{8 * r.BlockBytes, 0, 8 * n}}})
			r.BlockBytes += n
		}
		return r
	}
	var got []Range
	for range 6 {
		got = append(got, b.Place(KVBuffer, "cache", 2048-256))
	}
	got = append(got, b.Stack(planes(4096), Rows{Tensor: "w", Rows: 1})...)
	got = append(got, b.Stack(planes(1000, 2000, 1100), Rows{Tensor: "v", Rows: 1})...) // 1024 + 2048 + 1100
	got = append(got, b.Stack(planes(1000, 1000), Rows{Tensor: "u", Rows: 1})...)       // fits where it is
	got = append(got, b.Stack(planes(4096, 4096, 200), Rows{Tensor: "t", Rows: 1})...)  // fits no buffer, but for the last two
	want := []Range{
		{0, 0, 1792}, {0, 1792, 1792}, {0, 3584, 1792}, {0, 5376, 1792}, {1, 0, 1792}, {1, 1792, 1792},
		{2, 0, 4096},
		{3, 0, 1000}, {3, 1024, 2000}, {3, 3072, 1100},
		{3, 4352, 1000}, {3, 5376, 1000},
		{4, 0, 4096}, {5, 0, 4096}, {5, 4096, 200},
	}
	if d := cmp.Diff(want, got); d != "" || b.Err() != nil {
		t.Errorf("%v; ranges (-want +got):\n%s", b.Err(), d)
	}
}

func TestStack(t *testing.T) {
	format := Recipe{Type: "F32", RowBlocks: 16, BlockBytes: 4, Planes: []Plane{
		{Name: "low", BlockBits: 16, RowStride: 32, Fields: []Field{{0, 0, 16}}},
		{Name: "high", BlockBits: 16, RowStride: 32, Fields: []Field{{16, 0, 16}}},
	}}
	b := NewBuilder("stack", "tiny", requires())
	places := b.Stack(format, Rows{Tensor: "q", Rows: 5}, Rows{Tensor: "k", Rows: 3, From: 7})
	if d := cmp.Diff([]Range{{0, 0, 256}, {0, 256, 256}}, places); d != "" {
		t.Errorf("planes (-want +got):\n%s", d)
	}
	if b.Err() != nil {
		t.Fatal(b.Err())
	}
	k := b.plan.Weights[1]
	if k.Tensor != "k" || k.From != 7 || k.Recipe.Rows != 3 || k.Recipe.Planes[1].To != (Range{0, 256 + 5*32, 96}) {
		t.Errorf("the second tensor: %+v", k)
	}
	if format.Planes[0].To != (Range{}) {
		t.Error("the format was changed")
	}
	if b := NewBuilder("none", "tiny", requires()); b.Stack(format) == nil || b.Err() == nil {
		t.Error("a stack of nothing is no mistake")
	}
}
