package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// What appears under a name while a file is written stays, whatever the file system can do.
func TestWhatAppearsIsNotReplaced(t *testing.T) {
	refuse := func(err error) func(from, to string) error { return func(_, _ string) error { return err } }
	whole := renameNew
	defer func(l func(from, to string) error) { renameNew, link = whole, l }(link)
	for how, with := range map[string][2]func(from, to string) error{
		"renameat2": {whole, refuse(syscall.EPERM)},
		"link":      {refuse(syscall.EINVAL), os.Link},
		"neither":   {refuse(syscall.ENOSYS), refuse(syscall.EPERM)},
	} {
		renameNew, link = with[0], with[1]
		dir := t.TempDir()
		name, spare := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		f, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("ours"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("theirs"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(name, false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v, want fs.ErrExist", how, err)
		}
		if err := f.Commit(spare, false); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		for _, err := range []error{WriteFile(name, false, []byte("more")), Rename(spare, name, false)} {
			if !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: %v, want fs.ErrExist", how, err)
			}
		}
		if list := names(t, dir); !slices.Equal(list, []string{"a", "b"}) {
			t.Errorf("%s: %q are there", how, list)
		}
		for n, want := range map[string]string{name: "theirs", spare: "ours"} {
			if got, err := os.ReadFile(n); err != nil || string(got) != want {
				t.Errorf("%s: %s holds %q: %v", how, n, got, err)
			}
		}
		if err := Rename(spare, name, true); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// Of many writers that may not overwrite, one wins.
func TestOneWins(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	var won atomic.Int32
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if err := Write(name, false, text("whole")); err == nil {
				won.Add(1)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d have written the file", won.Load())
	}
}

// A link that a user names stays a link, and its file is written, even in another directory.
func TestLinksStay(t *testing.T) {
	dir := t.TempDir()
	far := filepath.Join(dir, "far")
	if err := os.Mkdir(far, 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"to": "far/file", "twice": "to", "away": far + "/new", "up": "far/../top", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(far, "file"), []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	for link, file := range map[string]string{"to": "far/file", "twice": "far/file", "away": "far/new", "up": "top"} {
		link := filepath.Join(dir, link)
		if err := WriteFile(link, file == "far/new" || file == "far/file", []byte(link)); err != nil {
			t.Error(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != link {
			t.Errorf("%s: %q, %v", file, got, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", link, err)
		}
		if err := WriteFile(link, false, nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v, want fs.ErrExist", link, err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "loop"), true, nil); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("%v, want ELOOP", err)
	}
	// A name that nobody chose leads nowhere else.
	if err := ReplaceFile(filepath.Join(dir, "to"), []byte("own")); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "to")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

// Descriptors have links in /proc, which need not be names.
func TestDescriptors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	link := func(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
	if got, err := Follow(link(f)); err != nil || got != name {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Follow(link(w)); err != nil || got != link(w) {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if got, err := Follow(link(f)); err == nil {
		t.Errorf("%q, want an error", got)
	}
}
