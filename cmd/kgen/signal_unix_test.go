//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// The command waits for a file that nobody writes, where the first interrupt can't reach it: the second ends it.
func TestSecondInterrupt(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.wgsl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that a failure is not a test that hangs
	defer cancel()
	cmd := exec.CommandContext(ctx, "kgen", "vet", pipe) // testscript.Main puts it on PATH
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the command reads
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for waiting := true; waiting; {
		select {
		case <-ended:
			waiting = false
		default: // again and again, as the command may not have seen the first yet
			cmd.Process.Signal(os.Interrupt)
			runtime.Gosched()
		}
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}
