package judge

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
)

// An answer that is read while the child is killed for its silence does not count: the child can't be asked again.
func TestAnswerAsTheTimeIsUp(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KGEN_TEST_CHILD=play", "KGEN_TEST_LIBRARY=")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	c := &child{cmd: cmd, timeout: 1}
	err = c.within(func() error {
		io.Copy(io.Discard, out) // until the child ended, which is after a nanosecond
		return nil
	})
	if silence := silenceError(0); !errors.As(err, &silence) {
		t.Errorf("got %v", err)
	}
}
