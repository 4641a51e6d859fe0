package wgsl

import "strconv"

// Pos is where a piece of text was written: the Go line that handed it to the builder, and the column in the piece,
// counted in bytes from 1; or line and column of a WGSL file, both from 1, columns in bytes.
type Pos struct {
	File   string
	Line   int
	Column int
	InFile bool // of a WGSL file: Column counts from the start of Line
}

func (p Pos) String() string {
	if p.InFile {
		return p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// Info is what every expression carries. Type is the one after conversion: a literal 2 in x * 2 with x of type f32 has type
// f32. Value is set when the expression is a constant scalar; an expression whose operands are abstract always is, so
// whoever evaluates an expression takes Value first and never meets an abstract type.
type Info struct {
	Pos   Pos
	Type  Type
	Value Value
	Const bool // a constant expression in the sense of WGSL, scalar or not
}

// Expression returns the expression's Info; embedding Info makes an Expr.
func (i *Info) Expression() *Info { return i }

// Expr is one of Ident, Literal, Unary, Binary, Index, Member, Call, Construct and Bitcast.
type Expr interface{ Expression() *Info }

// Ident is the name of a value or variable.
type Ident struct {
	Info
	Name   string
	Symbol *Symbol // nil until checked
}

// Literal is a number, true or false. Text is kept for integers, whose base says something to the reader.
type Literal struct {
	Info
	Text   string // digits without the suffix
	Suffix string // u, i, f, h or empty
}

// Unary is -x, !x, ~x, &x or *x.
type Unary struct {
	Info
	Op string
	X  Expr
}

// Binary is x op y.
type Binary struct {
	Info
	Op   string
	X, Y Expr
}

// Index is x[i]; X may be a pointer to what is indexed.
type Index struct {
	Info
	X, I Expr
}

// Member is x.name: a swizzle, or a member of a struct. X may be a pointer.
type Member struct {
	Info
	X    Expr
	Name string
}

// Call calls a function of the module or a built-in one.
type Call struct {
	Info
	Name string
	Args []Expr
	Func *Func // nil for a built-in function
}

// Construct makes a value of a type, as f32(x), vec4<u32>(a, b, c, d) or vec2(x, y), or array<f32, 2>(x, y). Written is
// the type as the text has it, To as it was checked.
type Construct struct {
	Info
	Written string
	To      Type // nil until checked when Written leaves the component type to the arguments
	Args    []Expr
}

// Bitcast is bitcast<To>(x).
type Bitcast struct {
	Info
	To Type
	X  Expr
}

// SymbolKind says what a name stands for.
type SymbolKind uint8

// The kinds of symbols.
const (
	ConstSymbol SymbolKind = iota + 1
	LetSymbol
	VarSymbol
	ParamSymbol
	FuncSymbol
	OverrideSymbol
	TypeSymbol  // a struct or alias
	AliasSymbol // an operand that lives in a binding; resolved by the checker and never in a checked AST
)

func (k SymbolKind) String() string {
	return [...]string{"?", "const", "let", "var", "parameter", "function", "override", "type", "operand"}[k]
}

// Symbol is a declared name. Identifiers of one declaration share one Symbol.
type Symbol struct {
	Name     string
	Kind     SymbolKind
	Type     Type // for a variable, that of what it stores
	Space    Space
	Writable bool    // for variables
	Value    Value   // of a constant, if it is a scalar
	Builtin  string  // of an entry point's parameter: workgroup_id and so on
	Points   *Symbol // of a let that is a pointer: the variable that it points into, or the parameter that pointed there
	Pos      Pos
	Func     *Func   // of a function
	alias    *alias  // of an operand
	parts    []Value // of a constant vector or array of scalars; those that aren't known are no values
}

// Parts returns the values of a const of a parsed file that is a vector or array of scalars, abstract ones before they take a type.
// One that isn't known has no value; of an array of more than 4096 elements there are none.
func (s *Symbol) Parts() []Value { return s.parts }

// Stmt is one of Declare, Assign, Ignore, If, Switch, For, While, Loop, Return, Break, Continue, CallStmt, Assert, Block and Comment.
type Stmt interface{ Position() Pos }

// At is the position that statements and declarations carry.
type At struct{ Pos Pos }

// Position returns where the statement was written.
func (a At) Position() Pos { return a.Pos }

// Declare is a let, var or const, in a function or (const) at module scope. A const that is a vector or array may be of an abstract
// type in a parsed file: each Ident of it then has the type that its use asks for, to which the parts of Init convert.
type Declare struct {
	At
	Symbol *Symbol
	Typed  bool   // the type is written out
	Init   Expr   // nil for a variable that starts as zero
	Why    string // trailing comment
}

// Assign is to = value, or a compound assignment such as += when Op isn't empty. x++ is parsed as x += 1.
type Assign struct {
	At
	Op    string // +, -, *, /, %, &, |, ^, <<, >> or empty
	To    Expr
	Value Expr
}

// Ignore is _ = value: the value is computed, for what that does.
type Ignore struct {
	At
	Value Expr
}

// If runs Then or Else. An Else that holds nothing but an If prints as else if.
type If struct {
	At
	Cond Expr
	Then *Block
	Else *Block // may be nil
}

// Switch runs the body of the case that has Value, or of the default. Nothing falls through.
type Switch struct {
	At
	Value Expr
	Cases []*Case
}

// Case is one case of a switch. Default says that it stands for all other values, too.
type Case struct {
	At
	Values  []Expr // constants
	Default bool
	Body    *Block
}

// For is for (init; cond; post) body. Init, Cond and Post may be nil.
type For struct {
	At
	Init Stmt
	Cond Expr
	Post Stmt
	Body *Block
}

// While is while cond body.
type While struct {
	At
	Cond Expr
	Body *Block
}

// Loop runs body and then Continuing, over and over. Continue goes to Continuing, which ends the loop where BreakIf holds. The
// scope of Body is around that of Continuing.
type Loop struct {
	At
	Body       *Block
	Continuing *Block // may be nil
	BreakIf    Expr   // may be nil; its scope is that of Continuing
}

// Return leaves a function; Value is nil where it returns nothing.
type Return struct {
	At
	Value Expr
}

// Break leaves the innermost loop or switch.
type Break struct{ At }

// Continue goes on with the next round of the innermost loop.
type Continue struct{ At }

// CallStmt is a call for its effect: barriers, atomics.
type CallStmt struct {
	At
	Call *Call
}

// Assert is const_assert cond, in a function or at module scope. It holds.
type Assert struct {
	At
	Cond Expr
}

// Comment is one comment line.
type Comment struct {
	At
	Text string
}

// Block is a list of statements with a scope.
type Block struct {
	At
	List []Stmt
}

// Var is a variable at module scope: a binding, workgroup memory, or a private one.
type Var struct {
	At
	Symbol  *Symbol
	Binding int  // for storage and uniform variables, as is Group
	Group   int  // 0 in what the builder makes
	Init    Expr // of a private variable; nil for zero
}

// Override is a constant that the pipeline may set.
type Override struct {
	At
	Symbol *Symbol
	Typed  bool
	ID     int    // of @id; -1 without
	Init   Expr   // nil where the pipeline must set it
	Why    string // trailing comment
}

// StructDecl declares a struct.
type StructDecl struct {
	At
	Type *Struct
}

// TypeAlias gives a type another name. Types elsewhere are those that the name stands for.
type TypeAlias struct {
	At
	Name string
	Type Type
}

// Func is a function. An entry point has a workgroup size.
type Func struct {
	At
	Name      string
	Params    []*Symbol
	Result    Type // nil for none
	Workgroup [3]int
	Body      *Block

	Sizes       [3]Expr // of the workgroup, where not literals: Workgroup has 1 where one depends on an override
	MustUse     bool    // @must_use
	Diagnostics []Directive
}

// Entry reports whether the function is an entry point.
func (f *Func) Entry() bool { return f.Workgroup[0] > 0 }

// Directive is a line such as diagnostic(off, subgroup_uniformity); or requires name; or the attribute @diagnostic(...).
type Directive struct {
	At
	Name string
	Args []string
}

// Decl is a Var, Func, Declare (of a const), Override, StructDecl, TypeAlias, Assert or Comment at module scope.
type Decl interface{ Position() Pos }

// File is a whole WGSL text.
type File struct {
	Subgroups bool // enable subgroups;
	F16       bool // enable f16;
	Decls     []Decl

	Directives []Directive // diagnostic and requires
}
