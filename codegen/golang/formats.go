package golang

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// formatSet holds the recipes of all variants, each once, in the order of first use.
type formatSet struct {
	list   []plan.Recipe
	names  []string
	planes map[planeKey]string // constants for the numbers of planes
}

type planeKey struct {
	format string // recipe's name
	plane  int
}

func newFormatSet(variants []Variant) *formatSet {
	s := &formatSet{planes: map[planeKey]string{}}
	names := newScope()
	for _, v := range variants {
		for _, stack := range v.Program.Stacks {
			if s.index(stack.Format) < 0 {
				s.list = append(s.list, stack.Format)
				base := fmt.Sprintf("%sBlocks%d", identifier(strings.ToLower(stack.Format.Type)), stack.Format.RowBlocks)
				s.names = append(s.names, names.claim(base))
			}
		}
	}
	s.namePlanes()
	return s
}

func (s *formatSet) index(r plan.Recipe) int {
	return slices.IndexFunc(s.list, func(o plan.Recipe) bool { return reflect.DeepEqual(o, r) })
}

// name returns the function that returns a recipe.
func (s *formatSet) name(r plan.Recipe) string { return s.names[s.index(r)] }

// namePlanes calls the number of a plane after the plane, or after format and plane where formats disagree about it.
func (s *formatSet) namePlanes() {
	numbers := map[string]int{}
	disputed := map[string]bool{}
	for _, r := range s.list {
		for i, p := range r.Planes {
			if n, ok := numbers[p.Name]; ok && n != i {
				disputed[p.Name] = true
			}
			numbers[p.Name] = i
		}
	}
	for at, r := range s.list {
		for i, p := range r.Planes {
			name := identifier(p.Name)
			if disputed[p.Name] {
				name = s.names[at] + "_" + name
			}
			s.planes[planeKey{s.names[at], i}] = name
		}
	}
}

// plane returns the constant for the number of a recipe's plane.
func (s *formatSet) plane(r plan.Recipe, plane int) string {
	return s.planes[planeKey{s.name(r), plane}]
}

// formatsFile has the layouts of weights and the numbers of their planes.
func (g *generator) formatsFile() *jen.File {
	f := g.newFile()
	f.Comment("Numbers of planes in the layouts below.")
	f.Const().DefsFunc(func(group *jen.Group) {
		seen := newScope()
		for at, r := range g.formats.list {
			for i := range r.Planes {
				name := g.formats.planes[planeKey{g.formats.names[at], i}]
				if !seen[name] {
					seen.claim(name)
					group.Id(name).Op("=").Lit(i)
				}
			}
		}
	})
	for i, r := range g.formats.list {
		name := g.formats.names[i]
		f.Line()
		f.Comment(fmt.Sprintf("%s is the layout of rows of %d %s blocks of %d bytes.", name, r.RowBlocks, r.Type, r.BlockBytes))
		f.Func().Id(name).Params().Qual(planPath, "Recipe").Block(jen.Return(recipeValue(r)))
	}
	return f
}

func recipeValue(r plan.Recipe) jen.Code {
	var planes []jen.Code
	for _, p := range r.Planes {
		var fields []jen.Code
		for _, field := range p.Fields {
			fields = append(fields, jen.Values(pair("From", field.From), pair("At", field.At), pair("Bits", field.Bits)))
		}
		planes = append(planes, jen.Values(
			jen.Id("Name").Op(":").Lit(p.Name), pair("BlockBits", p.BlockBits), pair("RowStride", p.RowStride),
			jen.Id("Fields").Op(":").Index().Qual(planPath, "Field").Values(fields...),
		))
	}
	return jen.Qual(planPath, "Recipe").Add(lines("{", "}", []jen.Code{
		jen.Id("Type").Op(":").Lit(r.Type), pair("RowBlocks", r.RowBlocks), pair("BlockBytes", r.BlockBytes),
		jen.Id("Planes").Op(":").Index().Qual(planPath, "Plane").Add(lines("{", "}", planes)),
	}))
}

// pair is a field of a struct with a number.
func pair[T int | uint64](field string, value T) jen.Code {
	return jen.Id(field).Op(":").Lit(int(value))
}
