package eval

import "fmt"

// PositionError says that tokens would leave a gap behind what was fed so far.
type PositionError struct{ Start, Fed int }

// Error gives the position and where the sequence ends.
func (e *PositionError) Error() string {
	return fmt.Sprintf("position %d: the sequence has %d tokens; the next position is %d or an earlier one", e.Start, e.Fed, e.Fed)
}

// ContextError says that a sequence would be longer than the context.
type ContextError struct{ Need, Context int }

// Error gives both lengths.
func (e *ContextError) Error() string {
	return fmt.Sprintf("the sequence would have %d tokens; the context holds %d", e.Need, e.Context)
}

// TokenError says that an id is not in the vocabulary.
type TokenError struct {
	Token uint32
	Vocab int
}

// Error gives the id and the size of the vocabulary.
func (e *TokenError) Error() string {
	return fmt.Sprintf("token %d: the vocabulary has %d", e.Token, e.Vocab)
}

// GraphError says that a graph, though valid, does not have the form that a function works on, or got other inputs than
// it declares.
type GraphError struct{ Graph, Msg string }

// Error names the graph.
func (e *GraphError) Error() string { return "graph " + e.Graph + ": " + e.Msg }
