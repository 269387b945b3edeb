package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline/fault"
)

// transportClip makes a transport stream with sound, and a damaged copy of it.
func transportClip(t *testing.T) (whole, spoiled string) {
	t.Helper()
	whole, spoiled = filepath.Join(t.TempDir(), "whole.ts"), filepath.Join(t.TempDir(), "spoiled.ts")
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24", "-f", "lavfi", "-i", "sine", "-t", "2",
		"-c:v", "mpeg2video", "-g", "6", "-b:v", "2M", "-c:a", "mp2", whole)
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	const packet = 188
	for at := 100 * packet; at < len(data); at += 100 * packet {
		data[at+3] = data[at+3]&0xf0 | (data[at+3]+5)&0xf // the continuity counter
	}
	if err := os.WriteFile(spoiled, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return whole, spoiled
}

// drainings are the ways to read a source to its end.
var drainings = map[string]func(r *Reader) error{
	"Read": func(r *Reader) error {
		for {
			f, err := r.Read()
			if err != nil {
				return err
			}
			f.Release()
		}
	},
	"NextPacket": func(r *Reader) error {
		for {
			if _, err := r.NextPacket(); err != nil {
				return err
			}
		}
	},
	"Skim":   func(r *Reader) error { return r.Skim() },
	"SkimTo": func(r *Reader) error { return r.SkimTo(big.NewRat(1000, 1)) },
	"Scan":   func(r *Reader) error { _, err := r.Scan(); return err },
}

// Every way to read a source counts the same damaged packets.
func TestDamageCountsTheSame(t *testing.T) {
	whole, spoiled := transportClip(t)
	counts := map[string]int{}
	for name, drain := range drainings {
		for _, clip := range []string{whole, spoiled} {
			r, err := Open(t.Context(), clip, ReaderOptions{Packets: name == "NextPacket", Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := drain(r); err != nil && !errors.Is(err, io.EOF) && fault.KindOf(err) != fault.BadData {
				t.Errorf("%s: %v", name, err)
			}
			lost := r.demuxer.lost.failed + r.demuxer.lost.corrupt
			if clip == whole && (lost != 0 || !r.Intact()) {
				t.Errorf("%s: %d packets of a whole input are damaged", name, lost)
			} else if clip == spoiled {
				counts[name] = lost
				if r.Intact() || r.Damage().Packets < lost {
					t.Errorf("%s: damage %+v, of which %d in the demuxer", name, r.Damage(), lost)
				}
			}
			r.Close()
		}
	}
	for name, n := range counts {
		if n == 0 || n != counts["Read"] {
			t.Errorf("%s finds %d damaged packets, Read %d", name, n, counts["Read"])
		}
	}
}

// An empty packet says that the picture stays as it was, in every codec. FFmpeg's decoders refuse
// such a packet.
func TestEmptyPacket(t *testing.T) {
	for _, codec := range []string{"qtrle", "mpeg4", "mjpeg"} {
		clip := filepath.Join(t.TempDir(), codec+".mov")
		ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24", "-frames:v", "12", "-c:v", codec, "-g", "1", clip)
		data, err := os.ReadFile(clip)
		if err != nil {
			t.Fatal(err)
		}
		// The table of sizes has version and flags, a common size, a number and the sizes.
		// Decoders skip what is behind a picture.
		at := bytes.Index(data, []byte("stsz"))
		size := func(i int) []byte { return data[at+16+4*i:][:4] }
		if n := binary.BigEndian.Uint32(data[at+12:]); at < 0 || n != 12 {
			t.Fatalf("%s: %d sizes", codec, n)
		}
		binary.BigEndian.PutUint32(size(4), binary.BigEndian.Uint32(size(4))+binary.BigEndian.Uint32(size(5)))
		binary.BigEndian.PutUint32(size(5), 0)
		if err := os.WriteFile(clip, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), clip, ReaderOptions{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		frames := 0
		for err == nil {
			var f *frame.Frame
			if f, err = r.Read(); err == nil {
				f.Release()
				frames++
			}
		}
		if !errors.Is(err, io.EOF) || frames != 11 || !r.Intact() {
			t.Errorf("%s: %d frames, want 11 without damage: %+v, %v", codec, frames, r.Damage(), err)
		}
		r.Close()
	}
}

// Read and NextPacket both report where a truncated input ends.
func TestTruncatedInput(t *testing.T) {
	whole, cut := filepath.Join(t.TempDir(), "whole.mkv"), filepath.Join(t.TempDir(), "cut.mkv")
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24", "-t", "4", "-c:v", "ffv1", whole)
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	messages := map[string]string{}
	for _, name := range []string{"Read", "NextPacket"} {
		for _, c := range []struct {
			clip string
			want fault.Kind
		}{{whole, 0}, {cut, fault.BadData}} {
			r, err := Open(t.Context(), c.clip, ReaderOptions{Packets: name == "NextPacket"})
			if err != nil {
				t.Fatal(err)
			}
			err = drainings[name](r)
			if c.want == 0 && !errors.Is(err, io.EOF) || c.want != 0 && fault.KindOf(err) != c.want {
				t.Errorf("%s of %s: %v", name, c.clip, err)
			}
			if c.clip == cut {
				messages[name] = err.Error()
			}
			r.Close()
		}
	}
	if messages["Read"] != messages["NextPacket"] {
		t.Errorf("%q", messages)
	}
}

// NextPacket returns every packet once, including those that Open has decoded.
func TestNextPacket(t *testing.T) {
	clip := testClip(t, 32, 16, 9)
	r, err := Open(t.Context(), clip, ReaderOptions{Packets: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var last int64 = -1
	n := 0
	for ; ; n++ {
		p, err := r.NextPacket()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.PTS <= last || len(p.Data) == 0 || p.IsKey() != (n == 0) || p.ChangesStream() {
			t.Errorf("packet %d: at %d behind %d, %d bytes", n, p.PTS, last, len(p.Data))
		}
		last = p.PTS
	}
	if n != 9 {
		t.Errorf("%d packets, want 9", n)
	}
}

func TestScan(t *testing.T) {
	clip := testClip(t, 32, 16, 12)
	r, err := Open(t.Context(), clip, ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := r.Scan()
	if err != nil || !s.Steady || s.End == nil {
		t.Fatalf("%+v: %v", s, err)
	}
	if d := new(big.Rat).Sub(s.End, big.NewRat(1, 2)); d.Abs(d).Cmp(big.NewRat(1, 500)) > 0 {
		t.Errorf("12 frames at 24 a second end at %s s", s.End.FloatString(4))
	}
}

// Every way to read returns the context's error after the context is cancelled.
func TestReadersStop(t *testing.T) {
	clip := testClip(t, 32, 16, 12)
	for name, drain := range drainings {
		ctx, cancel := contextWithCancel(t)
		r, err := Open(ctx, clip, ReaderOptions{Packets: name == "NextPacket"})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := drain(r); !errors.Is(err, ctx.Err()) {
			t.Errorf("%s: %v", name, err)
		}
		r.Close()
	}
}

// Raw video has no header; the error says what has.
func TestRawVideoIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.yuv")
	if err := os.WriteFile(name, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"", "rawvideo"} {
		if _, err := Open(t.Context(), name, ReaderOptions{Format: format}); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "YUV4MPEG2") {
			t.Errorf("format %q: %v", format, err)
		}
	}
}

// A transport stream can be read from anywhere, though all of its key frames come before.
func TestFromBehindTheLastKeyFrame(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "clip.ts")
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24:d=1", "-c:v", "libx264", "-bf", "0", clip)
	r, err := Open(t.Context(), clip, ReaderOptions{From: Start{At: big.NewRat(1, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := r.Video()
	if at := new(big.Rat).Mul(big.NewRat(v.FirstPTS-v.StreamPTS, 1), v.TimeBase); at.Cmp(big.NewRat(1, 2)) != 0 {
		t.Errorf("the first frame stands at %s s", at.FloatString(3))
	}
}

// Decoders complain of pictures before a part's first one, whose references were not read. That is
// no damage; what is damaged in the part is.
func TestDamageBeforeAPart(t *testing.T) {
	dir := t.TempDir()
	open, stream := filepath.Join(dir, "open.mkv"), filepath.Join(dir, "stream.ts")
	for _, clip := range []string{open, stream} {
		ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24:d=3", "-c:v", "libx264", "-x264-params", "open-gop=1:keyint=24:bframes=3:b-adapt=0", clip)
	}
	_, spoiled := transportClip(t)
	holed := filepath.Join(dir, "holed.ts")
	data, err := os.ReadFile(stream)
	if err != nil {
		t.Fatal(err)
	}
	const packet = 188
	for at := len(data) * 5 / 8 / packet * packet; at < len(data); at += 50 * packet { // behind the parts' first frames
		data = append(data[:at], data[at+packet:]...)
	}
	if err := os.WriteFile(holed, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int64{9, 10, 11, 12, 15} {
		for _, clip := range []string{open, stream, spoiled, holed} {
			r, err := Open(t.Context(), clip, ReaderOptions{From: Start{At: big.NewRat(from, 10)}, Threads: 8})
			if err != nil {
				t.Fatal(err)
			}
			if err := drainings["Read"](r); !errors.Is(err, io.EOF) {
				t.Errorf("%s from %d/10 s: %v", filepath.Base(clip), from, err)
			}
			if d := r.Damage(); (d != (Damage{})) != (clip == spoiled || clip == holed) {
				t.Errorf("%s from %d/10 s: damage %+v", filepath.Base(clip), from, d)
			}
			r.Close()
		}
	}
}
