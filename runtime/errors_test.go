package kgenrt

import (
	"context"
	"errors"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

func TestEveryCodeIsExplained(t *testing.T) {
	seen := map[Code]bool{}
	for _, row := range Codes() {
		if seen[row.Code] {
			t.Errorf("%s is listed twice", row.Code)
		}
		seen[row.Code] = true
		if row.Cause == "" || row.Fix == "" || row.Status < 400 || row.Status > 599 {
			t.Errorf("%s: cause %q, fix %q, status %d", row.Code, row.Cause, row.Fix, row.Status)
		}
	}
}

func TestWrapGivesCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Code
	}{
		{context.Canceled, Aborted},
		{context.DeadlineExceeded, Aborted},
		{&plan.LimitError{Subject: "kernel x", Limit: "maxBufferSize", Need: 2, Have: 1}, LimitExceeded},
		{&plan.KernelError{Kernel: "x", Detail: "bad"}, KernelRefused},
		{&plan.DeviceError{Fault: plan.NoLibrary}, NoWebGPU},
		{&plan.DeviceError{Fault: plan.NoAdapter}, NoWebGPU},
		{&plan.DeviceError{Fault: plan.OutOfMemory}, OutOfMemory},
		{&plan.DeviceError{Fault: plan.Lost}, DeviceLost},
		{&plan.DeviceError{Fault: plan.Closed}, DeviceLost},
		{&plan.DeviceError{Fault: plan.Failed}, GenerationFailed},
		{&plan.DeviceError{Fault: plan.Miscomputes}, DeviceRefused},
		{errors.New("something else"), GenerationFailed},
		{&Error{Code: ContextFull, Message: "full"}, ContextFull},
	} {
		var typed *Error
		if err := Wrap("work", c.err); !errors.As(err, &typed) || typed.Code != c.want || !errors.Is(err, c.err) {
			t.Errorf("Wrap(%v) = %v, want code %s", c.err, err, c.want)
		}
	}
	if Wrap("work", nil) != nil {
		t.Error("Wrap(nil) is not nil")
	}
}
