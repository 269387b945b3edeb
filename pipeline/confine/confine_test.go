package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckFiles(t *testing.T) {
	top := t.TempDir()
	in, out := filepath.Join(top, "in"), filepath.Join(top, "out")
	must(t, os.MkdirAll(filepath.Join(in, "deep"), 0o777))
	must(t, os.Mkdir(out, 0o777))
	must(t, os.Mkdir(in+"side", 0o777))
	must(t, os.WriteFile(filepath.Join(out, "file"), nil, 0o666))
	must(t, os.WriteFile(filepath.Join(in, "file"), nil, 0o666))
	for link, to := range map[string]string{
		"in/away": out, "in/awayfile": out + "/file", "in/relative": "../out", "in/within": "deep", "in/twice": "away/file", "in/nowhere": "nothing",
		"in/nowhereout": out + "/nothing", "link": in,
	} {
		must(t, os.Symlink(to, filepath.Join(top, link)))
	}
	for _, root := range []string{in, filepath.Join(top, "link"), in + "/deep/../"} {
		d, err := New(root)
		must(t, err)
		for _, name := range []string{
			in, in + "/", "in/file", "in/new", "in/new/newer", "in/deep/new", "in/within/new", "in/deep/../file", "link/file", "out/../in/file", "in/away/../in/file",
		} {
			if err := d.Check(abs(top, name)); err != nil {
				t.Errorf("%s: %s: %v", root, name, err)
			}
		}
		for _, name := range []string{
			top, "out/file", "inside/file", "in/../out/file", "in/away", "in/away/file", "in/away/new", "in/away/new/newer", "in/awayfile", "in/relative/file",
			"in/twice", "in/nowhere", "in/nowhereout", "in/within/../../out/file", "in/new/../../out/file", "in/new/..", "in/file/x", "/dev/zero", "/",
			"in/within/../../../../../../../../../../etc/passwd",
		} {
			if err := d.Check(abs(top, name)); err == nil {
				t.Errorf("%s: %s is permitted", root, name)
			}
		}
	}
}

func abs(top, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return top + "/" + name
}

// Relative names start from the working directory, before ".." is resolved.
func TestRelative(t *testing.T) {
	top := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(top, "in", "deep"), 0o777))
	must(t, os.MkdirAll(filepath.Join(top, "out", "deep"), 0o777))
	must(t, os.Symlink(filepath.Join(top, "out", "deep"), filepath.Join(top, "in", "link")))
	t.Chdir(filepath.Join(top, "in"))
	d, err := New(".")
	must(t, err)
	for name, good := range map[string]bool{"": true, ".": true, "deep/x": true, "deep/../x": true, "..": false, "../x": false, "link/../x": false} {
		if err := d.Check(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCheckTree(t *testing.T) {
	top := t.TempDir()
	in := filepath.Join(top, "in")
	must(t, os.MkdirAll(filepath.Join(in, "state", "logs"), 0o777))
	d, err := New(in)
	must(t, err)
	for _, name := range []string{in + "/state", in + "/none"} {
		if err := d.CheckTree(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := d.CheckTree(top); err == nil {
		t.Error("the directory above is permitted")
	}
	must(t, os.Symlink("../../../log", filepath.Join(in, "state", "logs", "a.log")))
	if err := d.CheckTree(in + "/state"); err == nil || !strings.Contains(err.Error(), "a.log") {
		t.Errorf("a link that leads away: %v", err)
	}
}

func TestNew(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(name, nil, 0o666))
	for _, n := range []string{name, name + "/none"} {
		if _, err := New(n); err == nil {
			t.Errorf("%s is taken for a directory", n)
		}
	}
	d, err := New("")
	if err != nil || d.On() || d.Check("/etc/passwd") != nil || d.CheckTree("/dev") != nil {
		t.Errorf("no directory forbids something: %v", err)
	}
	root, err := New("/")
	if err != nil || root.Check("/etc/passwd") != nil {
		t.Errorf("the root forbids something: %v", err)
	}
}
