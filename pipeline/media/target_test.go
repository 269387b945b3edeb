package media

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRemoveUnfinished(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a b.mkv")
	for i := range 2 {
		target, err := newTarget(name, "in.mkv", false)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target.temp, []byte{byte(i)}, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	others := []string{"a b.mkv", ".a b.ABCDEFGHIJ.part.mp4", ".a.ABCDEFGHIJ.part.mkv", ".a b.abcdefghij.part.mkv", ".a b.ABC.part.mkv", ".a b.part.mkv"}
	for _, n := range others {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveUnfinished(name); err != nil {
		t.Fatal(err)
	}
	for _, n := range others {
		if _, err := os.Stat(filepath.Join(dir, n)); err != nil {
			t.Errorf("%q is gone", n)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(others) {
		t.Errorf("%v, %v", entries, err)
	}
}
