// Package repotest holds the tests of the repository as a whole: which package may import what, what the slim packages
// must do without, that every package is documented, that nothing odd is in version control, that README and Makefile
// agree, and that set-up leaves nothing half done.
//
// It has no code besides its tests. The table in imports_test.go is the one to change when a package gets a new
// dependency:
//
//	go test ./internal/repotest
package repotest
