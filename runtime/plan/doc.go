// Package plan holds what a compiled model is, the Builder that makes it, and the Backend interface that runs it.
package plan
