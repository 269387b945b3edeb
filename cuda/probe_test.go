//go:build unix

package cuda

import (
	"os"
	"path/filepath"
	"strings"
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

// A device older than the kernels is refused in words.
func TestNewEnough(t *testing.T) {
	for _, c := range []struct {
		major, minor  int
		architectures string
		want          string
	}{
		{5, 0, "sm_70 sm_75 sm_90 and PTX 9.0", "compute capability 5.0, and they need 7.0 or later"},
		{7, 0, "sm_75 and PTX 9.0", "need 7.5"},
		{7, 0, "sm_75 sm_70 and PTX 9.0", ""},
		{8, 6, "sm_80 and PTX 9.0", ""},
		{12, 0, "sm_90 and PTX 9.0", ""},
		{5, 0, "", ""},
	} {
		err := newEnough(Info{Name: "A card", Major: c.major, Minor: c.minor}, c.architectures)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d.%d with kernels for %q: error %v", c.major, c.minor, c.architectures, err)
		}
	}
}
