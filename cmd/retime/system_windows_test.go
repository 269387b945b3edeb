package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"retime/pipeline/fault"
)

// A clip that another program plays can be read, and is not replaced. That is said at once: a long
// input is not read, and the file and its directory are as they were. So is a file that is read-only.
func TestHeldFiles(t *testing.T) {
	dir := filepath.Dir(clip(t, 64, 48, 4))
	t.Chdir(dir)
	if _, stderr, code := run(t, "in.y4m", "-o", "out.nut"); code != 0 {
		t.Fatal(stderr)
	}
	before := contents(t)
	refused := func(why string, args ...string) {
		t.Helper()
		_, stderr, code := run(t, append(args, "-y", "--progress", "json")...)
		if code != int(fault.CannotWrite) || !strings.Contains(stderr, why) || strings.Contains(stderr, `"frames":4`) {
			t.Errorf("retime %q: exit code %d\n%s", args, code, stderr)
		}
		if after := contents(t); after != before {
			t.Errorf("retime %q changes files: %s\nbefore: %s", args, after, before)
		}
	}
	hold := func(name string) windows.Handle {
		t.Helper()
		p, err := windows.UTF16PtrFromString(name)
		if err != nil {
			t.Fatal(err)
		}
		h, err := windows.CreateFile(p, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	defer windows.CloseHandle(hold("in.y4m"))
	out := hold("out.nut")
	for _, args := range [][]string{{"in.y4m", "-o", "out.nut"}, {"restore", "in.y4m", "-o", "out.nut", "--frames", "2"}} {
		refused("another program has it open", args...)
	}
	windows.CloseHandle(out)
	if err := os.Chmod("out.nut", 0o444); err != nil {
		t.Fatal(err)
	}
	refused("read-only", "in.y4m", "-o", "out.nut")
	if err := os.Chmod("out.nut", 0o666); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, "in.y4m", "-o", "out.nut", "-y"); code != 0 {
		t.Error(stderr)
	}
}

// Messages name files as users do, with one backslash for each.
func TestMessagesNameFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{filepath.Join(dir, "none.mp4"), `\\?\` + filepath.Join(dir, "none.mp4")} {
		if _, stderr, code := run(t, name, "-o", "out.nut"); code != int(fault.NoInput) || !strings.Contains(stderr, `"`+name+`"`) {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
	}
}
