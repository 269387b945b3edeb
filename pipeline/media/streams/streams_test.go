package streams

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline/timeline/curve"
)

const subtitles = `1
00:00:00,200 --> 00:00:00,700
One

2
00:00:01,000 --> 00:00:01,500
Two
`

// travelClip makes a file with all kinds of streams and opens it.
func travelClip(t *testing.T) Source {
	t.Helper()
	dir := t.TempDir()
	text, font, name := filepath.Join(dir, "s.srt"), filepath.Join(dir, "font.ttf"), filepath.Join(dir, "in.mkv")
	for file, data := range map[string]string{text: subtitles, font: "font"} {
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=32x16:r=25", "-f", "lavfi", "-i", "sine=r=48000", "-i", text,
		"-map", "0", "-map", "1", "-map", "2", "-t", "2", "-c:v", "ffv1", "-c:a", "flac", "-c:s", "srt", "-attach", font, "-metadata:s:t", "mimetype=application/x-truetype-font", name)
	if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the ffmpeg program; make deps installs it")
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	input := astiav.AllocFormatContext()
	if err := input.OpenInput(name, nil, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(input.CloseInput)
	if err := input.FindStreamInfo(nil); err != nil {
		t.Fatal(err)
	}
	chosen := map[int]bool{}
	for i := range input.Streams() {
		chosen[i] = true
	}
	return Source{Input: input, Video: input.Streams()[0], Chosen: chosen, Start: new(big.Rat), Width: 32, Height: 16}
}

// written is a packet that a recorder has received.
type written struct {
	kind     string
	pts, end int64 // milliseconds
	bytes    int
}

// recorder is a muxer that keeps its packets.
type recorder struct {
	output *astiav.FormatContext
	list   []written
	fails  error // returned by Write
	failed []error
}

func newRecorder(t *testing.T, format string) (*recorder, *astiav.Stream) {
	t.Helper()
	output, err := astiav.AllocOutputFormatContext(nil, format, "out")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(output.Free)
	video := output.NewStream(nil)
	video.SetTimeBase(astiav.NewRational(1, 25))
	return &recorder{output: output}, video
}

func (*recorder) Name() string                    { return "out" }
func (r *recorder) Output() *astiav.FormatContext { return r.output }
func (r *recorder) Fail(err error)                { r.failed = append(r.failed, err) }
func (r *recorder) Write(p *astiav.Packet) error {
	defer p.Unref()
	if r.fails != nil {
		return r.fails
	}
	s := r.output.Streams()[p.StreamIndex()]
	tb := s.TimeBase()
	ms := func(t int64) int64 { return t * 1000 * int64(tb.Num()) / int64(tb.Den()) }
	r.list = append(r.list, written{s.CodecParameters().MediaType().String(), ms(p.Pts()), ms(p.Pts() + p.Duration()), p.Size()})
	return nil
}

// options returns options for an output n/d times as long as its source.
func options(n, d int64, log *slog.Logger) Options {
	return Options{Curve: curve.Constant(new(big.Rat), big.NewRat(n, d)), Log: log}
}

// feed passes all packets of a source to a set.
func feed(t *testing.T, source Source, set *Set) {
	t.Helper()
	p := astiav.AllocPacket()
	defer p.Free()
	for source.Input.ReadFrame(p) == nil {
		set.Packet(p)
		p.Unref()
	}
	if err := set.Finish(); err != nil {
		t.Fatal(err)
	}
}

// A container gets the streams that it can hold, and the log names the others.
func TestWhatTravels(t *testing.T) {
	for _, c := range []struct {
		format string
		slow   int64
		want   []astiav.CodecID // of the streams after the video
		says   []string
	}{
		{"matroska", 1, []astiav.CodecID{astiav.CodecIDFlac, astiav.CodecIDSubrip, astiav.CodecIDTtf}, nil},
		{"matroska", 2, []astiav.CodecID{astiav.CodecIDFlac, astiav.CodecIDSubrip, astiav.CodecIDTtf}, nil},
		{"mp4", 1, []astiav.CodecID{astiav.CodecIDFlac, astiav.CodecIDMovText}, []string{"written in another format", "kind=attachment"}},
		{"mov", 1, []astiav.CodecID{astiav.CodecIDAlac, astiav.CodecIDMovText}, []string{"encoded in another codec", "kind=attachment"}},
		{"mpegts", 1, []astiav.CodecID{astiav.CodecIDAac}, []string{"kind=subtitle", "kind=attachment"}},
		{"gif", 1, nil, []string{"takes no sound", "kind=subtitle", "kind=attachment"}},
	} {
		var log bytes.Buffer
		source := travelClip(t)
		m, video := newRecorder(t, c.format)
		set, err := Add(m, video, source, options(c.slow, 1, slog.New(slog.NewTextHandler(&log, nil))))
		if err != nil {
			t.Fatal(err)
		}
		var got []astiav.CodecID
		for _, s := range m.output.Streams()[1:] {
			got = append(got, s.CodecParameters().CodecID())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.format, got, c.want)
		}
		for _, text := range c.says {
			if !strings.Contains(log.String(), text) {
				t.Errorf("%s: %q is not in\n%s", c.format, text, &log)
			}
		}
		if set.Empty() != (c.want == nil) {
			t.Errorf("%s: empty %v", c.format, set.Empty())
		}
		set.Free()
	}
}

// Sound and subtitles become as long as the video.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		n, d int64
		end  *big.Rat
		text []written
		last int64 // end of the sound, in milliseconds
	}{
		{1, 1, nil, []written{{"subtitle", 200, 700, 3}, {"subtitle", 1000, 1500, 3}}, 2000},
		{2, 1, nil, []written{{"subtitle", 400, 1400, 3}, {"subtitle", 2000, 3000, 3}}, 4000},
		{1, 2, nil, []written{{"subtitle", 100, 350, 3}, {"subtitle", 500, 750, 3}}, 1000},
		{2, 1, big.NewRat(11, 10), []written{{"subtitle", 400, 1400, 3}, {"subtitle", 2000, 2200, 3}}, 2200},
	} {
		source := travelClip(t)
		m, video := newRecorder(t, "matroska")
		opt := options(c.n, c.d, slog.New(slog.DiscardHandler))
		opt.End = c.end
		set, err := Add(m, video, source, opt)
		if err != nil {
			t.Fatal(err)
		}
		feed(t, source, set)
		var text []written
		var last int64
		for _, w := range m.list {
			switch w.kind {
			case "subtitle":
				text = append(text, w)
			case "audio":
				last = max(last, w.end)
			}
		}
		if !slices.Equal(text, c.text) {
			t.Errorf("%d/%d until %v: %v, want %v", c.n, c.d, c.end, text, c.text)
		}
		if d := last - c.last; d < -1 || d > 1 {
			t.Errorf("%d/%d until %v: sound ends at %d ms, want %d", c.n, c.d, c.end, last, c.last)
		}
		set.Free()
	}
}

// The silence of a gap in sound is encoded as it comes, and a timestamp that lies too far
// ahead makes none.
func TestGapInSound(t *testing.T) {
	var log bytes.Buffer
	m, video := newRecorder(t, "matroska")
	set, err := Add(m, video, travelClip(t), options(2, 1, slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	defer set.Free()
	sound := set.list[1].(*soundTranscoder)
	second := [][]float32{make([]float32, sound.encoder.rate)}
	for _, c := range []struct{ at, end int64 }{{0, 1}, {60, 61}, {62 + longestGap, 62}, {1 << 40, 63}} {
		if err := sound.add(piece{samples: second, at: big.NewRat(c.at, 1)}); err != nil {
			t.Fatal(err)
		}
		if got := sound.position / int64(sound.encoder.rate); got != c.end {
			t.Errorf("sound at %d s ends at %d s, want %d", c.at, got, c.end)
		}
		if left := 2*c.end - sound.encoder.position()/int64(sound.encoder.rate); left > 10 {
			t.Errorf("sound at %d s: %d s are held", c.at, left)
		}
	}
	if n := strings.Count(log.String(), "too far ahead"); n != 1 {
		t.Errorf("%d warnings of timestamps:\n%s", n, &log)
	}
}

// Packet passes an error of the muxer to Fail.
func TestErrorsAreKept(t *testing.T) {
	source := travelClip(t)
	m, video := newRecorder(t, "matroska")
	set, err := Add(m, video, source, options(1, 1, slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	defer set.Free()
	m.fails = errors.New("full")
	feed(t, source, set)
	if len(m.failed) == 0 || !errors.Is(m.failed[0], m.fails) {
		t.Errorf("%v", m.failed)
	}
}

func TestPickSampleRate(t *testing.T) {
	for _, c := range []struct {
		taken []int
		rate  int
		want  int
	}{
		{nil, 44100, 44100}, {[]int{48000, 44100, 32000}, 44100, 44100}, {[]int{48000, 96000, 32000}, 44100, 48000},
		{[]int{24000, 16000}, 44100, 24000}, {[]int{8000, 48000}, 8000, 8000},
	} {
		if got := pickSampleRate(c.taken, c.rate); got != c.want {
			t.Errorf("%d of %v: %d, want %d", c.rate, c.taken, got, c.want)
		}
	}
}

func TestPickSampleFormat(t *testing.T) {
	for _, c := range []struct {
		taken      []astiav.SampleFormat
		like, want astiav.SampleFormat
	}{
		{nil, astiav.SampleFormatS16, astiav.SampleFormatS16},
		{[]astiav.SampleFormat{astiav.SampleFormatFltp, astiav.SampleFormatS16P}, astiav.SampleFormatS16, astiav.SampleFormatS16P},
		{[]astiav.SampleFormat{astiav.SampleFormatS16, astiav.SampleFormatS32}, astiav.SampleFormatFltp, astiav.SampleFormatS32},
		{[]astiav.SampleFormat{astiav.SampleFormatU8}, astiav.SampleFormatFltp, astiav.SampleFormatU8},
	} {
		if got := pickSampleFormat(c.taken, c.like); got != c.want {
			t.Errorf("%v of %v: %v, want %v", c.like, c.taken, got, c.want)
		}
	}
}

// Held sound is reversed; gaps are silent and overlaps appear once.
func TestBackwardSound(t *testing.T) {
	warned := 0
	b := backwardSound{limit: 8, warn: func() { warned++ }}
	if samples, _ := b.reverse(); samples != nil {
		t.Error("nothing becomes something")
	}
	b.hold([][]float32{{1, 2}}, 10)
	b.hold([][]float32{{3, 4}}, 13) // a gap of one
	b.hold([][]float32{{4, 5}}, 14) // overlaps by one
	b.hold([][]float32{{6, 7, 8}}, 16)
	b.hold([][]float32{{6, 7, 8}}, 16)
	samples, from := b.reverse()
	if got := fmt.Sprint(samples, from); got != "[[5 4 3 0 2 1]] 10" || warned != 1 {
		t.Errorf("%s, %d warnings", got, warned)
	}
	if samples, _ := b.reverse(); samples != nil {
		t.Error("what was taken is still there")
	}
}

// Samples that only damage makes do not reach an encoder.
func TestLimit(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := [][]float32{{0, -1, 1.5, nan, inf}, {-inf, 1e6, -3e38, 8192, -0.25}}
	limit(x)
	if want := [][]float32{{0, -1, 1.5, 0, 8192}, {-8192, 8192, -8192, 8192, -0.25}}; !slices.EqualFunc(x, want, slices.Equal) {
		t.Errorf("%v, want %v", x, want)
	}
}
