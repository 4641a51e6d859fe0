// Package testgraph holds graphs that a user could have written and that compilers get wrong: values read after something
// was done in place, aliases, weights that several products read, odd shapes. Only tests import it.
//
// A [Case] is a one-layer decoder with some of its lines changed; [Shape] is a decoder of any sizes; [Random] draws a graph
// from a seed. [Random] and [Shape.Text] give graphs that every stage must compute; a Case may name the refusal that it
// expects instead. [Weights] are random bytes in the formats that a graph asks for:
//
//	g, err := ir.Parse(c.Name, c.Text())
//	machine, err := eval.New(g, testgraph.NewWeights(g, 7), context)
package testgraph
