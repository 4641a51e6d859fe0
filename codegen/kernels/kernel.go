package kernels

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Kernel is a kernel before its operands have places.
type Kernel struct {
	Name      string   // op, format and shape: gemv_q4_1_576x576
	Header    []string // comment lines: what it computes, how it is cut
	Operands  []bind.Operand
	Workgroup int    // invocations, all along x
	Grid      [3]int // workgroups
	LoopTrips int    // the most of one invocation, counted as plan.Device counts
	Body      func(m *wgsl.Module)

	// What it was built from. Nothing of these gets into the text otherwise than by Body.
	Problem  any          // the family's struct: GEMV, Add
	Schedule fmt.Stringer // the family's schedule
}

// Operand names that several families share.
const (
	Params     = "params" // u32 words, see plan.Params
	X          = "x"
	Y          = "y"
	KeyCache   = "key_cache" // the keys of a layer, see plan.KV
	ValueCache = "value_cache"
)

// Emit writes the kernel for operands bound as b says. The name gets the first 8 hex digits of the SHA-256 of the text, so
// kernels with equal text have equal names. An error is a mistake in the family or in b; it names the kernel.
func Emit(k Kernel, b *bind.Bindings) (plan.Kernel, error) {
	m := wgsl.New()
	for _, line := range k.Header {
		m.Comment("%s", line)
	}
	bind.Declare(m, b)
	k.Body(m)
	text, err := m.Text()
	if err != nil {
		return plan.Kernel{}, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	hash := sha256.Sum256([]byte(text))
	return plan.Kernel{
		Name: k.Name + "_" + hex.EncodeToString(hash[:4]), Text: text, Bindings: b.Declared(),
		Workgroup: [3]int{k.Workgroup, 1, 1}, WorkgroupBytes: m.WorkgroupBytes(),
	}, nil
}

// paramsOperand is the params block, bound whole and read-only.
func paramsOperand(p plan.Params) bind.Operand {
	return bind.Operand{Name: Params, Elem: "u32", Count: p.Words(), Access: plan.Read}
}

// builtins are the parameters of every entry point.
const builtins = "@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32"

// grid is the workgroups of a kernel that needs n of them in a row. Where one dimension has no room for n, they are folded
// into two of nearly the same length, at the cost of fewer than y workgroups that find no work.
type grid struct{ n, x, y int }

func newGrid(n, most int) grid {
	y := (n + most - 1) / most
	return grid{n, (n + y - 1) / y, y}
}

func (g grid) size() [3]int { return [3]int{g.x, g.y, 1} }

// index is the text for the number of this workgroup.
func (g grid) index() string {
	if g.y == 1 {
		return "group.x"
	}
	return fmt.Sprintf("(group.y * %du + group.x)", g.x)
}

// spare reports whether some workgroups have nothing to do.
func (g grid) spare() bool { return g.x*g.y != g.n }

// lanes is the type of n values of f32 side by side.
func lanes(n int) string {
	if n == 1 {
		return "f32"
	}
	return fmt.Sprintf("vec%d<f32>", n)
}

// splat is the text for n copies of a value side by side.
func splat(value string, n int) string {
	if n == 1 {
		return value
	}
	return lanes(n) + "(" + value + ")"
}

// zero is the text for n zeros side by side. Kernels always write the initial value of a variable: naga 29 forgets to zero
// one that is declared without within a loop, from the second round on.
func zero(n int) string {
	if n == 1 {
		return "0.0"
	}
	return lanes(n) + "()"
}

// widest is the number of values in one element of an f32 array of n: 4 when they divide it.
func widest(n int) int {
	if n%4 == 0 {
		return 4
	}
	return 1
}

// total is the text for the sum of the lanes of a value.
func total(name string, width int) string {
	switch width {
	case 4:
		return fmt.Sprintf("(%[1]s.x + %[1]s.y) + (%[1]s.z + %[1]s.w)", name)
	case 2:
		return fmt.Sprintf("%[1]s.x + %[1]s.y", name)
	}
	return name
}

// name joins the parts of a kernel's name.
func name(parts ...any) string {
	s := ""
	for i, p := range parts {
		if i > 0 {
			s += "_"
		}
		s += fmt.Sprint(p)
	}
	return s
}

// float is the text of a positive constant: the shortest decimal that reads back as the same f32.
func float(x float64) string {
	return fmt.Sprintf("%v", float32(x)) + "f"
}
