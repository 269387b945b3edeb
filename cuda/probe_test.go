//go:build unix

package cuda

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAnyOpens(t *testing.T) {
	dir := t.TempDir()
	file, missing := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files []string
		want  bool
	}{{nil, false}, {[]string{missing}, false}, {[]string{missing, file}, true}, {[]string{dir}, false}} {
		if got := anyOpens(c.files); got != c.want {
			t.Errorf("%v: %v, want %v", c.files, got, c.want)
		}
	}
}
