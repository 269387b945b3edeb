package av

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// The package relies on the first field of astiav's types being the pointer to FFmpeg's
// struct.
func TestPointers(t *testing.T) {
	c := astiav.AllocCodecContext(astiav.FindEncoder(astiav.CodecIDFfv1))
	defer c.Free()
	c.SetWidth(321)
	p := astiav.AllocPacket()
	defer p.Free()
	p.SetPts(-7)
	f := astiav.AllocFrame()
	defer f.Free()
	f.SetHeight(123)
	k := astiav.AllocCodecParameters()
	defer k.Free()
	k.SetWidth(45)
	o, err := astiav.AllocOutputFormatContext(nil, "matroska", "a.mkv")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Free()
	s := o.NewStream(nil)
	s.SetTimeBase(astiav.NewRational(3, 7))
	if coder(c).width != 321 || packet(p).pts != -7 || raw(f).height != 123 || params(k).width != 45 || stream(s).time_base.den != 7 || context(o).nb_streams != 1 {
		t.Error("a type's first field is not its pointer")
	}
	ffv1 := astiav.FindEncoder(astiav.CodecIDFfv1)
	if astiav.CodecID(codec(ffv1).id) != astiav.CodecIDFfv1 || !HasOption(ffv1, "slicecrc") || HasOption(ffv1, "crf") {
		t.Error("FFV1's options are not its own")
	}
}

func TestPackets(t *testing.T) {
	p := astiav.AllocPacket()
	defer p.Free()
	for _, data := range [][]byte{{1, 2, 3}, nil, bytes.Repeat([]byte{9}, 5000)} {
		if err := FillPacket(p, data); err != nil || !bytes.Equal(p.Data(), data) {
			t.Errorf("%d bytes became %d: %v", len(data), len(p.Data()), err)
		}
	}
	if err := AddPacketSide(p, PacketSide{PacketWebVTTSettings, []byte("line:0")}); err != nil {
		t.Fatal(err)
	}
	if !HasPacketSide(p, PacketWebVTTSettings) || HasPacketSide(p, PacketDisplayMatrix) {
		t.Error("the packet has not the side data that it was given")
	}
	if got := PacketSides(p); len(got) != 1 || string(got[0].Data) != "line:0" {
		t.Errorf("side data %v", got)
	}
}

func TestTags(t *testing.T) {
	o, err := astiav.AllocOutputFormatContext(nil, "matroska", "a.mkv")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Free()
	tags := FileTags(o)
	if _, ok := tags.Get("title"); ok || len(tags.Keys()) != 0 {
		t.Error("a new file has tags")
	}
	tags.Set("title", "a")
	tags.Set("artist", "b")
	tags.Set("TITLE", "c")
	if got, ok := tags.Get("Title"); !ok || got != "c" || !slices.Contains(tags.Keys(), "artist") || len(tags.Keys()) != 2 {
		t.Errorf("%q of %q", got, tags.Keys())
	}
	other := StreamTags(o.NewStream(nil))
	if err := other.CopyFrom(tags); err != nil || len(other.Keys()) != 2 {
		t.Errorf("%q: %v", other.Keys(), err)
	}
	tags.Remove("title")
	if _, ok := tags.Get("title"); ok || len(other.Keys()) != 2 {
		t.Errorf("%q, %q", tags.Keys(), other.Keys())
	}
}

func TestSideData(t *testing.T) {
	o, err := astiav.AllocOutputFormatContext(nil, "mp4", "a.mp4")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Free()
	s := o.NewStream(nil)
	if _, ok := StreamSideData(s, PacketContentLight); ok {
		t.Error("a new stream has side data")
	}
	want := []byte{0xe8, 3, 0, 0, 0x90, 1, 0, 0}
	if err := SetStreamSideData(s, PacketContentLight, want); err != nil {
		t.Fatal(err)
	}
	got, ok := StreamSideData(s, PacketContentLight)
	if !ok || !bytes.Equal(got, want) {
		t.Errorf("% x, %v", got, ok)
	}
	if pixel, mean, ok := ParseContentLight(got); pixel != 1000 || mean != 400 || !ok {
		t.Errorf("%d, %d, %v", pixel, mean, ok)
	}
	if _, _, ok := ParseContentLight(want[:7]); ok {
		t.Error("light that is cut short is accepted")
	}
	if _, ok := ParseMasteringDisplay(nil); ok {
		t.Error("no display is accepted")
	}
}

// WriteLine and ReadLine are inverse to each other.
func TestLines(t *testing.T) {
	for _, name := range []string{"yuv420p", "nv12", "rgb24", "gray10le", "p010le", "rgb565le"} {
		f := astiav.AllocFrame()
		f.SetWidth(16)
		f.SetHeight(2)
		f.SetPixelFormat(astiav.FindPixelFormatByName(name))
		if err := f.AllocBuffer(0); err != nil {
			t.Fatal(err)
		}
		d := DescribePixels(f.PixelFormat())
		for i := 0; i < 4 && PlaneData(f, i) != nil; i++ {
			clear(unsafe.Slice((*byte)(PlaneData(f, i)), PlaneStride(f, i)))
		}
		row := make([]uint16, 16>>d.Log2ChromaW)
		for c, k := range d.Components {
			for x := range row {
				row[x] = uint16(x*7+c) & (1<<k.Depth - 1)
			}
			WriteLine(row, f, c, 0)
		}
		for c, k := range d.Components {
			ReadLine(row, f, c, 0)
			for x, v := range row {
				if want := uint16(x*7+c) & (1<<k.Depth - 1); v != want {
					t.Fatalf("%s: component %d has %d at %d, want %d", name, c, v, x, want)
				}
			}
		}
		f.Free()
	}
}

func TestMessages(t *testing.T) {
	message, err := WithMessage(func() error {
		c := astiav.AllocFormatContext()
		defer c.Free()
		return c.OpenInput("file:/nowhere/at/all", nil, nil)
	})
	if err == nil {
		t.Errorf("a file that is not there opens: %q", message)
	}
	if e := astiav.Error(0); !errors.As(status(-22), &e) || status(0) != nil {
		t.Error("a status is no error of FFmpeg's")
	}
	n := NewErrorCount()
	defer n.Free()
	if n.Value() != 0 {
		t.Error("a new count has errors")
	}
}

// FFmpeg's first errors and its last are kept, however many there are.
func TestLinesOfLog(t *testing.T) {
	const times = 1000 // 20 kB
	name := filepath.Join(t.TempDir(), "a.mov")
	if err := os.WriteFile(name, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := WithLines(func() error {
		for range times {
			c := astiav.AllocFormatContext()
			_ = c.OpenInput(name, astiav.FindInputFormat("mov"), nil)
			c.Free()
		}
		c := astiav.AllocFormatContext()
		defer c.Free()
		return c.OpenInput(name, astiav.FindInputFormat("matroska"), nil)
	})
	n := len(lines)
	if err == nil || n < 100 || n > times || lines[0] != "moov atom not found" || lines[n-2] != lines[0] || !strings.Contains(lines[n-1], "EBML") {
		t.Errorf("%d lines, the first %q, the last %q: %v", n, lines[:min(n, 2)], lines[max(0, n-2):], err)
	}
	if lines, _ := WithLines(func() error { return nil }); len(lines) != 0 {
		t.Errorf("%q of nothing", lines)
	}
}
