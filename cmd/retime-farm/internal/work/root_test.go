package work

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"retime/cmd/retime-farm/internal/job"
)

// Only those who overwrite replace an existing file.
func TestMove(t *testing.T) {
	dir := t.TempDir()
	r, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.move("a", "b", false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v, want fs.ErrExist", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || string(text) != "b" {
		t.Errorf("b holds %q: %v", text, err)
	}
	if err := r.move("a", "c", false); err != nil {
		t.Error(err)
	}
	if err := r.move("c", "b", true); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || string(text) != "a" {
		t.Errorf("b holds %q: %v", text, err)
	}
}

// The output must not be the input or a file that a flag names.
func TestOutputIsRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"in", "curve", "out"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for output, want := range map[string]bool{"in": true, "curve": true, "out": false, "none": false} {
		c := job.Clip{Dir: dir, Output: filepath.Join(dir, output), Arguments: []string{"in", "--fps=60", "--curve", filepath.Join(dir, "none"), "--curve=./curve"}}
		if got := OutputIsRead(c); got != want {
			t.Errorf("%s: %v", output, got)
		}
	}
}
