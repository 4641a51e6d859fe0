package main

import (
	"bytes"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: notices FILE")
		os.Exit(2)
	}
	text, err := notices(".")
	if err == nil {
		err = os.WriteFile(os.Args[1], text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// notices makes the text for the module in a folder.
func notices(root string) ([]byte, error) {
	modules, err := linkedModules(root)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(head)
	writeFetched(&out)
	writeModules(&out, modules)
	return out.Bytes(), nil
}
