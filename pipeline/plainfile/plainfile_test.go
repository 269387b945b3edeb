package plainfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/testdata/posix"
)

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	name, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	write(t, name, "seven b")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{name, link} {
		if b, err := Read(n, 7); err != nil || string(b) != "seven b" {
			t.Errorf("%s: %q, %v", n, b, err)
		}
	}
}

func TestSHA256(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	write(t, name, "abc") // FIPS 180-4's example
	f, err := Open(name, Unlimited)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got, err := f.SHA256(ctx); got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	cancel()
	if _, err := f.SHA256(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// No refusal blocks, although nobody writes into the pipe.
func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, in("large"), "eight by")
	if err := posix.Mkfifo(t, in("pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", in("link")); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for name, want := range map[string]string{
		in("large"):  "has 8 bytes; at most 7 are read",
		in("pipe"):   "is a pipe",
		in("link"):   "is a pipe",
		in("socket"): "is a device or a socket",
		in("none"):   "no such file",
		dir:          "is a directory; name a file",
		"/dev/zero":  "is a device or a socket",
	} {
		_, err := Read(name, 7)
		if e := (*fs.PathError)(nil); err == nil || !errors.As(err, &e) || e.Path != name || !strings.HasPrefix(err.Error(), "open "+name+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := Read(in("none"), 7); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A file that grows while it is read ends where it ended when it was opened.
func TestGrowth(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	write(t, name, "abc")
	f, err := Open(name, Unlimited)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write(t, name, "abcdef")
	b := make([]byte, 9)
	if n, _ := f.Read(b); string(b[:n]) != "abc" {
		t.Errorf("%q", b[:n])
	}
}

// Some editors put a byte order mark before a text in UTF-8; no reader sees it.
func TestByteOrderMark(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list.txt")
	for content, want := range map[string]string{"\uFEFF12 gap\r\n": "12 gap\r\n", "\uFEFF": "", "\xEF\xBB": "\xEF\xBB", "a\uFEFF": "a\uFEFF"} {
		write(t, name, content)
		if b, err := Read(name, 100); err != nil || string(b) != want {
			t.Errorf("%q is read as %q, %v", content, b, err)
		}
		f, err := Open(name, 100)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(f); err != nil || string(b) != content {
			t.Errorf("%q, which may be no text, is read as %q, %v", content, b, err)
		}
		f.Close()
	}
}
