package still

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

func TestOutput(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.pgm"), filepath.Join(dir, "out.pgm")
	p := random(1, 4, 4, 1, 255)
	if err := os.WriteFile(in, encode(t, in, p), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(name, source string, overwrite bool, want fault.Kind) *Output {
		t.Helper()
		o, err := NewOutput(name, source, overwrite)
		if (err == nil) != (want == 0) || err != nil && fault.KindOf(err) != want {
			t.Errorf("output %s from %s: %v, want kind %d", name, source, err, want)
		}
		return o
	}
	check("", in, false, fault.Usage)
	check(filepath.Join(dir, "out"), in, false, fault.Usage)
	check(filepath.Join(dir, "out.jpg"), in, false, fault.Usage)
	check(in, in, true, fault.Usage)
	check(in, "", false, fault.CannotWrite)
	check(filepath.Join(dir, "none", "out.pgm"), in, false, fault.CannotWrite)
	check(filepath.Join(in, "out.pgm"), in, false, fault.CannotWrite)
	o := check(out, in, false, 0)
	if err := os.WriteFile(atomicfile.Part(out), nil, 0o600); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if err := o.Write(p); err != nil {
		t.Fatal(err)
	}
	got, err := Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := same(got, p); err != nil {
		t.Error(err)
	}
	check(out, in, false, fault.CannotWrite)
	check(out, in, true, 0)
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("%d files are left, want the input and the output", len(files))
	}
	if err := check(filepath.Join(dir, "b.PNG"), in, false, 0).Write(random(1, 2, 2, 1, 0)); fault.KindOf(err) != fault.Usage {
		t.Errorf("floats as PNG: %v", err)
	}
	for ext, p := range map[string]*Picture{
		".pgm": random(1, 2, 2, 3, 255), ".ppm": random(1, 2, 2, 1, 255), ".pnm": random(1, 2, 2, 4, 255),
		".npy": random(1, 2, 2, 3, 255), ".pfm": random(1, 2, 2, 4, 255),
	} {
		if err := check(filepath.Join(dir, "c"+ext), in, false, 0).Check(p); fault.KindOf(err) != fault.Usage {
			t.Errorf("%s with %d channels: %v", ext, len(p.Channels), err)
		}
	}
}

// TestWriteFails checks that a failed Write leaves nothing behind.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.pfm")
	o, err := NewOutput(name, "", false)
	if err != nil {
		t.Fatal(err)
	}
	p := random(1, 2, 2, 1, 0)
	p.Channels[0].Pix[2] = math.Inf(1)
	if err := o.Write(p); fault.KindOf(err) != fault.CannotWrite {
		t.Errorf("an infinite sample: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%s was left behind", files[0].Name())
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		link := filepath.Join(dir, "full.pgm")
		if err := os.Symlink("/dev/full", link); err != nil {
			t.Fatal(err)
		}
		if o, err = NewOutput(link, "", false); err != nil {
			t.Fatal(err)
		}
		if err := o.Write(random(1, 9, 9, 1, 255)); fault.KindOf(err) != fault.CannotWrite {
			t.Errorf("a full device: %v", err)
		}
	}
}
