package kgen

import (
	"errors"
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/chat"
	"github.com/kgen-wgsl/kgen/models/gguf"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/models/tokenizer"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// AsError gives any error that the packages below return its code; doing says what failed. An error that has a code keeps
// it, nil stays nil.
func AsError(doing string, err error) error { return asError(doing, err) }

func asError(doing string, err error) error {
	code := codeOf(err)
	if code == "" {
		return kgenrt.Wrap(doing, err)
	}
	return &kgenrt.Error{Code: code, Message: doing, Err: err}
}

// codeOf returns the code of errors that package kgenrt does not know, "" for others.
func codeOf(err error) kgenrt.Code {
	var coded *kgenrt.Error
	if errors.As(err, &coded) {
		return ""
	}
	switch {
	case is[*models.ArchitectureError](err), is[*models.UnsupportedError](err), is[*quant.UnsupportedError](err), is[*codegen.UnsupportedError](err):
		return kgenrt.UnsupportedModel
	case is[*eval.TokenError](err), is[*eval.PositionError](err):
		return kgenrt.BadRequest
	case is[*eval.ContextError](err):
		return kgenrt.ContextFull
	case is[*eval.SourceError](err):
		return kgenrt.NoModel
	case is[*eval.GraphError](err):
		return kgenrt.UnsupportedModel
	case isTokenizerKind(err), is[*ir.Error](err):
		return kgenrt.UnsupportedModel
	case is[*models.KeyError](err), is[*models.TensorError](err), is[*tokenizer.Error](err):
		return kgenrt.InvalidModel
	case isRefusal(err):
		return kgenrt.BadRequest
	case is[*chat.Error](err):
		return kgenrt.InvalidTemplate
	case is[*bind.Refusal](err), is[*schedules.FitError](err), is[*schedules.IllegalError](err):
		return kgenrt.LimitExceeded
	case is[*schedules.UnknownError](err):
		return kgenrt.BadRequest
	}
	var file *gguf.Error
	if errors.As(err, &file) {
		return fileCode(file.Class)
	}
	return ""
}

// isTokenizerKind reports whether a tokenizer was refused for its kind, not for a fault.
func isTokenizerKind(err error) bool {
	var t *tokenizer.Error
	return errors.As(err, &t) && (t.Field == "model" || t.Field == "pre")
}

// isRefusal reports whether a chat template, or what renders it, turned the conversation down: another one may do.
func isRefusal(err error) bool {
	var t *chat.Error
	return errors.As(err, &t) && (t.Class == chat.ClassRaised || t.Class == chat.ClassMessage)
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func fileCode(c gguf.Class) kgenrt.Code {
	switch c {
	case gguf.ClassSplitFile, gguf.ClassUnsupportedVersion, gguf.ClassBadTensorType:
		return kgenrt.UnsupportedModel
	case gguf.ClassRead:
		return kgenrt.NoModel
	case gguf.ClassBadRange, gguf.ClassClosed:
		return kgenrt.GenerationFailed
	}
	return kgenrt.InvalidModel
}

func badRequest(format string, args ...any) error {
	return &kgenrt.Error{Code: kgenrt.BadRequest, Message: fmt.Sprintf(format, args...)}
}
