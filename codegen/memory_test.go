package codegen

import (
	"math/rand/v2"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// One decoder layer's units, repeated: the residual stream x lives throughout, the rest come and go.
func layerUses(layers int) (units []*unit, uses []use, perLayer int) {
	mk := func(bytes uint64) *unit {
		u := newUnit(&slot{bytes: bytes})
		units = append(units, u)
		return u
	}
	x := mk(2304)
	uses = append(uses, use{writes: []*unit{x}})
	for range layers {
		norm, qkv, attention, out := mk(2304), mk(3840), mk(2304), mk(2304)
		uses = append(uses,
			use{reads: []*unit{x}, writes: []*unit{norm}},
			use{reads: []*unit{norm}, writes: []*unit{qkv}},
			use{writes: []*unit{qkv}},
			use{reads: []*unit{qkv}, writes: []*unit{attention}},
			use{reads: []*unit{attention}, writes: []*unit{out}},
			use{reads: []*unit{out}, writes: []*unit{x}})
	}
	return units, uses, 4
}

func TestLayersGetTheSameOffsets(t *testing.T) {
	units, uses, perLayer := layerUses(5)
	sizes := placeUnits(units, uses)
	if len(sizes) != 3 {
		t.Errorf("%d arenas, want 3", len(sizes))
	}
	first := units[1 : 1+perLayer]
	for layer := 1; layer < 5; layer++ {
		for i, u := range units[1+layer*perLayer : 1+(layer+1)*perLayer] {
			if u.arena != first[i].arena || u.offset != first[i].offset {
				t.Errorf("layer %d unit %d: arena %d offset %d, layer 0 has %d and %d", layer, i, u.arena, u.offset, first[i].arena, first[i].offset)
			}
		}
	}
}

// Whatever the steps do, live units never overlap and a step never writes in an arena that it uses otherwise.
func TestPlaceUnitsRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var units []*unit
		var uses []use
		for range 30 {
			u := newUnit(&slot{bytes: uint64(1 + random.IntN(5000))})
			step := use{writes: []*unit{u}}
			for range random.IntN(3) {
				if len(units) > 0 {
					step.reads = append(step.reads, units[max(0, len(units)-1-random.IntN(6))])
				}
			}
			units = append(units, u)
			uses = append(uses, step)
		}
		sizes := placeUnits(units, uses)
		for i, a := range units {
			if a.offset%plan.RangeAlignment != 0 || a.offset+a.bytes > sizes[a.arena] {
				t.Fatalf("unit %d at %d, %d bytes: arena has %d", i, a.offset, a.bytes, sizes[a.arena])
			}
			for _, b := range units[:i] {
				live := a.first <= b.last && b.first <= a.last
				if live && a.arena == b.arena && a.offset < b.offset+b.bytes && b.offset < a.offset+a.bytes {
					t.Fatalf("units at %d and %d overlap while both live", a.offset, b.offset)
				}
			}
		}
		for i, u := range uses {
			for _, r := range u.reads {
				if r.arena == u.writes[0].arena {
					t.Fatalf("step %d reads and writes arena %d", i, r.arena)
				}
			}
		}
	}
}
