package media

import (
	"errors"
	"io"
	"math/big"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline/fault"
)

var gray = frame.Format{Name: "gray", Depth: 8, Planes: 1}

// grayFrame returns a frame of one level that no decoder has made, so it has no FFmpeg
// frame.
func grayFrame(width, height int, level uint8) *frame.Frame {
	f := frame.New(gray, width, height)
	m := frame.Samples[uint8](f.Planes[0])
	for y := range m.Height {
		row := m.Row(y)
		for x := range row {
			row[x] = level
		}
	}
	return f
}

func grayVideo(width, height int) Video {
	return Video{Format: gray, Width: width, Height: height, TimeBase: big.NewRat(1, 25)}
}

func TestFilterPassesFrames(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {17, 9}, {64, 48}, {129, 5}} {
		f, err := NewFilter("[in0]negate[out]", 1, grayVideo(size[0], size[1]), 1)
		if err != nil {
			t.Fatal(err)
		}
		if f.TimeBase().Cmp(big.NewRat(1, 25)) != 0 {
			t.Errorf("time base %s, want 1/25", f.TimeBase())
		}
		for i := range 3 {
			in := grayFrame(size[0], size[1], uint8(50+i))
			if err := f.Send(0, in, int64(10*i)); err != nil {
				t.Fatal(err)
			}
			in.Release()
			out, err := f.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if out.PTS != int64(10*i) || out.Width != size[0] || out.Height != size[1] || out.Format != gray {
				t.Errorf("%v: got %dx%d %s at %d", size, out.Width, out.Height, out.Format, out.PTS)
			}
			m := frame.Samples[uint8](out.Planes[0])
			for y := range m.Height {
				for x, v := range m.Row(y) {
					if v != uint8(205-i) {
						t.Fatalf("%v: frame %d has %d at %d, %d; want %d", size, i, v, x, y, 205-i)
					}
				}
			}
			// A frame that Receive returns is an FFmpeg frame, which Send does not copy.
			if err := f.Send(0, out, int64(10*i+5)); err != nil {
				t.Fatal(err)
			}
			out.Release()
			again, err := f.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if v := again.Planes[0].Pix[0]; v != uint8(50+i) {
				t.Errorf("%v: negated twice, %d became %d", size, 50+i, v)
			}
			again.Release()
		}
		if _, err := f.Receive(); !errors.Is(err, ErrMore) {
			t.Errorf("without input: %v, want ErrMore", err)
		}
		if err := f.End(0); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Receive(); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v, want EOF", err)
		}
		f.Close()
	}
}

func TestFilterOfTwoInputsNotesMetadata(t *testing.T) {
	f, err := NewFilter("[in0][in1]psnr[out]", 2, grayVideo(32, 16), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, level := range []uint8{100, 103} {
		if err := f.Send(i, grayFrame(32, 16, level), 7); err != nil {
			t.Fatal(err)
		}
	}
	out, err := f.Receive()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	if v, ok := Metadata(out, "lavfi.psnr.mse_avg"); !ok || !strings.HasPrefix(v, "9.0") {
		t.Errorf("mean squared error %q, want 9", v)
	}
	if v, ok := Metadata(out, "lavfi.nothing"); ok {
		t.Errorf("a key that nobody set is %q", v)
	}
	if _, ok := Metadata(grayFrame(8, 8, 0), "lavfi.psnr.mse_avg"); ok {
		t.Error("a frame that no filter has seen has metadata")
	}
}

func TestFilterFaults(t *testing.T) {
	for _, description := range []string{"[in0]nosuchfilter[out]", "[in0]scale=w=magic[out]", "[in0]negate[elsewhere]", ""} {
		if f, err := NewFilter(description, 1, grayVideo(16, 16), 1); err == nil {
			f.Close()
			t.Errorf("%q is taken", description)
		} else if fault.KindOf(err) != fault.Usage || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: kind %d, %q; want one line and kind %d", description, fault.KindOf(err), err, fault.Usage)
		}
	}
	f, err := NewFilter("[in0]format=rgb24[out]", 1, grayVideo(16, 16), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Send(0, grayFrame(16, 15, 0), 0); err == nil || !strings.Contains(err.Error(), "16x15") {
		t.Errorf("a frame of another size: %v", err)
	}
	if err := f.Send(0, grayFrame(16, 16, 0), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Receive(); err == nil || !strings.Contains(err.Error(), "rgb24") {
		t.Errorf("packed output: %v", err)
	}
}
