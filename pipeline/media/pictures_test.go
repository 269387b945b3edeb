package media

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
