package wgsl

import "errors"

// ParseLenient reads a file as Parse does, but takes one whose barriers and subgroup operations are not sure to be reached by all
// invocations together, and returns these mistakes apart: what runs such a file can then show which invocations diverge. The error is
// an *Error, or several of them joined when pointers and memory are accessed against the rules; the file is nil then.
func ParseLenient(name, text string) (f *File, divergent []*Error, err error) {
	base := Pos{File: name, Line: 1, Column: 1, InFile: true}
	if at := invalidUTF8(text); at >= 0 {
		base.Line, base.Column = lineColumn(lineStarts(text), at)
		return nil, nil, errorAt(base, "", "the text is not UTF-8")
	}
	p := &fileParser{parser: newParser(text, base), file: &File{}, scope: newScope(nil), named: map[string]*topDecl{}, sizes: map[*Symbol]Expr{}}
	p.scope.lazy = p.global
	p.checker = &checker{file: p.file, plain: true}
	p.types, p.length = p.namedType, p.arrayLength
	p.directives()
	p.noF16 = !p.file.F16
	p.scan()
	for _, d := range p.decls {
		p.resolve(d)
	}
	if p.err != nil {
		return nil, nil, p.err
	}
	p.assemble()
	settleLiterals(p.file)
	if errs := checkAccess(p.file); len(errs) > 0 {
		return nil, nil, joinErrors(errs)
	}
	return p.file, CheckUniformity(p.file), nil
}

func joinErrors(list []*Error) error {
	var errs []error
	for _, e := range list {
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}
