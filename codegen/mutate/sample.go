package mutate

import (
	"math/rand/v2"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Kernel is a text that mistakes are made in.
type Kernel struct{ Name, Text string }

// Mutant is the text of a kernel with the mistake of one site.
type Mutant struct {
	Kernel string
	Site   Site
	Text   string
}

// Sample returns n mutants of the kernels, or all if there are fewer: operators in turn, and for each of them a kernel drawn evenly
// from those that have a site of it, so that long texts don't come more often. The same seed draws the same.
// Errors are those of wgsl.Parse.
func Sample(kernels []Kernel, n int, seed uint64) ([]Mutant, error) {
	s := &sampler{kernels: kernels, sites: make([]map[string][]Site, len(kernels)), random: rand.New(rand.NewPCG(seed, 0))}
	var mutants []Mutant
	for drawn := true; drawn; {
		drawn = false
		for _, o := range Operators() {
			if len(mutants) == n {
				return mutants, nil
			}
			m, ok, err := s.draw(o.Name)
			if err != nil {
				return nil, err
			}
			if ok {
				mutants, drawn = append(mutants, m), true
			}
		}
	}
	return mutants, nil
}

// sampler draws sites without putting them back.
type sampler struct {
	kernels []Kernel
	sites   []map[string][]Site // those left of each kernel, by operator; nil until they are asked for
	random  *rand.Rand
}

// draw takes a mutant of an operator; false when none is left.
func (s *sampler) draw(operator string) (Mutant, bool, error) {
	for _, i := range s.random.Perm(len(s.kernels)) {
		k := s.kernels[i]
		if err := s.find(i); err != nil {
			return Mutant{}, false, err
		}
		list := s.sites[i][operator]
		if len(list) == 0 {
			continue
		}
		at := s.random.IntN(len(list))
		site := list[at]
		s.sites[i][operator] = slices.Delete(list, at, at+1)
		text, err := Apply(k.Text, site)
		return Mutant{k.Name, site, text}, true, err
	}
	return Mutant{}, false, nil
}

// find finds the sites of a kernel, once.
func (s *sampler) find(i int) error {
	if s.sites[i] != nil {
		return nil
	}
	file, err := wgsl.Parse(s.kernels[i].Name, s.kernels[i].Text)
	if err != nil {
		return err
	}
	s.sites[i] = map[string][]Site{}
	for _, site := range Sites(file) {
		s.sites[i][site.Operator] = append(s.sites[i][site.Operator], site)
	}
	return nil
}
