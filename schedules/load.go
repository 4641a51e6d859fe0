package schedules

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

//go:embed profiles/*.json
var files embed.FS

// Profiles returns the profiles that come with kgen, in the order of their names. It panics when an embedded file is
// broken, which a test rules out.
func Profiles() []Profile {
	entries, err := files.ReadDir("profiles")
	if err != nil {
		panic(err)
	}
	all := make([]Profile, len(entries))
	for i, e := range entries {
		data, err := files.ReadFile("profiles/" + e.Name())
		if err == nil {
			all[i], err = ParseProfile(e.Name(), data)
		}
		if err != nil {
			panic(err)
		}
	}
	slices.SortFunc(all, func(a, b Profile) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return all
}

// Lookup returns the profile with the given name, or an *UnknownError with the nearest names.
func Lookup(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, unknown("profile", name, names)
}

// ParseProfile reads a profile from JSON. Every key must be there and none else; limits must be positive. An error starts
// with file and the key at fault; an unknown key is an *UnknownError within.
func ParseProfile(file string, data []byte) (Profile, error) {
	var p Profile
	var l plan.Limits
	var rest json.RawMessage
	err := object(data, "", map[string]any{
		"name": &p.Name, "about": &p.About, "dialect": &p.Dialect, "limits": &rest, "subgroups": &p.Subgroups,
		"subgroupSize": &p.SubgroupSize, "f16": &p.F16, "packedDot": &p.PackedDot, "loopTrips": &p.LoopTrips,
	})
	if err == nil {
		err = object(rest, "limits.", map[string]any{
			"storageBuffers": &l.StorageBuffers, "uniformBuffers": &l.UniformBuffers, "bindingBytes": &l.BindingBytes,
			"uniformBytes": &l.UniformBytes, "bufferBytes": &l.BufferBytes, "workgroupBytes": &l.WorkgroupBytes,
			"invocations": &l.Invocations, "workgroupX": &l.WorkgroupX, "workgroupY": &l.WorkgroupY,
			"workgroupZ": &l.WorkgroupZ, "workgroups": &l.Workgroups, "offsetAlignment": &l.OffsetAlignment,
			"dispatchesInPass": &l.DispatchesInPass,
		})
	}
	p.Limits = l
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return Profile{}, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// object reads the keys of a JSON object into the variables that want names.
func object(data []byte, prefix string, want map[string]any) error {
	var got map[string]json.RawMessage
	if err := json.Unmarshal(data, &got); err != nil {
		return err
	}
	known := slices.Sorted(maps.Keys(want))
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			return unknown("key", prefix+key, prefixed(prefix, known))
		}
	}
	for _, key := range known {
		value, ok := got[key]
		if !ok {
			return fmt.Errorf("key %q is missing", prefix+key)
		}
		if err := json.Unmarshal(value, want[key]); err != nil {
			return fmt.Errorf("key %q: %w", prefix+key, err)
		}
	}
	return nil
}

func prefixed(prefix string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = prefix + n
	}
	return out
}

// check refuses values that no device has.
func (p Profile) check() error {
	if p.Name == "" {
		return fmt.Errorf("key %q is empty", "name")
	}
	if !slices.Contains([]Dialect{Any, Tint, Naga}, p.Dialect) {
		return unknown("dialect", string(p.Dialect), []string{string(Any), string(Tint), string(Naga)})
	}
	for _, l := range limits(p.Limits, plan.Limits{}) {
		if l.need == 0 || l.need > 1<<62 {
			return fmt.Errorf("limit %s of %d is not positive", l.name, int64(l.need))
		}
	}
	l := p.Limits
	switch {
	case l.DispatchesInPass < 1:
		return fmt.Errorf("key %q: %d is not positive", "limits.dispatchesInPass", l.DispatchesInPass)
	case l.BindingBytes%4 != 0 || l.BindingBytes > l.BufferBytes:
		return fmt.Errorf("key %q: %d is not a multiple of 4 within bufferBytes", "limits.bindingBytes", l.BindingBytes)
	case l.OffsetAlignment > 256 || 256%l.OffsetAlignment != 0:
		return fmt.Errorf("key %q: %d does not divide 256, the alignment of ranges", "limits.offsetAlignment", l.OffsetAlignment)
	case p.SubgroupSize < 0 || p.SubgroupSize > 128 || p.SubgroupSize&(p.SubgroupSize-1) != 0:
		return fmt.Errorf("key %q: %d is no power of two up to 128", "subgroupSize", p.SubgroupSize)
	case p.SubgroupSize > 0 && !p.Subgroups:
		return fmt.Errorf("key %q: %d without subgroups", "subgroupSize", p.SubgroupSize)
	case p.LoopTrips < 0:
		return fmt.Errorf("key %q: %d is negative", "loopTrips", p.LoopTrips)
	}
	return nil
}
