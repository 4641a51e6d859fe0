// Command notices writes THIRD_PARTY_NOTICES.md: the licences of the modules that are linked into kgen on any platform, as
// their files in the module cache have them, and those of what set-up and `kgen lib install` fetch.
//
//	go run ./internal/libraries/notices THIRD_PARTY_NOTICES.md
//
// A test fails when the file is not what it would write, as after a change of go.mod; `make notices` writes it again.
package main
