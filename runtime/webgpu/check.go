package webgpu

// Check is what came of one canary: a small kernel with a known answer that runs before a plan does.
type Check struct {
	Name string // copy, reverse, language, ...
	OK   bool
	// Detail says what was measured, such as a size of subgroups or a cap of loops, or what the wrong answer was.
	Detail string
	// Effect says what follows when OK is false: that the adapter is refused, or what it is not used for. Else it is empty.
	Effect string
	Nanos  int64 // from the kernel's text to its answer
}
