package kgenrt

import (
	"errors"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// table is variants of two profiles in all their forms, as a generated package lists them.
func table() []Variant {
	var all []Variant
	for _, profile := range []string{"portable", "subgroups"} {
		for _, activations := range []Activations{Exact, Fast} {
			for _, kv := range []string{"f16", "f32"} {
				v := Variant{Name: profile + "_" + string(activations) + "_" + kv, Profile: profile, Activations: activations, KV: kv}
				v.Requires.StorageBuffers = 4
				if kv == "f32" {
					v.Requires.BufferBytes = 256 << 20
				}
				if profile == "subgroups" {
					v.Requires.Subgroups, v.Requires.SubgroupSize = true, 32
					v.Requires.LoopTrips = 5000
				}
				v.Requires.PackedDot = activations == Fast
				all = append(all, v)
			}
		}
	}
	return all
}

func TestChoose(t *testing.T) {
	gpu := plan.Device{Kind: "gpu", Name: "gpu", Limits: plan.DefaultLimits(), Subgroups: true, SubgroupSize: 32}
	software := gpu
	software.Kind = "software"
	wide := gpu
	wide.SubgroupSize = 64
	small := gpu
	small.Limits.BufferBytes = 128 << 20
	without := gpu
	without.Subgroups, without.SubgroupSize, without.F16 = false, 0, false
	unknown := gpu
	unknown.SubgroupSize = 0
	dotless := gpu
	dotless.BadPackedDot = true
	short := gpu
	short.LoopTrips = 4000
	for _, c := range []struct {
		about  string
		device plan.Device
		wish   Wish
		want   string
		passed int // variants that are as wished, but more than the device can do
	}{
		{"a GPU", gpu, Wish{}, "subgroups_fast_f16", 0},
		{"a software adapter", software, Wish{}, "portable_fast_f16", 0},
		{"subgroups of another size", wide, Wish{}, "portable_fast_f16", 4},
		{"exact", gpu, Wish{Activations: Exact}, "subgroups_exact_f32", 0},
		{"exact with small buffers", small, Wish{Activations: Exact}, "subgroups_exact_f16", 2},
		{"exact with f16", gpu, Wish{Activations: Exact, KV: "f16"}, "subgroups_exact_f16", 0},
		{"f32", gpu, Wish{KV: "f32"}, "subgroups_fast_f32", 0},
		{"portable", gpu, Wish{Profile: "portable"}, "portable_fast_f16", 0},
		{"no subgroups", without, Wish{}, "portable_fast_f16", 4},
		{"subgroups of unknown size", unknown, Wish{}, "portable_fast_f16", 4},
		{"a packed dot product that is wrong", dotless, Wish{}, "subgroups_exact_f16", 4},
		{"loops that end early", short, Wish{}, "portable_fast_f16", 4},
	} {
		got, err := Choose(table(), c.device, c.wish)
		if err != nil || got.Variant.Name != c.want || len(got.Why) != c.passed+1 {
			t.Errorf("%s: got %s, %q, %v; want %s with %d passed over", c.about, got.Variant.Name, got.Why, err, c.want, c.passed)
		}
	}
}

func TestChooseRefuses(t *testing.T) {
	gpu := plan.Device{Kind: "gpu", Name: "old gpu", Limits: plan.DefaultLimits()}
	gpu.Limits.StorageBuffers = 3
	plain := plan.Device{Kind: "gpu", Name: "plain gpu", Limits: plan.DefaultLimits()}
	dotless := plain
	dotless.BadPackedDot = true
	short := plan.Device{Kind: "gpu", Name: "short gpu", Limits: plan.DefaultLimits(), Subgroups: true, SubgroupSize: 32, LoopTrips: 4999}
	for _, c := range []struct {
		device plan.Device
		wish   Wish
		code   Code
		text   string
	}{
		{plain, Wish{Profile: "subgroups"}, LimitExceeded, "check adapter plain gpu: it lacks subgroups"},
		{dotless, Wish{Activations: Fast}, LimitExceeded, "check adapter plain gpu: it lacks a packed dot product that is right"},
		{short, Wish{Profile: "subgroups"}, LimitExceeded, "short gpu: needs loop trips of one invocation 5000, the limit is 4999"},
		{gpu, Wish{KV: "q8"}, BadRequest, "there are portable_exact_f16, portable_exact_f32"},
		{gpu, Wish{Profile: "portable", KV: "f16"}, LimitExceeded, "portable_exact_f16, portable_fast_f16: old gpu: needs maxStorageBuffersPerShaderStage 4"},
	} {
		_, err := Choose(table(), c.device, c.wish)
		var typed *Error
		if !errors.As(err, &typed) || typed.Code != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: got %v, want %s with %q", c.wish, err, c.code, c.text)
		}
	}
}

// Choose leaves its table as it was, so that the same table gives the same choice again.
func TestChooseIsPure(t *testing.T) {
	variants := table()
	device := plan.Device{Kind: "gpu", Limits: plan.DefaultLimits(), Subgroups: true, SubgroupSize: 32}
	first, _ := Choose(variants, device, Wish{})
	for i, v := range table() {
		if variants[i].Name != v.Name {
			t.Fatalf("variant %d became %s", i, variants[i].Name)
		}
	}
	if second, _ := Choose(variants, device, Wish{}); second.Variant.Name != first.Variant.Name {
		t.Errorf("%s, then %s", first.Variant.Name, second.Variant.Name)
	}
}
