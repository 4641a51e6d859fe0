package golang

import (
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// kernelsFile has a function for each kernel, with its text beside the package in a file of its own.
func (g *generator) kernelsFile() *jen.File {
	f := g.newFile()
	f.Anon("embed")
	for _, k := range g.kernels.list {
		for _, line := range headerLines(k.Text) {
			f.Comment(line)
		}
		f.Comment("Used by " + strings.Join(g.kernels.users[k.Name], ", ") + ".")
		f.Comment("")
		f.Comment("//go:embed " + kernelFile(k.Name))
		text := strings.Replace(g.kernels.ident[k.Name], "Kernel", "Text", 1)
		f.Var().Id(text).String()
		f.Line()
		f.Func().Id(g.kernels.ident[k.Name]).Params().Qual(planPath, "Kernel").Block(jen.Return(kernelValue(k, text)))
		f.Line()
	}
	return f
}

// headerLines are the comments that a kernel's text starts with, behind its directives: what it computes, and its schedule.
func headerLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "enable ") {
			continue
		}
		comment, ok := strings.CutPrefix(line, "// ")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(comment))
	}
	return lines
}

func kernelValue(k plan.Kernel, text string) jen.Code {
	fields := []jen.Code{
		jen.Id("Name").Op(":").Lit(k.Name),
		jen.Id("Text").Op(":").Id(text),
		jen.Id("Bindings").Op(":").Index().Qual(planPath, "Binding").Add(lines("{", "}", bindingValues(k.Bindings))),
		jen.Id("Workgroup").Op(":").Index(jen.Lit(3)).Int().Values(jen.Lit(k.Workgroup[0]), jen.Lit(k.Workgroup[1]), jen.Lit(k.Workgroup[2])),
	}
	if k.WorkgroupBytes != 0 {
		fields = append(fields, jen.Id("WorkgroupBytes").Op(":").Lit(k.WorkgroupBytes))
	}
	if k.Proved {
		fields = append(fields, jen.Id("Proved").Op(":").True())
	}
	return jen.Qual(planPath, "Kernel").Add(lines("{", "}", fields))
}

func bindingValues(bindings []plan.Binding) []jen.Code {
	var values []jen.Code
	for _, b := range bindings {
		access := map[plan.Access]string{plan.Uniform: "Uniform", plan.Read: "Read", plan.ReadWrite: "ReadWrite"}[b.Access]
		values = append(values, jen.Values(
			jen.Id("Name").Op(":").Lit(b.Name), jen.Id("Access").Op(":").Qual(planPath, access), jen.Id("Bytes").Op(":").Lit(int(b.Bytes)),
		))
	}
	return values
}

// lines puts each part on a line of its own, with a comma behind it.
func lines(open, end string, parts []jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: open, Close: end, Separator: ",", Multi: true}, parts...)
}
