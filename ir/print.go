package ir

import (
	"strconv"
	"strings"
)

// Print returns the graph in the text form that Parse reads. Equal graphs print equally, and what Parse returns for the
// text prints the same again.
func Print(g *Graph) string {
	var p printer
	p.line("graph ", strconv.Quote(g.Name))
	for _, t := range g.Inputs {
		p.line("input ", t.Name, ": ", t.Type().String())
	}
	for _, t := range g.Weights {
		p.line("weight ", t.Name, ": ", t.Type().String())
	}
	for _, n := range g.Nodes {
		p.node(n)
	}
	if len(g.Outputs) > 0 {
		p.line("output ", p.join(g.Outputs, reference))
	}
	return p.String()
}

type printer struct{ strings.Builder }

func (p *printer) line(parts ...string) {
	for _, part := range parts {
		p.WriteString(part)
	}
	p.WriteByte('\n')
}

func (p *printer) node(n *Node) {
	p.line(p.join(n.Out, reference), " = ", n.Op.String(), p.operands(n), p.attrs(n), " : ",
		p.join(n.Out, func(t *Tensor) string { return t.Type().String() }))
}

func (p *printer) operands(n *Node) string {
	if len(n.In) == 0 {
		return ""
	}
	return " " + p.join(n.In, reference)
}

// attrs prints required attributes, and optional ones that are set.
func (p *printer) attrs(n *Node) string {
	spec, _ := n.Op.Spec()
	var parts []string
	for _, d := range attrTable {
		if optional, ok := spec.reads(d.name); ok && !(optional && d.isZero(&n.Attrs)) {
			parts = append(parts, d.name+"="+d.print(&n.Attrs))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " {" + strings.Join(parts, ", ") + "}"
}

func (p *printer) join(tensors []*Tensor, text func(*Tensor) string) string {
	parts := make([]string, len(tensors))
	for i, t := range tensors {
		parts[i] = text(t)
	}
	return strings.Join(parts, ", ")
}

// reference prints a tensor where it is made or read: values of nodes have a % before the name.
func reference(t *Tensor) string {
	if t.Kind == Value {
		return "%" + t.Name
	}
	return t.Name
}
