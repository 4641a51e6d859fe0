package chat

import "time"

// Bounds of Compile.
const (
	maxSource    = 256 << 10 // bytes of a template; published ones have up to 25 KiB
	maxTagTokens = 4096      // tokens of one tag; published templates have up to about 100
	maxMacros    = 256       // published: about 20
	maxNesting   = 128       // blocks within each other
	maxJoins     = 128       // "~" and "+" in one tag, each of which may add a value of the largest size; published: 26
)

// Bounds of Render. Those on sizes grow with the data, see newRun.
const (
	maxRange      = 1 << 14         // elements of range()
	maxMacroDepth = 64              // macros and callers within each other
	maxDataDepth  = 48              // nesting of messages and tools
	maxDepth      = 64              // nesting of a value
	maxNodes      = 16 << 20        // values looked at by the guards
	turnCost      = 1 << 10         // bytes of template that a loop turn or macro call counts for, beside its own
	elementCost   = 16              // bytes that an element of a list or dictionary counts for
	maxElements   = 1 << 16         // elements that split, list and unique may handle
	maxBound      = 1 << 22         // slice bounds
	maxPadding    = 100             // spaces of indent
	maxTime       = 5 * time.Second // for all renderings of one prompt
)
