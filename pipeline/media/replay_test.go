package media

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// breaking fetches a number of pictures from a device that then fails.
type breaking struct {
	downloads
	left   int
	broken error
}

func (b *breaking) fetch(f *astiav.Frame) (*fetched, error) {
	if b.left == 0 {
		b.broken = errors.New("the device fails")
		f.Free()
		return nil, b.broken
	}
	b.left--
	return b.downloads.fetch(f)
}

func (b *breaking) check() error { return b.broken }

// openBreaking opens a clip on a device that fails after a number of pictures.
func openBreaking(t *testing.T, clip string, pictures int, log *slog.Logger) *Reader {
	t.Helper()
	r, err := Open(t.Context(), clip, ReaderOptions{Threads: 1, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	c := r.decoder
	c.rewind()
	c.setBack(Damage{})
	c.damage.Frames = 0
	c.fetch = &breaking{left: pictures}
	c.protect()
	return r
}

// shown is a decoded picture's time and samples.
type shown struct {
	time    int64
	samples string
}

// decodeRest returns all further pictures and the error at the end.
func decodeRest(t *testing.T, c *decoder) (list []shown, end error) {
	t.Helper()
	for {
		p, err := c.next()
		if err != nil {
			return list, err
		}
		samples, err := p.Data().Bytes(1)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, shown{p.Pts(), string(samples)})
		p.Free()
	}
}

// breakingClip makes a clip of 36 pictures.
func breakingClip(t *testing.T, name string, args ...string) string {
	t.Helper()
	clip := filepath.Join(t.TempDir(), name)
	ffmpegProgram(t, "ffmpeg", append(append([]string{"-f", "lavfi", "-i", "testsrc2=s=96x64:r=24", "-frames:v", "36"}, args...), clip)...)
	return clip
}

// spoil overwrites bytes of a clip here and there, but not at its ends.
func spoil(t *testing.T, clip string) {
	t.Helper()
	data, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2000; i < len(data)-4000; i += 3000 {
		copy(data[i:], bytes.Repeat([]byte{0xa5}, 20))
	}
	if err := os.WriteFile(clip, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// takesOver has a device fail after every number of pictures. It demands the pictures and the
// damage of a device that does not fail, and returns the latter's reader.
func takesOver(t *testing.T, clip string) *Reader {
	t.Helper()
	sound := openBreaking(t, clip, 1000, nil)
	want, end := decodeRest(t, sound.decoder)
	damage := sound.Damage()
	same := slices.Equal[[]shown]
	if damage != (Damage{}) { // what stands for damaged samples depends on what was decoded before
		same = func(a, b []shown) bool {
			return slices.EqualFunc(a, b, func(a, b shown) bool { return a.time == b.time })
		}
	}
	for before := range want {
		r := openBreaking(t, clip, before, nil)
		name := fmt.Sprintf("%s: a device that fails after %d pictures", filepath.Base(clip), before)
		got, err := decodeRest(t, r.decoder)
		if !same(got, want) || fmt.Sprint(err) != fmt.Sprint(end) {
			t.Errorf("%s: %d pictures, which differ from all %d; %v, want %v", name, len(got), len(want), err, end)
		}
		if late := r.decoder.clock.late - sound.decoder.clock.late; late != 0 {
			t.Errorf("%s: %d come twice", name, late)
		}
		if d := r.Damage(); d != damage {
			t.Errorf("%s: damage %+v, want %+v", name, d, damage)
		}
	}
	return sound
}

// If a device fails that decodes, the processor's pictures follow its own, and nothing counts as
// damaged.
func TestProcessorTakesOver(t *testing.T) {
	for name, args := range map[string][]string{
		"mpeg2.mkv": {"-c:v", "mpeg2video", "-g", "6", "-bf", "2", "-b:v", "2M"},
		"x264.mp4":  {"-c:v", "libx264", "-g", "12", "-bf", "3"},
		"open.mkv":  {"-c:v", "libx264", "-g", "8", "-bf", "3", "-x264-params", "open-gop=1:scenecut=0:b-adapt=0"},
		"leaps.mkv": {"-c:v", "libx264", "-g", "6", "-bf", "2", "-vf", "setpts=PTS+gte(N\\,10)*4000/TB"}, // the clock does not see repeats
		"x264.avi":  {"-c:v", "libx264", "-g", "6", "-bf", "2"},
		"mpeg4.avi": {"-c:v", "mpeg4", "-g", "6", "-bf", "2"},
	} {
		r := takesOver(t, breakingClip(t, name, args...))
		if leaps := name == "leaps.mkv"; r.Damage() != (Damage{}) || r.decoder.clock.leapt != leaps {
			t.Errorf("%s: damage %+v; timestamps leap: %v, want %v", name, r.Damage(), r.decoder.clock.leapt, leaps)
		}
	}
}

// If a device fails that decodes a damaged clip, the damage counts once.
func TestProcessorTakesOverDamaged(t *testing.T) {
	_, stream := transportClip(t)
	clips := []string{stream}
	for _, name := range []string{"damaged.mp4", "damaged.mkv"} {
		clip := breakingClip(t, name, "-c:v", "libx264", "-g", "8", "-bf", "2", "-x264-params", "open-gop=1:scenecut=0")
		spoil(t, clip)
		clips = append(clips, clip)
	}
	for _, clip := range clips {
		if takesOver(t, clip).Damage() == (Damage{}) {
			t.Errorf("%s: no damage", clip)
		}
	}
}

// What the demuxer logs counts as well, though it reads nothing again.
func TestProcessorTakesOverDemuxersErrors(t *testing.T) {
	r := openBreaking(t, breakingClip(t, "a.mp4", "-c:v", "libx264", "-g", "12", "-bf", "3"), 10, nil)
	r.demuxer.fanout.observe(func(*astiav.Packet) { astiav.Log(r.demuxer.input, astiav.LogLevelError, "an error") })
	if list, err := decodeRest(t, r.decoder); len(list) != 36 {
		t.Errorf("%d pictures, then %v", len(list), err)
	}
	if d := r.Damage(); d != (Damage{Errors: 36}) {
		t.Errorf("damage %+v, want one error for each of 36 packets", d)
	}
}

// After a rewind the pictures count that came since then.
func TestProcessorTakesOverAfterRewind(t *testing.T) {
	clip := breakingClip(t, "a.mp4", "-c:v", "libx264", "-g", "12", "-bf", "3")
	want, _ := decodeRest(t, openBreaking(t, clip, 1000, nil).decoder)
	for _, before := range []int{20, 23} {
		c := openBreaking(t, clip, before, nil).decoder
		for range 20 {
			p, err := c.next()
			if err != nil {
				t.Fatal(err)
			}
			p.Free()
		}
		c.rewind()
		if got, err := decodeRest(t, c); !slices.Equal(got, want) {
			t.Errorf("a device that fails after %d pictures: %d pictures follow, want %d; %v", before, len(got), len(want), err)
		}
	}
}

// A backlog goes back to a key frame, be there presentation times or decoding times alone.
func TestBacklogIsShort(t *testing.T) {
	for _, name := range []string{"a.mkv", "a.avi"} {
		clip := breakingClip(t, name, "-c:v", "libx264", "-g", "6", "-bf", "2", "-x264-params", "scenecut=0")
		c := openBreaking(t, clip, 1000, nil).decoder
		for i := range 36 {
			p, err := c.next()
			if err != nil {
				t.Fatal(err)
			}
			p.Free()
			if n := len(c.backlog.packets); n > 18 {
				t.Fatalf("%s: %d packets after %d pictures", name, n, i+1)
			}
		}
		room := backlogBytes
		for _, p := range c.backlog.packets {
			room -= p.Size() + packetBytes
		}
		if c.backlog.room != room {
			t.Errorf("%s: room for %d bytes, want %d", name, c.backlog.room, room)
		}
	}
}

// If a backlog takes too much memory, the log says so once, and a device that fails ends the clip.
func TestBacklogIsBounded(t *testing.T) {
	clip := breakingClip(t, "a.mp4", "-c:v", "libx264", "-g", "36")
	var said strings.Builder
	c := openBreaking(t, clip, 20, slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))).decoder
	c.backlog.room = 4000
	if list, err := decodeRest(t, c); len(list) != 20 || !strings.Contains(err.Error(), "the device fails") {
		t.Errorf("%d pictures, then %v", len(list), err)
	}
	if n := strings.Count(said.String(), "key frames are too far apart"); n != 1 {
		t.Errorf("the log says so %d times:\n%s", n, &said)
	}
}

// If the processor's decoder does not open either, the error is about the device.
func TestProcessorCannotTakeOver(t *testing.T) {
	clip := breakingClip(t, "a.mp4", "-c:v", "libx264")
	c := openBreaking(t, clip, 3, nil).decoder
	c.demuxer.video.CodecParameters().SetCodecID(astiav.CodecIDNone)
	list, err := decodeRest(t, c)
	if len(list) != 3 || fault.KindOf(err) != fault.TryAgain || !strings.Contains(err.Error(), "the device fails") {
		t.Errorf("%d pictures, then %v", len(list), err)
	}
}
