// Package bind lowers the operands of a kernel to bindings, so that they fit a device's limits by construction.
//
// Vocabulary:
//
//	operand   what a kernel reads or writes, by the name its text uses
//	place     the range of a buffer where an operand lives
//	binding   one entry of the kernel's bind group: one or more operands, its members, in one range
//	packing   putting all small read-only index arrays of a kernel in one u32 array
//	clash     a buffer that one dispatch would bind both read and read_write, which WebGPU forbids
//
// Plan tries, in this order: packing, always, when there are two or more metadata operands; binding operands that lie side
// by side as one; moving small vectors to uniforms, only when there are too many storage bindings. Writing in place is the
// caller's choice: one read_write operand. What still doesn't fit is refused with the reason. Bindings is the result; its
// String is the account of what was done and why, and Declare puts it into a WGSL module.
package bind
