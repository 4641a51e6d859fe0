package kernels

// Stackable reports whether the weights can follow each other in one stack: none but the last may end within a word.
func (g GEMV) Stackable() bool {
	f, _, err := lookup(g.Format, g.Columns)
	return err == nil && g.checkStack(f) == nil
}
