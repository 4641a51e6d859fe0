package outline_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kgen-wgsl/kgen/codegen/outline"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Whatever wgsl.Parse takes, its AST says what the outline has to say: names resolved and types laid out by other code.
func TestReadAgreesWithParse(t *testing.T) {
	texts, entries, unsure := 0, 0, 0
	for name, text := range corpus(t) {
		f, _, err := wgsl.ParseLenient(name, text)
		if err != nil {
			continue
		}
		n, unknown := compare(t, name, f, text)
		texts, entries, unsure = texts+1, entries+n, unsure+unknown
	}
	t.Logf("%d texts, %d entry points, of which %d could not be compared", texts, entries, unsure)
	if texts < 350 || entries < 300 || unsure > entries/20 {
		t.Errorf("%d texts, %d entry points, of which %d could not be compared", texts, entries, unsure)
	}
}

// corpus is the WGSL of this repository.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, dir := range []string{"../../gen", "../../golden", "../kernels/testdata", "../wgsl/testdata"} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			switch filepath.Ext(path) {
			case ".wgsl":
				texts[path] = string(data)
			case ".txtar":
				for _, f := range txtar.Parse(data).Files {
					texts[path+"/"+f.Name] = string(f.Data)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// compare returns how many entry points there are, and how many of them have something that the outline doesn't know.
func compare(t *testing.T, path string, f *wgsl.File, text string) (n, unsure int) {
	t.Helper()
	o := outline.Read(text)
	if len(o.Skipped) > 0 || o.Template != nil || len(o.Outside) > 0 {
		t.Errorf("%s: %+v, %+v, %+v", path, o.Skipped, o.Template, o.Outside)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*wgsl.Func)
		if !ok || !fn.Entry() {
			continue
		}
		if n++; n > len(o.Entries) {
			t.Errorf("%s: entry point %s is missing", path, fn.Name)
			return n, unsure
		}
		e := o.Entries[n-1]
		used := map[*wgsl.Symbol]bool{}
		reach(fn, used, map[*wgsl.Func]bool{})
		var bindings []outline.Binding
		memory := 0
		for _, d := range f.Decls {
			v, ok := d.(*wgsl.Var)
			if !ok || !used[v.Symbol] {
				continue
			}
			b := outline.Binding{Name: v.Symbol.Name, Group: v.Group, Binding: v.Binding, Writable: v.Symbol.Writable, Bytes: uint64(wgsl.SizeOf(v.Symbol.Type))}
			switch v.Symbol.Space {
			case wgsl.WorkgroupSpace:
				memory += (wgsl.SizeOf(v.Symbol.Type) + 15) / 16 * 16
				continue
			case wgsl.StorageSpace:
				b.Space = outline.Storage
			case wgsl.UniformSpace:
				b.Space = outline.Uniform
			default:
				continue
			}
			bindings = append(bindings, b)
		}
		if len(e.Assumed)+len(e.Unknown) > 0 {
			t.Logf("%s: %s: %q %q", path, e.Name, e.Assumed, e.Unknown)
			unsure++
			continue
		}
		got := slices.Clone(e.Bindings)
		for i := range got {
			got[i].Type = ""
			if got[i].Unsized {
				got[i].Bytes, got[i].Unsized = bindings[i].Bytes, false
			}
		}
		if e.Name != fn.Name || e.Workgroup != fn.Workgroup || e.WorkgroupBytes != uint64(memory) || !slices.Equal(got, bindings) {
			t.Errorf("%s: got %+v, want %s, %v, %d bytes, %+v", path, e, fn.Name, fn.Workgroup, memory, bindings)
		}
	}
	if n != len(o.Entries) {
		t.Errorf("%s: %d entry points, want %d", path, len(o.Entries), n)
	}
	return n, unsure
}

// reach collects what a function names, itself or by what it calls.
func reach(f *wgsl.Func, used map[*wgsl.Symbol]bool, seen map[*wgsl.Func]bool) {
	if seen[f] {
		return
	}
	seen[f] = true
	wgsl.InspectBlock(f.Body, func(e wgsl.Expr) {
		switch e := e.(type) {
		case *wgsl.Ident:
			used[e.Symbol] = true
		case *wgsl.Call:
			if e.Func != nil {
				reach(e.Func, used, seen)
			}
		}
	})
}
