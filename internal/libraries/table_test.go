package libraries

import (
	"encoding/hex"
	"path"
	"strings"
	"testing"
)

// TestTable checks that every row is whole, and that no hash was copied from one row to another.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	once := func(sum, what string) {
		t.Helper()
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || strings.ToLower(sum) != sum {
			t.Errorf("%s: %q is no SHA-256", what, sum)
		}
		if other := seen[sum]; other != "" {
			t.Errorf("%s and %s have the same hash", what, other)
		}
		seen[sum] = what
	}
	for _, l := range All() {
		if l.Name == "" || l.Licence == "" || l.About == "" {
			t.Errorf("library %+v lacks a text", l.Name)
		}
		for _, s := range l.Sources {
			platforms := map[string]bool{}
			for _, w := range s.Wheels {
				what := s.Name + " for " + w.OS + "/" + w.Arch
				once(w.SHA256, what)
				once(w.Member.SHA256, what+", the library")
				if !strings.HasPrefix(w.Name, strings.ReplaceAll(s.Name, "-", "_")+"-"+s.Project+"-") || path.Ext(w.Name) != ".whl" {
					t.Errorf("%s: the wheel is called %s", what, w.Name)
				}
				if w.Bytes <= 0 || w.Member.Bytes < w.Bytes || w.Member.Bytes > 64<<20 {
					t.Errorf("%s: sizes %d and %d", what, w.Bytes, w.Member.Bytes)
				}
				if platforms[w.OS+w.Arch] {
					t.Errorf("%s is there twice", what)
				}
				platforms[w.OS+w.Arch] = true
				want := map[string]string{"linux": ".so", "darwin": ".dylib", "windows": ".dll"}[w.OS]
				if path.Ext(w.As) != want || path.Ext(w.Member.Name) != want {
					t.Errorf("%s: the library is called %s and %s", what, w.Member.Name, w.As)
				}
				if w.Tried != Ran && w.Tried != Unpacked {
					t.Errorf("%s was tried %q", what, w.Tried)
				}
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, name := range []string{"wgpu-native", "dawn"} {
		if l, err := Lookup(name); err != nil || l.Name != name {
			t.Errorf("%s: got %s, %v", name, l.Name, err)
		}
	}
	if _, err := Lookup("chrome"); err == nil || err.Error() != `there is no library "chrome"; there are wgpu-native and dawn` {
		t.Error(err)
	}
}
