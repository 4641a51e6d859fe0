package suite

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Sentinel is every byte of what no input covers: as f32 it is 3.39e38, so that a read too far shows.
const Sentinel = 0x7f

// large is the size from which a buffer gets the parts alone that inputs, results and guards cover. The rest is never written, and a
// read of it is found by the simulator.
const large = 4 << 20

// image is the known contents of a buffer, in parts that do not overlap.
type image struct {
	size  uint64
	parts []Part
}

// images lays out all buffers of a kernel.
func (k *Kernel) images(inputs map[string][]Part) (map[int]image, error) {
	buffers := map[int][]bind.Operand{}
	for _, o := range k.Operands {
		buffers[o.Place.Buffer] = append(buffers[o.Place.Buffer], o)
	}
	out := map[int]image{}
	for number, operands := range buffers {
		slices.SortFunc(operands, func(a, b bind.Operand) int { return cmp.Compare(a.Place.Offset, b.Place.Offset) })
		last := operands[len(operands)-1].Place
		im := image{size: (last.Offset+last.Bytes+3)/4*4 + Border}
		if im.size <= large {
			im.parts = []Part{sentinels(0, im.size)}
		} else {
			im.guards(operands, inputs)
		}
		for _, o := range operands {
			for _, p := range inputs[o.Name] {
				if p.Offset+uint64(len(p.Data)) > o.Place.Bytes {
					return nil, fmt.Errorf("%d bytes at %d of %s, which has %d", len(p.Data), p.Offset, o.Name, o.Place.Bytes)
				}
				im.put(Part{o.Place.Offset + p.Offset, p.Data})
			}
		}
		slices.SortFunc(im.parts, func(a, b Part) int { return cmp.Compare(a.Offset, b.Offset) })
		out[number] = im
	}
	for name := range inputs {
		if k.bytes(name) == 0 {
			return nil, fmt.Errorf("there is no operand %s", name)
		}
	}
	return out, nil
}

func sentinels(from, to uint64) Part {
	return Part{from, bytes.Repeat([]byte{Sentinel}, int(to-from))}
}

// guards covers what is written and no input says which parts of it matter, and up to Border bytes beside every operand.
func (im *image) guards(operands []bind.Operand, inputs map[string][]Part) {
	end := uint64(0)
	for i, o := range operands {
		from, to := o.Place.Offset, o.Place.Offset+o.Place.Bytes
		im.parts = append(im.parts, sentinels(max(end, from-min(from, Border)), from))
		if o.Access == plan.ReadWrite && len(inputs[o.Name]) == 0 {
			im.parts = append(im.parts, sentinels(from, to))
		}
		end = min(to+Border, im.size)
		if i < len(operands)-1 {
			end = min(end, operands[i+1].Place.Offset)
		}
		im.parts = append(im.parts, sentinels(to, end))
	}
	im.parts = slices.DeleteFunc(im.parts, func(p Part) bool { return len(p.Data) == 0 })
}

// put adds a part, within one that is there where there is one.
func (im *image) put(p Part) {
	for _, have := range im.parts {
		if p.Offset >= have.Offset && p.Offset+uint64(len(p.Data)) <= have.Offset+uint64(len(have.Data)) {
			copy(have.Data[p.Offset-have.Offset:], p.Data)
			return
		}
	}
	im.parts = append(im.parts, p)
}

// within returns what is known of a range, in order.
func (im *image) within(r plan.Range) [][]byte {
	var all [][]byte
	for _, p := range im.parts {
		from, to := max(p.Offset, r.Offset), min(p.Offset+uint64(len(p.Data)), r.Offset+r.Bytes)
		if from < to {
			all = append(all, p.Data[from-p.Offset:to-p.Offset])
		}
	}
	return all
}

// results takes what a kernel wrote out of the contents after. Everything else has to be what it was before.
func (k *Kernel) results(before, after map[int]image) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, o := range k.Operands {
		if o.Access != plan.ReadWrite {
			continue
		}
		b, a := before[o.Place.Buffer], after[o.Place.Buffer]
		was := b.within(o.Place)
		for i, place := range a.within(o.Place) {
			out[o.Name] = append(out[o.Name], place...)
			copy(place, was[i]) // so that what differs is not its own
		}
	}
	for number := range after {
		a, b := after[number], before[number]
		for i := range a.parts {
			if at := difference(a.parts[i].Data, b.parts[i].Data); at >= 0 {
				return nil, fmt.Errorf("it writes outside of its operands, at byte %d of buffer %d", a.parts[i].Offset+uint64(at), number)
			}
		}
	}
	return out, nil
}

// difference is where two slices of one length differ first, -1 for nowhere.
func difference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
