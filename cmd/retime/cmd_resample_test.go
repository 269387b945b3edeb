package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/cmd/internal/still"
	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp/bspline"
)

// resample runs retime resample in this process and returns its error.
func resample(args ...string) (stdout string, err error) {
	cmd := newRootCommand()
	var out bytes.Buffer
	cmd.SetArgs(append([]string{"resample"}, args...))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	err = cmd.ExecuteContext(context.Background())
	return out.String(), err
}

func mustResample(t *testing.T, args ...string) {
	t.Helper()
	if _, err := resample(args...); err != nil {
		t.Fatalf("retime resample %s: %v", strings.Join(args, " "), err)
	}
}

// picture writes a random picture of whole samples, or of floats if limit is 0, and
// returns it as the file stores it.
func picture(t *testing.T, name string, width, height, channels, limit int) *still.Picture {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(width), uint64(limit)))
	p := &still.Picture{Max: limit, FloatBits: 32}
	for range channels {
		m := frame.NewImage[float64](width, height)
		for i := range m.Pix {
			if limit > 0 {
				m.Pix[i] = float64(r.IntN(limit + 1))
			} else {
				m.Pix[i] = float64(float32(r.NormFloat64()))
			}
		}
		p.Channels = append(p.Channels, m)
	}
	o, err := still.NewOutput(name, "", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Write(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func mustRead(t *testing.T, name string) *still.Picture {
	t.Helper()
	p, err := still.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sameFiles(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// compare calls want for every sample of a picture.
func compare(t *testing.T, got *still.Picture, tolerance float64, want func(c, x, y int) float64) {
	t.Helper()
	for c, m := range got.Channels {
		for y := range m.Height {
			for x, v := range m.Row(y) {
				if w := want(c, x, y); !(math.Abs(v-w) <= tolerance) {
					t.Fatalf("sample (%d, %d) of channel %d is %v, want %v", x, y, c, v, w)
				}
			}
		}
	}
}

func orders() (names []string) {
	for o := bspline.CatmullRom; o <= bspline.MaxOrder; o++ {
		names = append(names, o.String())
	}
	return names
}

var boundaries = []bspline.Boundary{bspline.HalfSymmetric, bspline.WholeSymmetric, bspline.Periodic, bspline.Constant}

// TestResampleIdentity resamples whole samples in place: the error of the prefilter is
// below half a step, so that they come back exactly.
func TestResampleIdentity(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		ext             string
		channels, limit int
	}{
		{".pgm", 1, 1}, {".pgm", 1, 255}, {".pgm", 1, 1023}, {".pgm", 1, 65535}, {".ppm", 3, 255}, {".ppm", 3, 65535},
		{".png", 1, 255}, {".png", 3, 65535}, {".png", 4, 255}, {".png", 4, 65535}, {".tif", 1, 65535}, {".tiff", 3, 255}, {".tif", 4, 255},
	} {
		in, out := filepath.Join(dir, "in"+c.ext), filepath.Join(dir, "out"+c.ext)
		picture(t, in, 23, 17, c.channels, c.limit)
		check := func(args ...string) {
			t.Helper()
			mustResample(t, append([]string{in, "-o", out, "-y", "--shift", "0,0"}, args...)...)
			if !sameFiles(t, in, out) {
				t.Errorf("%s of %d channels up to %d: %v changed it", c.ext, c.channels, c.limit, args)
			}
		}
		check()
		if c.ext == ".ppm" {
			for _, order := range orders() {
				for _, b := range boundaries {
					check("--order", order, "--boundary", b.String())
				}
			}
		}
		if c.limit <= 255 {
			check("--order", "11", "--dtype", "float32")
		}
	}
	text := filepath.Join(dir, "text.pgm")
	if err := os.WriteFile(text, []byte("P2\n3 2\n9\n1 2 3 4 5 6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.pgm")
	mustResample(t, text, "-o", out, "-y", "--shift", "0,0")
	if got, _ := os.ReadFile(out); string(got) != "P2\n3 2\n9\n1 2 3 4 5 6\n" {
		t.Errorf("P2 came back as %q", got)
	}
}

// TestResampleWorkers compares numbers of threads, whose results are equal, and types
// of arithmetic, whose results agree within their precision.
func TestResampleWorkers(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.pfm")
	picture(t, in, 131, 90, 3, 0)
	args := []string{in, "-y", "--rotate", "17", "--order", "5", "-o"}
	one := filepath.Join(dir, "1.pfm")
	mustResample(t, append(args, one, "--threads", "1")...)
	for _, n := range []string{"2", "8"} {
		out := filepath.Join(dir, n+".pfm")
		mustResample(t, append(args, out, "--threads", n)...)
		if !sameFiles(t, one, out) {
			t.Errorf("%s threads make another picture than one", n)
		}
	}
	single := filepath.Join(dir, "single.pfm")
	mustResample(t, append(args, single, "--dtype", "float32")...)
	want := mustRead(t, one)
	compare(t, mustRead(t, single), 1e-4, func(c, x, y int) float64 { return want.Channels[c].Row(y)[x] })
}

func TestResampleErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, data string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	in, floats, out := filepath.Join(dir, "in.pgm"), filepath.Join(dir, "in.npy"), filepath.Join(dir, "out.pgm")
	picture(t, in, 8, 8, 1, 255)
	picture(t, floats, 8, 8, 1, 0)
	bits, err := os.ReadFile(floats)
	if err != nil {
		t.Fatal(err)
	}
	nan := append([]byte(nil), bits...)
	copy(nan[len(nan)-4:], "\x00\x00\xc0\x7f")
	infinite := append([]byte(nil), bits...)
	copy(infinite[len(infinite)-4*9:], "\x00\x00\x80\xff")
	short := file("short.pgm", "P5 9 9 255 abc")
	huge := file("huge.pgm", "P5 99999 99999 255 ")
	empty := file("empty.pgm", "P5 0 9 255 ")
	flo := file("bad.flo", "PIEH\x02\x00\x00\x00\x02\x00\x00\x00")
	var small bytes.Buffer
	if err := flow.WriteFlo(&small, flow.NewField(2, 3)); err != nil {
		t.Fatal(err)
	}
	goodFlo := file("good.flo", small.String())
	npy := filepath.Join(dir, "out.npy")
	for _, c := range []struct {
		args string
		kind fault.Kind
		want string
	}{
		{"", fault.Usage, "0 inputs"},
		{in + " " + in, fault.Usage, "2 inputs"},
		{in + " --shift 1,1", fault.Usage, "-o"},
		{in + " -o " + out, fault.Usage, "no transform"},
		{in + " -o " + out + " --shift 1", fault.Usage, "1 numbers, want 2"},
		{in + " -o " + out + " --shift 1,x", fault.Usage, `"x"`},
		{in + " -o " + out + " --shift 1,NaN", fault.Usage, "finite"},
		{in + " -o " + out + " --shift 1,1/0", fault.Usage, "finite"},
		{in + " -o " + out + " --zoom 0", fault.Usage, "zoom by 0"},
		{in + " -o " + out + " --zoom 2 --rotate 3", fault.Usage, "one transform"},
		{in + " -o " + out + " --zoom 2 --center 3", fault.Usage, "want 2"},
		{in + " -o " + out + " --rotate x", fault.Usage, `"x"`},
		{in + " -o " + out + " --shift 1,1 --affine 1,0,0,0,1,0", fault.Usage, "--shift and --affine"},
		{in + " -o " + out + " --shift 1,1 --center 1,1", fault.Usage, "--center"},
		{in + " -o " + out + " --affine 1,2,3,2,4,6", fault.Usage, "singular"},
		{in + " -o " + out + " --affine 1,2,3", fault.Usage, "want 6"},
		{in + " -o " + out + " --homography 1,2,3,4,5,6,7,8,9", fault.Usage, "singular"},
		{in + " -o " + out + " --homography 1,2,3", fault.Usage, "want 9"},
		{in + " -o " + out + " --shift 1,1 --order 17", fault.Usage, "0 to 16"},
		{in + " -o " + out + " --shift 1,1 --order -1", fault.Usage, "0 to 16"},
		{in + " -o " + out + " --shift 1,1 --order cubic", fault.Usage, "catmull-rom"},
		{in + " -o " + out + " --shift 1,1 --boundary mirror", fault.Usage, "half, whole"},
		{in + " -o " + out + " --shift 1,1 --outside white", fault.Usage, "extend or black"},
		{in + " -o " + out + " --shift 1,1 --outside black,black,black", fault.Usage, "extend or black"},
		{in + " -o " + out + " --shift 1,1 --precision 0", fault.Usage, "positive"},
		{in + " -o " + out + " --shift 1,1 --precision -1", fault.Usage, "positive"},
		{in + " -o " + out + " --shift 1,1 --precision NaN", fault.Usage, "positive"},
		{in + " -o " + out + " --shift 1,1 --dtype float16", fault.Usage, "float32 or float64"},
		{in + " -o " + out + " --shift 1,1 --size 0x5", fault.Usage, "640x480"},
		{in + " -o " + out + " --shift 1,1 --size 5", fault.Usage, "640x480"},
		{in + " -o " + out + " --shift 1,1 --size 100000x100000", fault.Usage, "limit"},
		{in + " -o " + out + " --shift 1,1 --threads -1", fault.Usage, "--threads"},
		{in + " -o " + out + " --shift 1,1 --nonsense", fault.Usage, "nonsense"},
		{in + " -o " + filepath.Join(dir, "out.jpg") + " --shift 1,1", fault.Usage, "extension"},
		{in + " -o " + filepath.Join(dir, "out.ppm") + " --shift 1,1", fault.Usage, ".pgm"},
		{floats + " -o " + out + " --shift 1,1", fault.Usage, ".npy"},
		{in + " -o " + in + " -y --shift 1,1", fault.Usage, "is the input"},
		{in + " -o " + out + " --flow " + goodFlo + " --size 8x8", fault.Usage, "2x3 vectors"},
		{in + " -o " + out + " --flow " + filepath.Join(dir, "none.flo"), fault.NoInput, "none.flo"},
		{in + " -o " + out + " --flow " + flo, fault.BadData, "EOF"},
		{filepath.Join(dir, "none.pgm") + " -o " + out + " --shift 1,1", fault.NoInput, "none.pgm"},
		{dir + " -o " + out + " --shift 1,1", fault.NoInput, "directory"},
		{short + " -o " + out + " --shift 1,1", fault.BadData, "3 of 81 samples"},
		{huge + " -o " + out + " --shift 1,1", fault.BadData, "limit"},
		{empty + " -o " + out + " --shift 1,1", fault.BadData, "0x9"},
		{"main.go -o " + out + " --shift 1,1", fault.BadData, "no picture"},
		{file("nan.npy", string(nan)) + " -o " + npy + " --shift 1,1", fault.BadData, "sample (7, 7) is NaN"},
		{file("inf.npy", string(infinite)) + " -o " + npy + " --shift 1,1", fault.BadData, "sample (7, 6) is -Inf"},
		{in + " -o " + in + "2.pgm/out.pgm --shift 1,1", fault.CannotWrite, "no such"},
		{in + " -o " + floats + " --shift 1,1", fault.CannotWrite, "-y"},
	} {
		_, err := resample(strings.Fields(c.args)...)
		if err == nil || fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("retime resample %s: %v, want one line of kind %d about %s", c.args, err, c.kind, c.want)
		}
	}
	for _, name := range []string{out, npy} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was left behind", name)
		}
	}
}

// TestResampleProgram runs the program itself.
func TestResampleProgram(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.png"), filepath.Join(dir, "out.png")
	picture(t, in, 30, 20, 3, 255)
	stdout, stderr, code := run(t, "resample", in, "-o", out, "--zoom", "2")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, fmt.Sprintf("%s: 30x20, RGB, 8 bit, order 3, ", out)) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	stdout, stderr, code = run(t, "resample", in, "-o", out, "-q", "--zoom", "2")
	if code != int(fault.CannotWrite) || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "-y") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// The kernels that are tensor products show what --order shows, for every boundary. A
// quasi-interpolant keeps what varies slowly.
func TestResampleKernels(t *testing.T) {
	dir := t.TempDir()
	in, a, b := filepath.Join(dir, "in.npy"), filepath.Join(dir, "a.npy"), filepath.Join(dir, "b.npy")
	picture(t, in, 19, 14, 1, 0)
	for _, boundary := range []string{"half", "whole", "periodic", "constant"} {
		for order, kernel := range []string{1: "linear", 2: "quadratic", 3: "cubic"} {
			if kernel == "" {
				continue
			}
			transform := []string{"--rotate", "30", "--boundary", boundary, "--precision", "1e-12", "-y"}
			mustResample(t, append(transform, in, "-o", a, "--order", fmt.Sprint(order))...)
			mustResample(t, append(transform, in, "-o", b, "--kernel", kernel)...)
			want, got := mustRead(t, a).Channels[0], mustRead(t, b).Channels[0]
			for i, v := range got.Pix {
				if math.Abs(v-want.Pix[i]) > 1e-6 {
					t.Fatalf("%s, %s: sample %d is %v, want %v", boundary, kernel, i, v, want.Pix[i])
				}
			}
		}
	}
	ramp := mustRead(t, in)
	for i := range ramp.Channels[0].Pix {
		ramp.Channels[0].Pix[i] = float64(i%19) + 2*float64(i/19)
	}
	out, err := still.NewOutput(in, "", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Write(ramp); err != nil {
		t.Fatal(err)
	}
	for _, kernel := range []string{"zp", "courant"} {
		mustResample(t, in, "-o", b, "-y", "--kernel", kernel, "--shift", "0.25,-0.5")
		got := mustRead(t, b).Channels[0]
		if v := got.Row(7)[9]; math.Abs(v-(8.75+15)) > 1e-5 {
			t.Errorf("%s: %v, want 23.75", kernel, v)
		}
	}
	for _, args := range [][]string{{"--kernel", "sinc"}, {"--kernel", "zp", "--order", "2"}} {
		if _, err := resample(append(args, in, "-o", b, "-y", "--shift", "1,1")...); fault.KindOf(err) != fault.Usage {
			t.Errorf("%v: error %v", args, err)
		}
	}
}
