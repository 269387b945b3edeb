// Package clips finds the real clips that some tests measure on. They are not part
// of the repository; docs/quality.md lists them, with their sources.
package clips

import (
	"os"
	"path/filepath"
	"testing"
)

// Find returns the clips whose names match a filepath.Match pattern. It looks in the directory that
// the environment variable RETIME_CLIPS names, or else in ../shared/clips next to the repository. A
// relative name is relative to the repository's top. Find skips the test if no clip matches, but a
// directory that RETIME_CLIPS names must exist.
func Find(t testing.TB, pattern string) []string {
	t.Helper()
	dir := os.Getenv("RETIME_CLIPS")
	named := dir != ""
	if !named {
		dir = filepath.Join("..", "shared", "clips")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top(t), dir)
	}
	if _, err := os.Stat(dir); named && err != nil {
		t.Fatalf("RETIME_CLIPS: %v", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skipf("needs the clips %s of docs/quality.md; RETIME_CLIPS=DIR says where they are (now %s)", pattern, dir)
	}
	return names
}

// top returns the nearest directory above the test's that has a go.mod.
func top(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("the test does not run in the repository")
		}
		dir = up
	}
}
