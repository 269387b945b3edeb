package media

import (
	"os"
	"path/filepath"
	"testing"

	"retime/pipeline/fault"
)

// filesIn makes a directory with files of these names in it.
func filesIn(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOverlap(t *testing.T) {
	dir := filesIn(t, "a.mkv", "001.png", "002.png", "3.png")
	for from, to := range map[string]string{"link.mkv": "a.mkv", "there": ".", "picture.png": "002.png", "null": "/dev/null"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "a.mkv"), filepath.Join(dir, "hard.mkv")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a.mkv", "a.mkv", true},
		{"a.mkv", "link.mkv", true},
		{"a.mkv", "hard.mkv", true},
		{"a.mkv", "there/a.mkv", true},
		{"a.mkv", "b.mkv", false},
		{"new.mkv", "new.mkv", true},
		{"new.mkv", "there/../there/new.mkv", true},
		{"new.mkv", "other.mkv", false},
		{"none/new.mkv", "none/./new.mkv", true},
		{"new%03d.png", "there/new%03d.png", true},
		{"%03d.png", "there/%03d.png", true},
		{"%03d.png", "%d.png", false},
		{"picture.png", "%03d.png", true},
		{"/dev/null", "/dev/null", false},
		{"/dev/null", "null", false},
		{"there", "there", false},
		{"*.mp4", "a.mkv", false},
		{"?.mkv", "a.mkv", false}, // a name like any other
	} {
		at := func(name string) string {
			if filepath.IsAbs(name) {
				return name
			}
			return dir + "/" + name
		}
		for _, swapped := range []bool{false, true} {
			a, b := c.a, c.b
			if swapped {
				a, b = b, a
			}
			if got := Overlap(at(a), at(b)); got != c.want {
				t.Errorf("%q and %q: %v", a, b, got)
			}
		}
	}
	for _, c := range []struct {
		name, input string
		want        bool
	}{
		{"%03d.png", "there/00?.png", true},
		{"%03d.png", "*.png", true},
		{"%d.png", "00*.png", false},
		{"001.png", "*.png", true},
		{"*.png", "001.png", false},
		{"?.mkv", "a.mkv", false},
		{"picture.png", "%03d.png", true},
		{"hard.mkv", "a.mkv", true},
	} {
		if got := Overwrites(filepath.Join(dir, c.name), filepath.Join(dir, c.input)); got != c.want {
			t.Errorf("%q overwrites %q: %v", c.name, c.input, got)
		}
	}
}

// Pictures of the input are never overwritten, by whatever names the two go.
func TestOutputsKeepThePicturesOfTheInput(t *testing.T) {
	dir := filesIn(t, "001.png", "002.png", "7.png")
	for _, c := range []struct {
		name, source string
		want         fault.Kind
	}{
		{"%03d.png", "%03d.png", fault.Usage},
		{"%03d.png", "*.png", fault.Usage},
		{"%03d.png", "002.png", fault.Usage},
		{"002.png", "%03d.png", fault.Usage},
		{"002.png", "00?.png", fault.Usage},
		{"%d.png", "%03d.png", 0},
		{"7.png", "%03d.png", 0},
	} {
		target, err := newTarget(filepath.Join(dir, c.name), filepath.Join(dir, c.source), &WriterOptions{Overwrite: true})
		if err == nil {
			target.discard()
		}
		if (err == nil) != (c.want == 0) || err != nil && fault.KindOf(err) != c.want {
			t.Errorf("%q from %q: %v", c.name, c.source, err)
		}
	}
}
