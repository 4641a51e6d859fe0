package judge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// TestMain makes this binary the child process too: with KGEN_TEST_CHILD it serves a library, or plays one.
func TestMain(m *testing.M) {
	switch os.Getenv("KGEN_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "serve":
		if err := judge.Serve(context.Background(), os.Getenv("KGEN_TEST_LIBRARY"), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "play":
		play(os.Getenv("KGEN_TEST_LIBRARY"))
	}
}

// spawn runs this binary as a child.
func spawn(mode string) judge.Spawn {
	return func(ctx context.Context, library string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), "KGEN_TEST_CHILD="+mode, "KGEN_TEST_LIBRARY="+library)
		return cmd
	}
}

// play is a library that does what the texts say. The one at /shy has no adapter, the one at /dead ends when it is opened.
func play(library string) {
	out := json.NewEncoder(os.Stdout)
	switch library {
	case "":
		out.Encode([]map[string]string{
			{"path": "/a", "name": "player 1"}, {"path": "/b", "name": "player 1"}, {"path": "/shy", "name": "Dawn 1"},
			{"path": "/dead", "name": "dead 2"}, {"path": "/none", "error": "not a library"},
		})
		return
	case "/shy":
		out.Encode(map[string]any{"error": "there is no adapter", "no_adapter": true})
		return
	case "/dead":
		panic("out of luck")
	}
	out.Encode(map[string]any{"name": "player 1", "adapter": "stage", "naga": true})
	in := json.NewDecoder(os.Stdin)
	for {
		var q struct {
			Name, WGSL string
			Kernel     *plan.Kernel
		}
		if in.Decode(&q) != nil {
			return
		}
		switch order, rest, _ := strings.Cut(q.WGSL, " "); order {
		case "crash":
			fmt.Fprintln(os.Stderr, "thread panicked at lib.rs:1\nfor a reason\nand more")
			os.Exit(3)
		case "leave":
			os.Exit(0)
		case "hang":
			r, w, _ := os.Pipe()
			defer w.Close()
			r.Read(make([]byte, 1)) // nothing ever comes
		case "garble":
			fmt.Println("hello")
		case "lost":
			out.Encode(map[string]string{"outcome": "ended", "said": "the device is lost"})
			return
		default:
			out.Encode(map[string]string{"outcome": strings.ReplaceAll(order, "-", " "), "said": rest})
		}
	}
}

// verdicts has a validator judge texts. Each gets one verdict.
func verdicts(t *testing.T, v judge.Validator, texts ...judge.Text) []judge.Verdict {
	t.Helper()
	list, times := make([]judge.Verdict, len(texts)), make([]int, len(texts))
	var lock sync.Mutex
	if err := v.Judge(t.Context(), texts, func(at int, v judge.Verdict) {
		lock.Lock()
		defer lock.Unlock()
		list[at] = v
		times[at]++
	}); err != nil {
		t.Fatal(err)
	}
	for at, n := range times {
		if n != 1 {
			t.Errorf("%s: %d verdicts", texts[at].Name, n)
		}
	}
	return list
}

func texts(list ...string) []judge.Text {
	var all []judge.Text
	for i, text := range list {
		all = append(all, judge.Text{Name: fmt.Sprint(i, ".wgsl"), WGSL: text})
	}
	return all
}

// player is the library that play plays.
func player(t *testing.T, timeout time.Duration) judge.Validator {
	t.Helper()
	found, _ := judge.Libraries(t.Context(), spawn("play"), timeout)
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	return found[0]
}

// Libraries of the same name are one; those that can't judge are missing with the reason.
func TestLibraries(t *testing.T) {
	t.Setenv("KGEN_CACHE", t.TempDir()) // without SwiftShader
	t.Setenv("KGEN_WEBGPU_LIB", "")
	found, missing := judge.Libraries(t.Context(), spawn("play"), time.Minute)
	if len(found) != 1 || found[0].Name() != "player 1" || found[0].Kind() != "library" || found[0].Place() != "/a" || found[0].Adapter() != "stage" {
		t.Errorf("found %+v", found)
	}
	want := []judge.Missing{
		{Name: "Dawn 1", Why: "there is no adapter", Get: "kgen doctor tells more"},
		{Name: "dead 2", Why: "it crashed, exit status 2: panic: out of luck", Get: "kgen doctor tells more"},
		{Name: "/none", Why: "not a library"},
		{Name: "wgpu-native", Why: "no library of it was found", Get: "kgen lib install wgpu-native"},
	}
	if d := cmp.Diff(want, missing); d != "" {
		t.Errorf("missing (-want +got):\n%s", d)
	}
	nothing := func(ctx context.Context, _ string) *exec.Cmd {
		return exec.CommandContext(ctx, filepath.Join(t.TempDir(), "absent"))
	}
	if found, missing := judge.Libraries(t.Context(), nothing, time.Minute); len(found) != 0 || len(missing) != 1 || !strings.Contains(missing[0].Why, "run a child process") {
		t.Errorf("without a program: %v, %v", found, missing)
	}
}

// Whatever a library does to its process is the verdict on the one text, and the next is judged.
func TestLibraryEnds(t *testing.T) {
	got := verdicts(t, player(t, time.Minute), texts(
		"passed", "crash", "passed", "leave", "garble", "refused :3:7 error: no\nmore", "lost", "not-judged it lacks f16",
		plan.EnableSubgroups+"fn", "passed",
	)...)
	want := []judge.Verdict{
		{Outcome: judge.Passed},
		{Outcome: judge.Ended, Message: "it crashed, exit status 3: thread panicked at lib.rs:1 for a reason", Detail: "thread panicked at lib.rs:1\nfor a reason\nand more"},
		{Outcome: judge.Passed},
		{Outcome: judge.Ended, Message: "it ended without an answer"},
		{Outcome: judge.Ended, Message: "it answered with what is no answer (invalid character 'h' looking for beginning of value)"},
		{Outcome: judge.Refused, Line: 3, Column: 7, Message: "no", Detail: ":3:7 error: no\nmore"},
		{Outcome: judge.Ended, Message: "the device is lost", Detail: "the device is lost"},
		{Outcome: judge.NotJudged, Message: "it lacks f16", Detail: "it lacks f16"},
		{Outcome: "enable", Message: "subgroups;\ufffdfn", Detail: "subgroups;\nfn", Mapped: true},
		{Outcome: judge.Passed},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("verdicts (-want +got):\n%s", d)
	}
}

// A library that gives no answer is stopped, and after three times asked no more.
func TestLibraryHangs(t *testing.T) {
	var got []judge.Outcome
	for _, v := range verdicts(t, player(t, 100*time.Millisecond), texts("hang", "hang", "hang", "hang", "passed")...) {
		got = append(got, v.Outcome)
	}
	want := []judge.Outcome{judge.NoAnswer, judge.NoAnswer, judge.NoAnswer, judge.NotJudged, judge.NotJudged}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("verdicts (-want +got):\n%s", d)
	}
}

// Whoever waits for a verdict may stop.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := player(t, time.Hour).Judge(ctx, texts("passed", "hang", "passed"), func(at int, v judge.Verdict) {
		if at > 0 {
			t.Errorf("a verdict on text %d: %+v", at, v)
		}
		cancel()
	})
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// script puts a command on PATH that is a shell script.
func script(t *testing.T, name, body string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell that runs scripts")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestCommandFails(t *testing.T) {
	for body, want := range map[string]judge.Verdict{
		"exit 0":                                 {Outcome: judge.Passed},
		"echo $3:4:9 error: wrong >&2; exit 1":   {Outcome: judge.Refused, Line: 4, Column: 9, Message: "wrong", Detail: "0.wgsl:4:9 error: wrong"},
		"echo only here; exit 1":                 {Outcome: judge.Refused, Message: "only here", Detail: "only here"},
		"exit 255":                               {Outcome: judge.Refused, Message: "it gave no reason"},
		"echo internal error >&2; kill -SEGV $$": {Outcome: judge.Ended, Message: "it crashed, signal: segmentation fault: internal error", Detail: "internal error"},
		"exit 101":                               {Outcome: judge.Ended, Message: "it crashed, exit status 101"},
		"exit 139":                               {Outcome: judge.Ended, Message: "it crashed, exit status 139"},
		`printf 'a\033[31mb\033[0m\033]c\377\n' >&2; exit 1`:        {Outcome: judge.Refused, Message: "ab\ufffd]c\ufffd", Detail: "ab\x1b]c\xff"},
		"while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaa || exit; done": {Outcome: judge.NoAnswer, Message: "it gave no answer within 500ms"},
		"exec /bin/sleep 600": {Outcome: judge.NoAnswer, Message: "it gave no answer within 500ms"},
	} {
		t.Run(body, func(t *testing.T) {
			script(t, "tint", body)
			timeout := time.Minute
			if want.Outcome == judge.NoAnswer {
				timeout = 500 * time.Millisecond
			}
			found, missing := judge.Commands(t.Context(), timeout)
			if len(found) != 1 || found[0].Name() != "tint" || len(missing) != 1 || missing[0].Name != "naga" || missing[0].Get == "" {
				t.Fatalf("found %v, missing %v", found, missing)
			}
			got := verdicts(t, found[0], texts("fn main() {}")...)[0]
			got.Message = strings.Replace(got.Message, " (core dumped)", "", 1)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A command that is given up is started no more, but for those that run already.
func TestCommandGivenUp(t *testing.T) {
	script(t, "tint", "exec /bin/sleep 600")
	found, _ := judge.Commands(t.Context(), 100*time.Millisecond)
	list := verdicts(t, found[0], texts(make([]string, 100)...)...)
	silent := len(list) - len(slices.DeleteFunc(slices.Clone(list), func(v judge.Verdict) bool { return v.Outcome == judge.NoAnswer }))
	if last := list[len(list)-1]; silent < 3 || silent > 2+runtime.GOMAXPROCS(0) || last.Outcome != judge.NotJudged || last.Message != "it gave no answer 3 times before" {
		t.Errorf("%d times no answer; the last verdict is %+v", silent, last)
	}
}

// naga gets its dialect, and tells its version.
func TestNagaCommand(t *testing.T) {
	script(t, "naga", `case "$1" in --version) echo naga 9.8.7;; *) read line < "$1"; echo "error: got <$line>" >&2; exit 1;; esac`)
	found, _ := judge.Commands(t.Context(), time.Minute)
	if len(found) != 1 || found[0].Name() != "naga 9.8.7" {
		t.Fatalf("found %v", found)
	}
	got := verdicts(t, found[0], texts(plan.EnableSubgroups+"fn", "fn")...)
	if got[0].Message != "got <>" || !got[0].Mapped || got[1].Message != "got <fn>" || got[1].Mapped {
		t.Errorf("got %+v", got)
	}
}
