package plan

// Use is what a dispatch does with one tensor: it reads Range, or with ReadWrite writes it and reads what it wrote. Backends that judge
// kernels hold each access to the uses of its dispatch; others need none.
type Use struct {
	Tensor string
	Range  Range // in the plan's buffers; of any alignment
	Access Access
}
