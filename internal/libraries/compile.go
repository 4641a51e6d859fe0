package libraries

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// record lies beside a compiled stub. No hash can be pinned for what a compiler makes, so that of the source and of what
// was made then are kept.
type record struct {
	Source  string `json:"stub_c_sha256"`
	Library string `json:"library_sha256"`
}

const recordName = "stub.json"

// compiler is the C compiler that CC names, with its flags, else cc.
func compiler() []string { return strings.Fields(cmp.Or(strings.TrimSpace(os.Getenv("CC")), "cc")) }

func haveCompiler() error {
	command := compiler()
	if _, err := exec.LookPath(command[0]); err != nil {
		return &CompilerError{Command: strings.Join(command, " "), Err: err}
	}
	return nil
}

// compile makes the library that opens the one in a folder.
func compile(ctx context.Context, stub, version, dir string) error {
	command := compiler()
	source, target := filepath.Join(dir, "stub.c"), filepath.Join(dir, stubName)
	if err := os.WriteFile(source, []byte(stub), 0o666); err != nil {
		return &WriteError{dir, err}
	}
	args := append(command[1:], "-O2", "-shared", "-fPIC", fmt.Sprintf("-DKGEN_DAWN_VERSION=%q", version), "-o", target, source, "-ldl")
	cc := exec.CommandContext(ctx, command[0], args...)
	cc.Env = append(os.Environ(), "TMPDIR="+dir)
	output, err := cc.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &CompilerError{strings.Join(command, " "), strings.TrimSpace(string(output)), err}
	}
	if err := os.Remove(source); err != nil {
		return &WriteError{dir, err}
	}
	if err := syncFile(target); err != nil {
		return &WriteError{dir, err}
	}
	made, err := hashFile(target)
	if err != nil {
		return &WriteError{dir, err}
	}
	data, err := json.Marshal(record{Source: textHash(stub), Library: made})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, recordName), append(data, '\n'), 0o666); err != nil {
		return &WriteError{dir, err}
	}
	return nil
}

// checkStub says why the compiled stub in a folder isn't the one of this source, as it was made.
func checkStub(dir, stub string) error {
	data, err := os.ReadFile(filepath.Join(dir, recordName))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s was not compiled by kgen: there is no %s beside it", stubName, recordName)
	}
	if err != nil {
		return err
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("%s: %w", recordName, err)
	}
	if r.Source != textHash(stub) {
		return fmt.Errorf("%s was compiled from another stub than this kgen's", stubName)
	}
	return checkHash(filepath.Join(dir, stubName), stubName, r.Library)
}

func textHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// syncFile writes a file that another program made through to the disk.
func syncFile(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}
