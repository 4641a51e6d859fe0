package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// bufferRequest is what --buffer says.
type bufferRequest struct {
	flag    string // as it was given
	binding string // number, group.number or name
	bytes   uint64 // 0 when left out
	seeded  bool
	seed    uint64
	path    string // of the file to fill it from
	as      string // the binding whose buffer it is
}

// parseBuffers reads BINDING=BYTES[:seed=N|:file=PATH|:as=BINDING].
func parseBuffers(flags []string) ([]bufferRequest, error) {
	var all []bufferRequest
	for _, flag := range flags {
		r, err := parseBuffer(flag)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func parseBuffer(flag string) (bufferRequest, error) {
	r := bufferRequest{flag: flag}
	const form = "BINDING=BYTES[:seed=N|:file=PATH|:as=BINDING]"
	binding, rest, ok := strings.Cut(flag, "=")
	r.binding = strings.TrimSpace(binding)
	if !ok || r.binding == "" {
		return r, usagef("--buffer: %q is not of the form %s", flag, form)
	}
	bytes, fill, filled := strings.Cut(rest, ":")
	if bytes != "" {
		n, err := strconv.ParseUint(bytes, 10, 63)
		if err != nil {
			return r, usagef("--buffer %s: %q is no number of bytes; the form is %s", flag, bytes, form)
		}
		if n == 0 || n%4 != 0 {
			return r, usagef("--buffer %s: the size of a binding is a positive multiple of 4 bytes", flag)
		}
		r.bytes = n
	}
	if !filled {
		return r, nil
	}
	how, value, _ := strings.Cut(fill, "=")
	switch {
	case value == "":
		return r, usagef("--buffer %s: %q is not seed=N, file=PATH or as=BINDING", flag, fill)
	case how == "seed":
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return r, usagef("--buffer %s: seed %q is no number from 0 to 2^64-1", flag, value)
		}
		r.seeded, r.seed = true, n
	case how == "file":
		r.path = value
	case how == "as":
		r.as = value
	default:
		return r, usagef("--buffer %s: %q is not seed=N, file=PATH or as=BINDING", flag, fill)
	}
	return r, nil
}

// simInput is what a binding of the kernel gets.
type simInput struct {
	declared sim.Declared
	bytes    uint64
	data     []byte // what it starts with; zeros follow
	seeded   bool
	seed     uint64
	as       int // the input whose buffer it shares; its own index where it has one
}

// simBindings is what an entry point uses, and how large it may be.
type simBindings struct {
	file   *wgsl.File
	used   []sim.Declared
	limits plan.Limits
	unused []string // flags for bindings of the file that the entry point doesn't use
	zeros  []string // what no flag fills, and the entry point only reads
}

// mostBytes is how much memory all buffers together may have.
const mostBytes = 2 << 30

// most returns the largest size of a binding, and what WebGPU calls that limit.
func (b *simBindings) most(d sim.Declared) (uint64, string) {
	l := b.limits.WithDefaults()
	if d.Access == plan.Uniform {
		return l.UniformBytes, plan.LimitUniformBytes
	}
	return l.BindingBytes, plan.LimitBindingBytes
}

// overLimit finds variables whose types are larger than any binding.
func (b *simBindings) overLimit() []simFinding {
	var found []simFinding
	for _, d := range b.used {
		if most, limit := b.most(d); d.Bytes > most {
			pos := b.position(d)
			found = append(found, simFinding{Finding: sim.Finding{
				Kind: sim.Limit, File: pos.File, Line: pos.Line, Column: pos.Column, Variable: d.Name, Index: -1, Count: 1,
				Detail: fmt.Sprintf("its type has %d bytes, %s is %d; it was not run", d.Bytes, limit, most),
			}})
		}
	}
	return found
}

func (b *simBindings) position(d sim.Declared) wgsl.Pos {
	for _, decl := range b.file.Decls {
		if v, ok := decl.(*wgsl.Var); ok && v.Symbol.Name == d.Name {
			return v.Symbol.Pos
		}
	}
	return wgsl.Pos{}
}

// declares reports whether the file has a binding that a flag names, whoever uses it.
func (b *simBindings) declares(binding string) bool {
	return slices.ContainsFunc(b.file.Decls, func(d wgsl.Decl) bool {
		v, ok := d.(*wgsl.Var)
		return ok && (v.Symbol.Space == wgsl.StorageSpace || v.Symbol.Space == wgsl.UniformSpace) &&
			slices.Contains(labels(v.Symbol.Name, v.Group, v.Binding), binding)
	})
}

// labels are the ways to name a binding.
func labels(name string, group, binding int) []string {
	all := []string{name, fmt.Sprintf("%d.%d", group, binding)}
	if group == 0 {
		all = append(all, strconv.Itoa(binding))
	}
	return all
}

// label names a binding as --buffer does.
func label(d sim.Declared) string {
	if d.Group == 0 {
		return strconv.Itoa(d.Binding)
	}
	return strconv.Itoa(d.Group) + "." + strconv.Itoa(d.Binding)
}

// find returns the index of the binding that a flag names.
func (b *simBindings) find(flag, binding string) (int, error) {
	var names []string
	for i, d := range b.used {
		if slices.Contains(labels(d.Name, d.Group, d.Binding), binding) {
			return i, nil
		}
		names = append(names, fmt.Sprintf("%s (%s)", label(d), d.Name))
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	return 0, usagef("%s: the entry point uses no binding %s; it uses %s", flag, binding, strings.Join(names, ", "))
}

// inputs says what each binding gets. Files are read.
func (b *simBindings) inputs(requests []bufferRequest) ([]simInput, error) {
	of := make([]*bufferRequest, len(b.used))
	for _, r := range requests {
		at, err := b.find("--buffer "+r.flag, r.binding)
		if err != nil && b.declares(r.binding) {
			b.unused = append(b.unused, r.flag)
			continue
		}
		if err != nil {
			return nil, err
		}
		if of[at] != nil {
			return nil, usagef("--buffer %s: binding %s is %s already", r.flag, r.binding, of[at].flag)
		}
		of[at] = &r
	}
	all := make([]simInput, len(b.used))
	total := uint64(0)
	for i, d := range b.used {
		all[i] = simInput{declared: d, as: i}
		if of[i] == nil && d.Access != plan.ReadWrite {
			b.zeros = append(b.zeros, d.Name)
		}
		if of[i] != nil && of[i].as != "" {
			continue
		}
		if err := b.own(&all[i], of[i]); err != nil {
			return nil, err
		}
		if total += all[i].bytes; total > mostBytes {
			return nil, usagef("--buffer: all buffers together have more than %d MiB", mostBytes>>20)
		}
	}
	for i := range all {
		if of[i] != nil && of[i].as != "" {
			if err := b.share(all, i, of); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// own fits a buffer of its own to a binding.
func (b *simBindings) own(in *simInput, r *bufferRequest) error {
	need := (in.declared.Bytes + 3) &^ 3
	if r == nil {
		if in.declared.Runtime {
			return usagef("binding %s, %s, has no size in the text: give --buffer %s=BYTES, at least %d",
				label(in.declared), in.declared.Name, label(in.declared), need)
		}
		in.bytes = need
		return nil
	}
	in.bytes, in.seeded, in.seed = r.bytes, r.seeded, r.seed
	if r.path != "" {
		if err := b.readFile(in, r); err != nil {
			return err
		}
	}
	if in.bytes == 0 && in.declared.Runtime {
		return usagef("--buffer %s: %s has no size in the text: give one, at least %d", r.flag, in.declared.Name, need)
	}
	in.bytes = cmp.Or(in.bytes, need)
	return b.fits(in, r)
}

// fits checks the size of a binding before anything of it is allocated.
func (b *simBindings) fits(in *simInput, r *bufferRequest) error {
	most, limit := b.most(in.declared)
	switch {
	case in.bytes > most:
		return usagef("--buffer %s: %d bytes are more than %s, %d; --profile has other limits", r.flag, in.bytes, limit, most)
	case in.bytes < in.declared.Bytes:
		return usagef("--buffer %s: %d bytes are too few for %s, which needs %d", r.flag, in.bytes, in.declared.Name, (in.declared.Bytes+3)&^3)
	case in.bytes%4 != 0:
		return usagef("--buffer %s: %s has %d bytes, and the size of a binding is a multiple of 4: give it before the colon", r.flag, r.path, in.bytes)
	}
	return nil
}

// readFile reads what a binding starts with, no more than it may hold.
func (b *simBindings) readFile(in *simInput, r *bufferRequest) error {
	most, limit := b.most(in.declared)
	if r.bytes > 0 {
		if err := b.fits(in, r); err != nil {
			return err
		}
		most, limit = r.bytes, "the size given"
	}
	f, err := os.Open(r.path)
	if err != nil {
		return usagef("--buffer %s: %v", r.flag, err)
	}
	defer f.Close()
	in.data, err = io.ReadAll(io.LimitReader(f, int64(most)+1))
	switch {
	case err != nil:
		return usagef("--buffer %s: %v", r.flag, err)
	case uint64(len(in.data)) > most:
		return usagef("--buffer %s: %s is larger than %s, %d bytes", r.flag, r.path, limit, most)
	case len(in.data) == 0 && r.bytes == 0:
		return usagef("--buffer %s: %s is empty", r.flag, r.path)
	}
	in.bytes = cmp.Or(r.bytes, uint64(len(in.data)))
	return nil
}

// share binds the buffer of another binding.
func (b *simBindings) share(all []simInput, at int, of []*bufferRequest) error {
	r, in := of[at], &all[at]
	other, err := b.find("--buffer "+r.flag, r.as)
	if err != nil {
		return err
	}
	if of[other] != nil && of[other].as != "" {
		return usagef("--buffer %s: binding %s has no buffer of its own", r.flag, r.as)
	}
	in.as, in.bytes = other, cmp.Or(r.bytes, all[other].bytes)
	if in.bytes > all[other].bytes {
		return usagef("--buffer %s: binding %s has %d bytes", r.flag, r.as, all[other].bytes)
	}
	return b.fits(in, r)
}
