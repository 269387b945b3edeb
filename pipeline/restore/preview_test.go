package restore

import (
	"context"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline/fault"
)

// previewed opens a preview of a clip, and returns the frames that its restoration by a list writes.
func previewed(t *testing.T, input string, list []Finding) (p *Preview, written []*frame.Frame) {
	t.Helper()
	o := options(t, input)
	o.Damage = list
	mustRun(t, o)
	written, _ = readAll(t, o.Convert.Output.File)
	p, err := OpenPreview(context.Background(), options(t, input))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, written
}

// A preview shows the frames that a restoration makes, bit for bit, with the methods that the list chooses.
func TestPreview(t *testing.T) {
	const width, height, count = 97, 61, 20
	input := blacken(t, writeScene(t, width, height, count), width, height, 3, 9, 10, 15)
	found, err := ParseList(strings.NewReader("3 black 1 0 method=nearest\n9-10 black\n12 gap 1 0.5 insert=2\n15 listed 1 0.6 region=8,8,32,32 method=source\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, want := previewed(t, input, found)
	same := func(n int64, inserted, out int) {
		t.Helper()
		f, err := p.Frame(context.Background(), found, n, inserted)
		if err != nil {
			t.Fatalf("frame %d: %v", n, err)
		}
		defer f.Release()
		if !frame.Equal(f, want[out]) {
			t.Errorf("frame %d, inserted %d, is not frame %d of the output: %.1f dB", n, inserted, out, psnr(f, want[out]))
		}
	}
	for _, c := range [][3]int{{3, 0, 3}, {9, 0, 9}, {10, 0, 10}, {12, 0, 12}, {12, 1, 13}, {12, 2, 14}, {13, 0, 15}, {15, 0, 17}, {0, 0, 0}, {19, 0, 21}} {
		same(int64(c[0]), c[1], c[2])
	}
	source, err := p.Source(context.Background(), 9)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Release()
	if frame.Samples[uint8](source.Planes[0]).Row(5)[5] != 16 {
		t.Error("the source's frame is not as it is")
	}
	if _, err := p.Source(context.Background(), 20); err == nil {
		t.Error("there is a frame 20")
	}
	for _, c := range [][2]int{{-1, 0}, {20, 0}, {9, 1}, {12, 3}, {12, -1}} { // damaged, and with two frames after it
		if _, err := p.Frame(context.Background(), found, int64(c[0]), c[1]); fault.KindOf(err) != fault.Usage {
			t.Errorf("frame %d, inserted %d: %v", c[0], c[1], err)
		}
	}
	for _, line := range []string{"20 black", "3.t black", "19 gap 1 0 insert=1", "3 black 1 0 region=97,0,8,8", "3 black 1 0 region=0,61,8,8"} {
		wrong, err := ParseList(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		_, resolved := p.Resolve(wrong[0])
		if _, err := p.Frame(context.Background(), wrong, 3, 0); err == nil || resolved == nil || err.Error() != resolved.Error() {
			t.Errorf("%s: Resolve says %v, Frame %v", line, resolved, err)
		}
	}
}

// A list chooses how frames are made, and says so when it is written.
func TestListChoosesMethods(t *testing.T) {
	input := blacken(t, writeScene(t, 64, 48, 8), 64, 48, 3)
	made := map[string]*frame.Frame{}
	for _, method := range []string{"interpolated", "blend", "nearest", "source"} {
		found, err := ParseList(strings.NewReader("3 black method=" + method))
		if err != nil {
			t.Fatal(err)
		}
		if line := found[0].String(); !strings.HasSuffix(line, "method="+method) {
			t.Errorf("the line is %q", line)
		}
		o := options(t, input)
		o.Damage = found
		mustRun(t, o)
		list, _ := readAll(t, o.Convert.Output.File)
		made[method] = list[3]
		if method == "source" && !frame.Equal(list[3], list[2]) {
			t.Error("source is not the frame before")
		}
	}
	if frame.Equal(made["interpolated"], made["nearest"]) || frame.Equal(made["nearest"], made["source"]) {
		t.Error("the methods make the same frame")
	}
	if _, err := ParseList(strings.NewReader("3 black method=motion")); err == nil || !strings.Contains(err.Error(), "nearest") {
		t.Errorf("another method: %v", err)
	}
}

// A preview of interlaced frames shows the woven frames that a restoration makes, bit for bit: of both fields, of
// either, of regions, in either order, next to inserted frames and at the ends.
func TestPreviewOfFields(t *testing.T) {
	for _, order := range []string{"tff", "bff"} {
		t.Run(order, func(t *testing.T) {
			input := weaveScene(t, 26, order, pal, "drawbox=t=fill:c=black:enable='between(n,18,19)+eq(n,28)',", coding{"mkv", "ffv1", "yuv420p"})
			found, err := ParseList(strings.NewReader("0.t black 1 0\n9 black\n12.t listed method=blend\n14.b black method=nearest\n" +
				"15.t-16.t listed region=8,8,32,32\n20 gap 1 0.5 insert=2\n25 listed\n"))
			if err != nil {
				t.Fatal(err)
			}
			p, want := previewed(t, input, found)
			for _, c := range [][3]int{{0, 0, 0}, {1, 0, 1}, {6, 0, 6}, {9, 0, 9}, {12, 0, 12}, {14, 0, 14}, {15, 0, 15}, {16, 0, 16}, {20, 0, 20}, {20, 1, 21}, {20, 2, 22}, {21, 0, 23}, {25, 0, 27}} {
				f, err := p.Frame(context.Background(), found, int64(c[0]), c[1])
				if err != nil {
					t.Fatalf("frame %d, inserted %d: %v", c[0], c[1], err)
				}
				if !frame.Equal(f, want[c[2]]) {
					t.Errorf("frame %d, inserted %d, is not frame %d of the output: %.1f dB", c[0], c[1], c[2], psnr(f, want[c[2]]))
				}
				f.Release()
			}
		})
	}
}
