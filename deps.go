package kgen

import (
	_ "github.com/alecthomas/kong"
	_ "github.com/ardanlabs/jinja"
	_ "github.com/dlclark/regexp2/v2"
	_ "github.com/ebitengine/purego"
	_ "github.com/edsrzf/mmap-go"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-isatty"
	_ "github.com/pmezard/go-difflib/difflib"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/x448/float16"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/text/unicode/norm"
	_ "golang.org/x/tools/txtar"
	_ "pgregory.net/rapid"
)
