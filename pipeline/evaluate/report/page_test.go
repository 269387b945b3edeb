package report

import (
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	for name, want := range map[string]string{"": "", "a": "a", "IMG_2024-08.mkv": "IMG_|2024-|08.|mkv", "..": ".|.", "a_": "a_"} {
		if got := strings.Join(parts(name), "|"); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
