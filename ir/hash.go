package ir

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hash returns the SHA-256 of a graph's text without its name, in hexadecimal. Graphs of the same hash compute the same from the
// same weights.
func Hash(g *Graph) string {
	unnamed := *g
	unnamed.Name = ""
	sum := sha256.Sum256([]byte(Print(&unnamed)))
	return hex.EncodeToString(sum[:])
}
