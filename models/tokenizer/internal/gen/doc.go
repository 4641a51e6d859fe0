// Command gen writes the tables that package tokenizer normalises text with. It derives them from
// golang.org/x/text/unicode/norm, so they are of the Unicode version of the Go toolchain that runs it.
package main
