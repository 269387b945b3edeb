package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"retime/testdata/posix"
)

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestFilesAreWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.json")
	if err := Write(name, true, text("one")); err != nil {
		t.Fatal(err)
	}
	// A writer that fails, and one that panics, leave the file that was there.
	fail := errors.New("fail")
	if err := Write(name, true, func(w io.Writer) error { _, _ = io.WriteString(w, "two"); return fail }); !errors.Is(err, fail) {
		t.Errorf("%v, want the writer's error", err)
	}
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("three"); err != nil {
		t.Fatal(err)
	}
	if list := names(t, dir); len(list) != 2 || list[1] != "a.json" {
		t.Errorf("%q while a file is written", list)
	}
	f.Discard()
	if got, err := os.ReadFile(name); err != nil || string(got) != "one" {
		t.Errorf("%q: %v", got, err)
	}
	if err := Write(name, true, text("four")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "four" {
		t.Errorf("%q: %v", got, err)
	}
	other := filepath.Join(dir, "b.json")
	if err := Rename(name, other, false); err != nil {
		t.Fatal(err)
	}
	if list := names(t, dir); !slices.Equal(list, []string{"b.json"}) {
		t.Errorf("%q, want b.json", list)
	}
}

// If the directory cannot be put on disk, the file is there nevertheless, and the error says so.
func TestDirectoryCannotBeSynced(t *testing.T) {
	defer func(sync func(*os.File) error) { syncOpen = sync }(syncOpen)
	syncOpen = func(*os.File) error { return syscall.EIO }
	dir := t.TempDir()
	one, two := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	if err := WriteFile(one, false, []byte("one")); !errors.Is(err, ErrNotOnDisk) || !errors.Is(err, syscall.EIO) {
		t.Errorf("%v, want ErrNotOnDisk and EIO", err)
	}
	if err := Rename(one, two, false); !errors.Is(err, ErrNotOnDisk) {
		t.Errorf("%v, want ErrNotOnDisk", err)
	}
	if got, err := os.ReadFile(two); err != nil || string(got) != "one" {
		t.Errorf("%q: %v", got, err)
	}
	if list := names(t, dir); !slices.Equal(list, []string{"2"}) {
		t.Errorf("%q are there, want 2 alone", list)
	}
}

// If a file cannot be closed after it has its name, the error says so, too.
func TestFileCannotBeClosed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func(sync func(*os.File) error) { syncOpen = sync }(syncOpen)
	syncOpen = func(*os.File) error { f.Close(); return nil } // so that Commit's Close fails
	if err := f.Commit(name, true); !errors.Is(err, ErrNotOnDisk) || !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v, want ErrNotOnDisk and ErrClosed", err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
}

// A file has the permissions that the process gives to files, even while it is being
// written.
func TestPermissions(t *testing.T) {
	old := posix.Umask(t, 0)
	defer posix.Umask(t, old)
	for umask, want := range map[int]os.FileMode{0o077: 0o600, 0o022: 0o644, 0o002: 0o664} {
		posix.Umask(t, umask)
		name := filepath.Join(t.TempDir(), "a")
		f, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := f.Stat(); err != nil || info.Mode() != want {
			t.Errorf("umask %03o: %v while it is written, want %v: %v", umask, info.Mode(), want, err)
		}
		if err := f.Commit(name, true); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("umask %03o: %v, want %v: %v", umask, info.Mode(), want, err)
		}
	}
}

func TestErrorsLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "none", "a"), true, text("x")); err == nil {
		t.Error("a file is written in a directory that is not there")
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "taken"), true, text("x")); err == nil {
		t.Error("a file takes a directory's name")
	}
	if err := Rename(filepath.Join(dir, "absent"), filepath.Join(dir, "b"), true); err == nil {
		t.Error("what is not there gets a name")
	}
	if list := names(t, dir); !slices.Equal(list, []string{"taken"}) {
		t.Errorf("%q is left", list)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	part := func(name string) string { return filepath.Base(Part(filepath.Join(dir, name))) }
	others := []string{part("a.b"), part("c")}
	stay := []string{"a.1.part", ".a.x.part", ".a.1.part", part("a") + "2", ".part", "..part", ".4.part", strings.TrimPrefix(part("a"), ".")}
	for _, name := range slices.Concat([]string{part("a")}, others, stay) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	others = append(others, part("c"))
	for _, name := range []string{part("a"), others[2]} {
		if err := os.MkdirAll(filepath.Join(dir, name, "within"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	live, err := Create(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := CreateDir(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder.Name(), "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at, in := filepath.Base(live.Name()), filepath.Base(folder.Name())
	for _, c := range []struct {
		name string
		want []string
	}{{filepath.Join(dir, "a"), slices.Concat(others, stay, []string{at, in})}, {dir + string(filepath.Separator), append(stay, at, in)}} {
		if err := Sweep(c.name); err != nil {
			t.Fatal(err)
		}
		slices.Sort(c.want)
		if list := names(t, dir); !slices.Equal(list, c.want) {
			t.Errorf("%s: %q, want %q", c.name, list, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder.Name(), "x")); err != nil {
		t.Errorf("a directory that is in use was swept: %v", err)
	}
	if err := folder.Remove(); err != nil || slices.Contains(names(t, dir), in) {
		t.Errorf("%q: %v", names(t, dir), err)
	}
	if err := live.Commit(filepath.Join(dir, "z"), false); err != nil {
		t.Errorf("a file that is being written was swept: %v", err)
	}
	if err := Sweep(filepath.Join(dir, "none", "a")); err == nil {
		t.Error("a directory that is not there is swept")
	}
}

// Another host may share the directory, and not the locks in it. What an earlier boot of this host
// has left is swept, too.
func TestSweepOfAnotherHost(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	own := here
	defer func() { here = own }()
	me := own()
	for _, c := range []struct {
		machine
		changed time.Time
		stays   bool
	}{
		{machine{"07e407", "000b01", time.Time{}}, time.Now(), true},
		{machine{"a7e0a7", me.boot, time.Time{}}, me.since.Add(-time.Hour), true},
		{machine{me.host, "000b01", time.Time{}}, time.Now(), true},
		{machine{me.host, "000b01", time.Time{}}, me.since.Add(-time.Hour), false},
		{me, time.Now(), false},
	} {
		here = func() machine { return c.machine }
		part := Part(name)
		if err := os.WriteFile(part, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(part, c.changed, c.changed); err != nil {
			t.Fatal(err)
		}
		here = own
		if err := Sweep(name); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(part); (err == nil) != c.stays {
			t.Errorf("%v, changed at %v: %v, want it to stay: %v", c.machine, c.changed, err, c.stays)
		}
		os.Remove(part)
	}
}

// Sweep does not remove the files that other processes are writing.
func TestSweepWhileOthersWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				if err := Sweep(name); err != nil {
					t.Error(err)
				}
				if err := Write(name, true, text("whole")); err != nil {
					t.Error(err)
				}
				if d, err := CreateDir(name); err != nil {
					t.Error(err)
				} else if err := os.WriteFile(filepath.Join(d.Name(), "x"), nil, 0o600); err != nil {
					t.Error(err)
				} else if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got, err := os.ReadFile(name); err != nil || string(got) != "whole" || len(names(t, dir)) != 1 {
		t.Errorf("%q, %q: %v", got, names(t, dir), err)
	}
}

// A device and a pipe are written in place, and never replaced.
func TestDevicesStay(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "pipe")
	if err := posix.Mkfifo(t, name, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := WriteFile(name, false, []byte("text")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "text" {
		t.Errorf("%q: %v", got, err)
	}
	if f, err := Create(name); err == nil {
		f.Discard()
		t.Error("a file takes the place of a pipe")
	}
	if list := names(t, dir); !slices.Equal(list, []string{"pipe"}) {
		t.Errorf("%q is left", list)
	}
}

// A file that is lent is read under the other name, and stays when that is removed. Exact.
func TestLend(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Lend(file, other); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Remove(other); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
