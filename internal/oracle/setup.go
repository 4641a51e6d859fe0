package oracle

import (
	"os"
	"path/filepath"
	"testing"
)

// SmolLM2 is the real model's file under Cache.
const SmolLM2 = "models/SmolLM2-135M-Instruct.Q4_1.gguf"

// Find returns the path of a file that set-up puts in the cache: $KGEN_CACHE, else kgen in the user's cache directory. A
// file that is not there skips the test, or fails it when KGEN_REQUIRE is 1.
func Find(t testing.TB, name string) string {
	t.Helper()
	cache := os.Getenv("KGEN_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(user, "kgen")
	}
	path := filepath.Join(cache, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("KGEN_REQUIRE") == "1" {
			t.Fatalf("%v; run: make setup", err)
		}
		t.Skipf("%v; run: make setup", err)
	}
	return path
}
