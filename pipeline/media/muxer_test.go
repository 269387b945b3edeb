package media

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
)

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

// rawMuxer returns a muxer for raw pictures.
func rawMuxer(t *testing.T, name string) *muxer {
	t.Helper()
	output, err := newContainer(name, "file:"+name, "nut")
	if err != nil {
		t.Fatal(err)
	}
	m := newMuxer(name, output)
	t.Cleanup(m.close)
	p := m.video.CodecParameters()
	p.SetMediaType(astiav.MediaTypeVideo)
	p.SetCodecID(astiav.CodecIDRawvideo)
	p.SetCodecTag(astiav.CodecTag(av.RawTag(astiav.PixelFormatGray8)))
	p.SetWidth(64)
	p.SetHeight(64)
	m.video.SetTimeBase(astiav.NewRational(1, 25))
	return m
}

// openMuxer opens m's file and writes its header.
func openMuxer(t *testing.T, m *muxer) {
	t.Helper()
	if err := m.openFile("file:" + m.name); err != nil {
		t.Fatal(err)
	}
	if err := m.writeHeader(nil); err != nil {
		t.Fatal(err)
	}
}

// writePicture writes a packet with one picture.
func writePicture(t *testing.T, m *muxer, at int64) error {
	t.Helper()
	p := astiav.AllocPacket()
	defer p.Free()
	if err := (Packet{PTS: at, DTS: at, Duration: 1, Flags: int(astiav.PacketFlagKey), Data: make([]byte, 64*64)}).fill(p); err != nil {
		t.Fatal(err)
	}
	err := m.Write(p)
	if p.Size() != 0 {
		t.Error("a packet is not empty once it was written")
	}
	return err
}

func TestMuxerRecords(t *testing.T) {
	m := rawMuxer(t, filepath.Join(t.TempDir(), "a.nut"))
	openMuxer(t, m)
	for _, at := range []int64{0, 1, 1, 0, 7} { // Write moves the times that do not rise
		if err := writePicture(t, m, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.finish(); err != nil {
		t.Fatal(err)
	}
	list := m.written()
	if len(list) != 1 || list[0].Kind != astiav.MediaTypeVideo || list[0].Record.Packets != 5 || list[0].Record.Bytes != 5*64*64 {
		t.Fatalf("%+v", list)
	}
	pts := list[0].Record.PTS
	for k := 1; k < len(pts); k++ {
		if pts[k] <= pts[k-1] {
			t.Errorf("pictures at %d", pts)
		}
	}
	if info, err := os.Stat(m.name); err != nil || info.Size() < 5*64*64 {
		t.Errorf("%v: %v", info, err)
	}
}

// A full disk ends the writing with the system's error, which every later call returns.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	m := rawMuxer(t, "/dev/full")
	openMuxer(t, m)
	var err error
	for at := int64(0); err == nil && at < 1000; at++ {
		err = writePicture(t, m, at)
	}
	if err == nil {
		err = m.finish()
	}
	if fault.KindOf(err) != fault.CannotWrite || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "/dev/full") {
		t.Fatalf("%v", err)
	}
	if again := writePicture(t, m, 2000); !errors.Is(again, err) {
		t.Errorf("then %v", again)
	}
}

// An error of another stream ends the writing.
func TestMuxerFails(t *testing.T) {
	m := rawMuxer(t, filepath.Join(t.TempDir(), "a.nut"))
	openMuxer(t, m)
	first := errors.New("first")
	m.Fail(first)
	m.Fail(errors.New("second"))
	if err := writePicture(t, m, 0); !errors.Is(err, first) || fault.KindOf(err) != fault.CannotWrite {
		t.Errorf("%v", err)
	}
	if err := m.finish(); !errors.Is(err, first) {
		t.Errorf("the end: %v", err)
	}
}

// An output leaves no file if it is aborted, or cancelled while its file is verified.
func TestCancelledOutputLeavesNothing(t *testing.T) {
	clip := testClip(t, 64, 48, 24)
	for _, stage := range []string{"before", "abort", "verify"} {
		ctx, cancel := contextWithCancel(t)
		dir := t.TempDir()
		r, err := Open(t.Context(), clip, ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		opt := plainOptions(EncoderOptions{Codec: "ffv1", CRF: -1})
		opt.Verify = true
		if stage == "before" {
			cancel()
		}
		w, err := Create(ctx, filepath.Join(dir, "out.mkv"), r, opt)
		if stage == "before" {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled writer: %v", err)
			}
		} else if err != nil {
			t.Fatal(err)
		} else {
			f, err := r.Read()
			if err != nil {
				t.Fatal(err)
			}
			if err := w.WriteFrame(f, nil, nil); err != nil {
				t.Fatal(err)
			}
			f.Release()
			if stage == "verify" {
				cancel()
				if name, err := w.Finish(false); !errors.Is(err, context.Canceled) || name != "" {
					t.Errorf("a check that was cancelled: %q, %v", name, err)
				}
			}
			w.Abort()
			w.Abort()
		}
		r.Close()
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: %v is left: %v", stage, left, err)
		}
	}
}

// Formats of several files are refused with the command that makes them.
func TestSeveralFiles(t *testing.T) {
	for _, c := range []struct {
		name, format string
		refused      bool
	}{
		{"x.m3u8", "", true},
		{"x.mpd", "", true},
		{"-", "hls", true},
		{"x.ts", "segment", true},
		{"x%d.ts", "segment", false},
		{"x%d.m3u8", "hls", true},
		{"x.mkv|y.mkv", "tee", true},
		{"http://host/x.m3u8", "hls", false},
		{"x.mkv", "", false},
	} {
		output, err := newContainer(c.name, "file:x", c.format)
		if (err != nil) != c.refused || c.refused && (fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "ffmpeg -i ")) {
			t.Errorf("%s %s: %v", c.name, c.format, err)
		}
		if output != nil {
			output.Free()
		}
	}
}

// What FFmpeg says of an error is kept beside the system's name for it.
func TestErrorsKeepTheirMessage(t *testing.T) {
	const invalid = astiav.Error(-22) // EINVAL of every C library
	err := cannotWrite("out.mkv", fmt.Errorf("encode: %w (no size)", invalid))
	if want := `write "out.mkv": encode: invalid argument (no size)`; err.Error() != want || !errors.Is(err, syscall.EINVAL) || fault.KindOf(err) != fault.CannotWrite {
		t.Errorf("%q, want %q", err, want)
	}
}
