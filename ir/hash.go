package ir

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hash returns the SHA-256 of a graph's text in hexadecimal. Graphs of the same hash compute the same from the same weights.
func Hash(g *Graph) string {
	sum := sha256.Sum256([]byte(Print(g)))
	return hex.EncodeToString(sum[:])
}
