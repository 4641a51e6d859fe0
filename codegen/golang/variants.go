package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// variantsFile has the table of variants, the function that loads one, and guards that fail to compile with a runtime for which
// the package was not made.
func (g *generator) variantsFile() *jen.File {
	f := g.newFile()
	var calls []jen.Code
	for _, v := range g.Variants {
		calls = append(calls, jen.Id(identifier(v.Name())).Call())
	}
	f.Comment("Variants lists the variants that Load chooses from.")
	f.Func().Id("Variants").Params().Index().Qual(runtimePath, "Variant").Block(
		jen.Return(jen.Index().Qual(runtimePath, "Variant").Add(lines("{", "}", calls))))
	f.Line()
	f.Comment("Load chooses the variant that serves the options best on the backend's device, as kgenrt.Choose does, and loads the")
	f.Comment("weights into it. The backend stays the caller's.")
	f.Func().Id("Load").Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("b").Qual(planPath, "Backend"), jen.Id("weights").Qual(runtimePath, "WeightSource"),
		jen.Id("opts").Qual(runtimePath, "LoadOptions"),
	).Params(jen.Op("*").Qual(runtimePath, "Engine"), jen.Error()).Block(
		jen.Return(jen.Qual(runtimePath, "LoadVariant").Call(jen.Id("ctx"), jen.Id("Variants").Call(), jen.Id("b"), jen.Id("weights"), jen.Id("opts"))))
	f.Line()
	f.Comment("The plans are of this format; a runtime that reads another one lacks the constant.")
	f.Const().Id("_").Op("=").Qual(planPath, "Format1")
	f.Line()
	f.Func().Id("_").Params().BlockFunc(guards)
	return f
}

// guards index an array of one by differences that must be zero: the layout of the params block, which kernels have as
// literals.
func guards(group *jen.Group) {
	group.Comment("An index out of range here means that the runtime lays out the params block in another way than the kernels read it:")
	group.Comment("generate the package again.")
	group.Var().Id("x").Index(jen.Lit(1)).Struct()
	for _, c := range []struct {
		name  string
		value int
	}{
		{"ParamsRecordWords", plan.ParamsRecordWords}, {"ParamsToken", plan.ParamsToken}, {"ParamsPos", plan.ParamsPos},
		{"ParamsLen", plan.ParamsLen}, {"ParamsPages", plan.ParamsPages}, {"ParamsOut", plan.ParamsOut}, {"ParamsOutLen", plan.ParamsOutLen},
	} {
		group.Id("_").Op("=").Id("x").Index(jen.Qual(planPath, c.name).Op("-").Lit(c.value))
	}
}

// docFile is the package comment.
func (g *generator) docFile() *jen.File {
	f := g.newFile()
	say := func(format string, args ...any) { f.PackageComment(fmt.Sprintf("// "+format, args...)) }
	say("Package %s runs %s: WGSL kernels made for this model alone, and the plans that dispatch them.", g.Name, g.Model)
	for _, line := range g.About {
		say("%s", line)
	}
	say("")
	say("It has these variants, of which [Load] chooses one that the device can run:")
	say("")
	for _, v := range g.Variants {
		say("\t%s", v.Name())
	}
	say("")
	say("Made again by:")
	say("")
	say("\t%s", g.Command)
	say("")
	say("To run it with a tokenizer and conversations, give its variants to package kgen:")
	say("")
	say("\tmodel, err := kgen.Load(ctx, path, kgen.Options{Variants: %s.Variants()})", g.Name)
	say("")
	say("With the runtime alone, open a backend with what the chosen variant requires, and load the weights:")
	say("")
	say("\tchoice, err := kgenrt.Choose(%s.Variants(), device, kgenrt.Wish{})", g.Name)
	say("\t...")
	say("\tbackend, err := adapter.Open(ctx, choice.Variant.Requires)")
	say("\t...")
	say("\tengine, err := %s.Load(ctx, backend, weights, kgenrt.LoadOptions{})", g.Name)
	return f
}
