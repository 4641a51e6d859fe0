package golang

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// ReadVariant is a variant of a package on disk: what a kgenrt.Variant says, and the kernels that it uses with their texts as
// the files have them.
type ReadVariant struct {
	Name, Model, Graph, Profile, Activations, KV string
	Context                                      int
	Requires                                     plan.Requires
	Kernels                                      []plan.Kernel

	Dispatched []bounds.Dispatched // how each of Kernels runs
	Block      bounds.Block        // the params block
}

// Proofs decides anew which of the variant's kernels stay within their arrays, as their texts are now.
func (v *ReadVariant) Proofs() []*bounds.Proof { return bounds.ProveAll(v.Dispatched, v.Block) }

// ReadError says what of a generated package can't be read.
type ReadError struct {
	Pos    token.Position
	Detail string
}

func (e *ReadError) Error() string { return e.Pos.String() + ": " + e.Detail }

// NoPackageError says that a folder holds no generated package.
type NoPackageError struct{ Dir string }

func (e *NoPackageError) Error() string {
	return fmt.Sprintf("%s has no %s: it is no generated package", e.Dir, ManifestName)
}

// ReadPackage is a generated package on disk.
type ReadPackage struct {
	Variants []ReadVariant // in the order in which the package lists them
	Edited   []string      // files that are not as they were made, or gone
}

// Read reads a generated package without compiling it. The manifest says which files are read; what was edited since they were
// made is read as it is now.
func Read(dir string) (*ReadPackage, error) {
	manifest, err := read(dir, ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoPackageError{dir}
	}
	if err != nil {
		return nil, err
	}
	names, err := manifestFiles(manifest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	p := &ReadPackage{}
	r := &reader{dir: dir, set: token.NewFileSet(), kernels: map[string]*ast.CompositeLit{}, texts: map[string]string{}}
	var variants []*ast.File
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if data, err := read(dir, name); err != nil || hash(data) != names[name] {
			p.Edited = append(p.Edited, name)
		}
		if !strings.HasSuffix(name, "_kgen.go") {
			continue
		}
		file, err := parser.ParseFile(r.set, at(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		r.collect(file)
		variants = append(variants, file)
	}
	for _, file := range variants {
		v, err := r.variant(file)
		if err != nil {
			return nil, err
		}
		if v != nil {
			p.Variants = append(p.Variants, *v)
		}
	}
	order := manifestVariants(manifest)
	slices.SortStableFunc(p.Variants, func(a, b ReadVariant) int {
		return cmp.Compare(slices.Index(order, a.Name), slices.Index(order, b.Name))
	})
	return p, nil
}

// Packages lists the folders of generated packages, root among them, in order.
func Packages(root string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() == ManifestName {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	})
	return dirs, err
}

// reader is the state of Read.
type reader struct {
	dir     string
	set     *token.FileSet
	kernels map[string]*ast.CompositeLit // what the functions return that return a kernel, by their names
	texts   map[string]string            // names of the files behind embedded variables
}

func (r *reader) errorf(at ast.Node, format string, args ...any) error {
	return &ReadError{r.set.Position(at.Pos()), fmt.Sprintf(format, args...)}
}

// collect notes a file's embedded variables, and functions that return a kernel.
func (r *reader) collect(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if name, ok := embedded(d); ok {
				for _, spec := range d.Specs {
					r.texts[spec.(*ast.ValueSpec).Names[0].Name] = name
				}
			}
		case *ast.FuncDecl:
			if lit := returned(d, "Kernel"); lit != nil {
				r.kernels[d.Name.Name] = lit
			}
		}
	}
}

// embedded returns the file that a declaration of a variable embeds.
func embedded(d *ast.GenDecl) (name string, ok bool) {
	if d.Tok != token.VAR || d.Doc == nil {
		return "", false
	}
	for _, c := range d.Doc.List {
		if name, ok = strings.CutPrefix(c.Text, "//go:embed "); ok && isGenerated(name) {
			return name, true
		}
	}
	return "", false
}

// returned is the literal that a function of one statement returns, when its type has the given name.
func returned(d *ast.FuncDecl, name string) *ast.CompositeLit {
	if d.Body == nil || len(d.Body.List) != 1 {
		return nil
	}
	statement, ok := d.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(statement.Results) != 1 {
		return nil
	}
	lit, ok := statement.Results[0].(*ast.CompositeLit)
	if !ok {
		return nil
	}
	if selector, ok := lit.Type.(*ast.SelectorExpr); !ok || selector.Sel.Name != name {
		return nil
	}
	return lit
}

// variant reads the variant of a file, nil when the file has none.
func (r *reader) variant(file *ast.File) (*ReadVariant, error) {
	var v *ReadVariant
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if lit := returned(f, "Variant"); lit != nil {
			v = &ReadVariant{}
			if err := r.fill(reflect.ValueOf(v).Elem(), lit); err != nil {
				return nil, err
			}
		}
	}
	if v == nil {
		return nil, nil
	}
	functions, err := r.kernelsOf(v, file)
	if err == nil {
		err = r.dispatches(v, functions, file)
	}
	return v, err
}

// kernelsOf fills in the kernels that a variant uses, and returns the functions that return them.
func (r *reader) kernelsOf(v *ReadVariant, file *ast.File) (functions []string, err error) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || err != nil {
			return err == nil
		}
		if name, ok := call.Fun.(*ast.Ident); ok && r.kernels[name.Name] != nil && !slices.Contains(functions, name.Name) {
			var k plan.Kernel
			err = r.fill(reflect.ValueOf(&k).Elem(), r.kernels[name.Name])
			v.Kernels, functions = append(v.Kernels, k), append(functions, name.Name)
		}
		return err == nil
	})
	return functions, err
}

// constants are the values of the names that generated literals use.
var constants = map[string]string{
	"Uniform": strconv.Itoa(int(plan.Uniform)), "Read": strconv.Itoa(int(plan.Read)), "ReadWrite": strconv.Itoa(int(plan.ReadWrite)),
	"Exact": "exact", "Fast": "fast", "true": "true", "false": "false",
}

// fill sets a Go value to what an expression of generated code says. Fields that the value has not are left out.
func (r *reader) fill(to reflect.Value, from ast.Expr) error {
	switch e := from.(type) {
	case *ast.CompositeLit:
		return r.fillAll(to, e)
	case *ast.BasicLit:
		text := e.Value
		if e.Kind == token.STRING {
			var err error
			if text, err = strconv.Unquote(text); err != nil {
				return r.errorf(e, "%s is no string", e.Value)
			}
		}
		return r.setText(to, e, text)
	case *ast.SelectorExpr:
		return r.named(to, e.Sel)
	case *ast.Ident:
		return r.named(to, e)
	}
	return r.errorf(from, "an expression that kgen does not write")
}

func (r *reader) named(to reflect.Value, name *ast.Ident) error {
	if file, ok := r.texts[name.Name]; ok {
		text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		return r.setText(to, name, string(text))
	}
	text, ok := constants[name.Name]
	if !ok {
		return r.errorf(name, "%s is a name that kgen does not write here", name.Name)
	}
	return r.setText(to, name, text)
}

// setText sets a value that is no composite.
func (r *reader) setText(to reflect.Value, at ast.Node, text string) error {
	switch to.Kind() {
	case reflect.String:
		to.SetString(text)
		return nil
	case reflect.Bool:
		to.SetBool(text == "true")
		return nil
	case reflect.Int:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			to.SetInt(n)
			return nil
		}
	case reflect.Uint8, reflect.Uint64:
		if n, err := strconv.ParseUint(text, 10, to.Type().Bits()); err == nil {
			to.SetUint(n)
			return nil
		}
	}
	return r.errorf(at, "%.40q is no %v", text, to.Type())
}

func (r *reader) fillAll(to reflect.Value, e *ast.CompositeLit) error {
	switch to.Kind() {
	case reflect.Struct:
		for _, element := range e.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				return r.errorf(element, "a field without its name")
			}
			name, _ := pair.Key.(*ast.Ident)
			if name == nil || !to.FieldByName(name.Name).IsValid() {
				continue
			}
			if err := r.fill(to.FieldByName(name.Name), pair.Value); err != nil {
				return err
			}
		}
		return nil
	case reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), len(e.Elts), len(e.Elts)))
	case reflect.Array:
		if len(e.Elts) > to.Len() {
			return r.errorf(e, "%d elements, where there are %d", len(e.Elts), to.Len())
		}
	default:
		return r.errorf(e, "a list, where there is a %v", to.Type())
	}
	for i, element := range e.Elts {
		if err := r.fill(to.Index(i), element); err != nil {
			return err
		}
	}
	return nil
}
