package media

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

// pictureFiles writes numbered pictures and returns their pattern.
func pictureFiles(t *testing.T, count int) (pattern string) {
	t.Helper()
	pattern = filepath.Join(t.TempDir(), "f%03d.png")
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "color=s=16x16", "-frames:v", fmt.Sprint(count), pattern)
	return pattern
}

// A picture that becomes unreadable after the sequence was opened does not end it
// silently.
func TestSequenceThatChanges(t *testing.T) {
	const count, spoiled = 160, 150 // FFmpeg's probe reads fewer
	for name, spoil := range map[string]func(file string) error{
		"emptied": func(file string) error { return os.Truncate(file, 0) },
		"removed": os.Remove,
	} {
		for how, drain := range drainings {
			pattern := pictureFiles(t, count)
			r, err := Open(t.Context(), pattern, ReaderOptions{Packets: how == "NextPacket", Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(fmt.Sprintf(pattern, spoiled)); err != nil {
				t.Fatal(err)
			}
			err = drain(r)
			reports := how == "Read" || how == "NextPacket" // the others leave it to Intact
			if reports && fault.KindOf(err) != fault.BadData || !reports && err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if name == "emptied" && reports && !strings.Contains(fmt.Sprint(err), "f150.png is empty, and 10 pictures come after it") {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if r.Intact() {
				t.Errorf("%s, %s: the input counts as whole", name, how)
			}
			r.Close()
		}
	}
}

// A pattern takes only the names that it would give.
func TestSequenceNumbers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1.png", "01.png", "2.png", "003.png", "3.png", "x4.png", "10.png", "0010.png"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{"%d.png": "[1 2 3 10]", "%02d.png": "[1 10]", "%03d.png": "[3]", "%04d.png": "[10]", "x%d.png": "[4]", "1.png": "[]", "%d.jpg": "[]"} {
		if got := fmt.Sprint(SequenceNumbers(filepath.Join(dir, pattern))); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}

// A glob's files come in the order of their numbers, whatever else their names hold.
func TestGlob(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a2.png", "a10.png", "a1.png", "b.png", "a10b.png", "c.jpg", "[x].png"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, want string
		kind       fault.Kind
	}{
		{"a*.png", "[{1 a1.png} {2 a2.png} {3 a10.png} {4 a10b.png}]", 0},
		{"?.png", "[{1 b.png}]", 0},
		{"[ab].png", "[{1 b.png}]", 0},
		{"[x].png", "[]", 0}, // a file's own name
		{"*", "", fault.Usage},
		{"*.gif", "", fault.NoInput},
		{"[", "", fault.Usage},
		{"b.png", "[]", 0},
	} {
		list, err := pictures(filepath.Join(dir, c.name))
		for i := range list {
			list[i].file = filepath.Base(list[i].file)
		}
		if (err != nil) != (c.kind != 0) || err != nil && fault.KindOf(err) != c.kind || err == nil && fmt.Sprint(list) != c.want {
			t.Errorf("%s: %v, %v", c.name, list, err)
		}
	}
}

// Who names a directory or one picture learns the pattern.
func TestSequenceHints(t *testing.T) {
	pattern := pictureFiles(t, 12)
	dir := filepath.Dir(pattern)
	for _, name := range []string{"other7.png", "text1.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(t.Context(), dir, ReaderOptions{}); fault.KindOf(err) != fault.NoInput || !strings.Contains(err.Error(), strconv.Quote(pattern)) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Open(t.Context(), t.TempDir(), ReaderOptions{}); fault.KindOf(err) != fault.NoInput || strings.Contains(err.Error(), "%") {
		t.Errorf("an empty directory: %v", err)
	}
	for name, hint := range map[string]bool{fmt.Sprintf(pattern, 5): true, pattern: false, filepath.Join(dir, "f*.png"): false} {
		var said strings.Builder
		r, err := Open(t.Context(), name, ReaderOptions{Log: slog.New(slog.NewTextHandler(&said, nil))})
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		if strings.Contains(said.String(), "pattern="+pattern+" pictures=12") != hint {
			t.Errorf("%s: said %q", name, said.String())
		}
	}
	for _, c := range []struct{ width, count int }{{1, 12}, {3, 101}} {
		dir := t.TempDir()
		for n := range c.count {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%0*d.png", c.width, n)), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := map[int]string{1: "%d.png", 3: "%03d.png"}[c.width]
		if got := SequenceIn(dir); got != filepath.Join(dir, want) {
			t.Errorf("%d files: %s, want %s", c.count, got, want)
		}
	}
}

// The longest sequence among others is found in one walk over the directory.
func TestSequenceAmongMany(t *testing.T) {
	dir := t.TempDir()
	write := func(form string, first, last int) {
		for n := first; n <= last; n++ {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf(form, n)), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	const hashes = 200
	for n := range hashes {
		write(fmt.Sprintf("%04xf%%d.png", n*7919%65536), n, n)
	}
	write("a%02d.png", 95, 104) // ten: those of three digits belong to it
	write("b%d.png", 1, 9)
	write("b%d.JPG", 10, 17)
	write("c%%%d.png", 1, 30) // FFmpeg takes no other % in a pattern
	want := filepath.Join(dir, "a%02d.png")
	allocations := testing.AllocsPerRun(1, func() {
		if got := SequenceIn(dir); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	if allocations > 20*hashes {
		t.Errorf("%v allocations for %d files", allocations, hashes)
	}
}
