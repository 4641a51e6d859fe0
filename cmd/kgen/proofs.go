package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/codegen/golang"
)

// unprovedAccess is an access that was not proved in bounds.
type unprovedAccess struct {
	Position string `json:"position"` // file:line:column of the kernel
	Access   string `json:"access"`
	Low      int64  `json:"low"` // what the index may be
	High     int64  `json:"high"`
	Length   int    `json:"length"` // of what is indexed; 0 where it isn't known
	Why      string `json:"why"`
}

func unprovedOf(p *bounds.Proof) []unprovedAccess {
	var all []unprovedAccess
	for _, f := range p.Failures {
		all = append(all, unprovedAccess{f.Pos.String(), f.Expr, f.Low, f.High, f.Length, f.Why})
	}
	return all
}

func printUnproved(out io.Writer, all []unprovedAccess) {
	for _, u := range all {
		fmt.Fprintf(out, "  not proved: %s: %s: %s\n", u.Position, u.Access, u.Why)
	}
}

// provedKernel is a kernel of a generated package with the proof that was made anew.
type provedKernel struct {
	Name     string           `json:"name"`
	Variants []string         `json:"variants"`
	Proved   bool             `json:"proved"`  // in every variant
	Claimed  bool             `json:"claimed"` // by the package, so that it runs unchecked
	Accesses int              `json:"accesses"`
	Unproved []unprovedAccess `json:"unproved,omitempty"`
}

// packageProofs is what inspect finds of a generated package.
type packageProofs struct {
	Package  string         `json:"package"`
	Variants []string       `json:"variants"`
	Kernels  []provedKernel `json:"kernels"`
	Proved   int            `json:"proved"`
	Edited   []string       `json:"edited"` // files that are not as they were made
}

func (v *inspectVerb) inspectPackage(t *terminal) error {
	if v.Header || v.Tensors || v.Graph || v.Steps || v.Plan || v.Kernel != "" {
		return usagef("%s is a folder: of a generated package inspect prints the kernels alone", v.Model)
	}
	p, err := readPackage(v.Model)
	if err != nil {
		return err
	}
	r := provePackage(v.Model, p)
	if v.JSON {
		err = t.printJSON(r)
	} else {
		r.print(t.stdout)
	}
	if err == nil && slices.ContainsFunc(r.Kernels, func(k provedKernel) bool { return k.Claimed && !k.Proved }) {
		err = errReported
	}
	return err
}

// provePackage proves the kernels of all variants; one that several use needs every proof.
func provePackage(dir string, p *golang.ReadPackage) packageProofs {
	r := packageProofs{Package: dir, Variants: []string{}, Kernels: []provedKernel{}, Edited: append([]string{}, p.Edited...)}
	for _, v := range p.Variants {
		r.Variants = append(r.Variants, v.Name)
		for i, proof := range v.Proofs() {
			name := v.Kernels[i].Name
			at := slices.IndexFunc(r.Kernels, func(k provedKernel) bool { return k.Name == name })
			if at < 0 {
				at = len(r.Kernels)
				r.Kernels = append(r.Kernels, provedKernel{Name: name, Proved: true, Claimed: v.Kernels[i].Proved, Accesses: proof.Accesses})
			}
			k := &r.Kernels[at]
			k.Variants = append(k.Variants, v.Name)
			k.Proved = k.Proved && proof.Proved()
			for _, u := range unprovedOf(proof) {
				if !slices.Contains(k.Unproved, u) {
					k.Unproved = append(k.Unproved, u)
				}
			}
		}
	}
	slices.SortFunc(r.Kernels, func(a, b provedKernel) int { return strings.Compare(a.Name, b.Name) })
	for _, k := range r.Kernels {
		if k.Proved {
			r.Proved++
		}
	}
	return r
}

func (r packageProofs) print(out io.Writer) {
	fmt.Fprintf(out, "package %s, %d variants\n%-52s %8s %9s %6s\n", r.Package, len(r.Variants), "kernel", "accesses", "variants", "proved")
	for _, k := range r.Kernels {
		fmt.Fprintf(out, "%-52s %8d %9d %6v\n", k.Name, k.Accesses, len(k.Variants), k.Proved)
		if k.Claimed && !k.Proved {
			fmt.Fprintln(out, "  the package claims that it is proved, and it is not")
		}
		printUnproved(out, k.Unproved)
	}
	for _, name := range r.Edited {
		fmt.Fprintf(out, "%s is not as it was generated\n", name)
	}
	fmt.Fprintf(out, "%d of %d kernels proved\n", r.Proved, len(r.Kernels))
}
