package restore

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline/rational"
)

// Drop-frame timecodes, counted one by one.
func TestTimecodeCount(t *testing.T) {
	for _, base := range []int{30, 60} {
		n := int64(0)
		for minutes := range 61 {
			for seconds := range 60 {
				for frames := range base {
					if seconds == 0 && frames < base/15 && minutes%10 != 0 {
						continue
					}
					c := Timecode{minutes / 60, minutes % 60, seconds, frames, true}
					if got, err := c.count(int64(base)); err != nil || got != n {
						t.Fatalf("%v at %d: frame %d, %v; want %d", c, base, got, err, n)
					}
					n++
				}
			}
		}
	}
	if n, err := (Timecode{1, 2, 3, 4, false}).count(24); err != nil || n != 3723*24+4 {
		t.Errorf("frame %d, %v", n, err)
	}
	for _, c := range []struct {
		code Timecode
		base int64
	}{{Timecode{0, 0, 0, 24, false}, 24}, {Timecode{0, 1, 0, 1, true}, 30}, {Timecode{0, 1, 0, 3, true}, 60}, {Timecode{0, 0, 1, 0, true}, 24}} {
		if n, err := c.code.count(c.base); fault.KindOf(err) != fault.Usage {
			t.Errorf("%v at %d: frame %d, %v", c.code, c.base, n, err)
		}
	}
}

func TestParseTimecode(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"01:02:03:04", "01:02:03:04"}, {"1:2:3:4", "01:02:03:04"}, {"23:59:59;29", "23:59:59;29"}, {"00:00:00:119", "00:00:00:119"},
		{"24:00:00:00", ""}, {"0:60:0:0", ""}, {"0:0:60:0", ""}, {"0:0:0", ""}, {"0:0:0;0;0", ""}, {"0:0:0:-1", ""}, {"0:0:0:", ""}, {"", ""}, {"a:b:c:d", ""},
	} {
		got, err := ParseTimecode(c.text)
		if (err == nil) != (c.want != "") || err == nil && got.String() != c.want {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
}

func TestTimecodeAfter(t *testing.T) {
	ntsc := big.NewRat(30000, 1001)
	for _, c := range []struct {
		code, first string
		rate        *big.Rat
		want        string // seconds
	}{
		{"00:00:01:00", "00:00:00:00", big.NewRat(24, 1), "1"},
		{"00:00:01:00", "00:00:00:00", big.NewRat(24000, 1001), "1001/1000"},
		{"01:00:00;02", "01:00:00;00", ntsc, "1001/15000"},
		{"00:01:00;02", "00:00:00;00", ntsc, "60060/1000"}, // frame 1800
		{"00:01:00:02", "00:00:00;00", ntsc, "60060/1000"}, // the video drops numbers, whatever the separator
		{"00:00:00:05", "23:59:59:20", big.NewRat(25, 1), "10/25"},
	} {
		code, err := ParseTimecode(c.code)
		if err != nil {
			t.Fatal(err)
		}
		first, err := ParseTimecode(c.first)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := new(big.Rat).SetString(c.want)
		if got, err := code.after(first, c.rate); err != nil || got.Cmp(want) != 0 {
			t.Errorf("%s after %s: %v s, %v; want %s", c.code, c.first, got, err, c.want)
		}
	}
}

// Timecodes count from the file's first one, and include missing frames.
func TestTimecodesNameFrames(t *testing.T) {
	whole := writeScene(t, 64, 48, 30)
	stated, gappy := filepath.Join(t.TempDir(), "stated.mov"), filepath.Join(t.TempDir(), "gap.nut")
	ffmpeg(t, "-i", whole, "-c:v", "libx264", "-timecode", "10:00:00:00", stated)
	ffmpeg(t, "-i", whole, "-vf", "select='not(between(n,5,6))'", "-fps_mode", "passthrough", "-c:v", "rawvideo", gappy)
	for _, c := range []struct {
		input, list string
		want        string // empty for an error
	}{
		{whole, "00:00:00:07", "7-7"}, {whole, "00:00:00:07-00:00:01:03", "7-27"}, {whole, "00:00:01:06", ""}, {whole, "10:00:00:07", ""},
		{stated, "10:00:00:07", "7-7"}, {stated, "00:00:00:07", ""}, {gappy, "00:00:00:09", "7-7"}, {gappy, "00:00:00:05", "4-4"},
		{whole, "00:00:00;07", ""}, {whole, "00:00:00:30", ""}, {whole, "00:00:01:00-00:00:00:07", ""},
	} {
		o := options(t, c.input)
		o.DryRun, o.Damage = true, frames(t, c.list)
		report, err := Run(t.Context(), o)
		got := ""
		if err == nil {
			got = fmt.Sprintf("%v-%v", report.Findings[0].First, report.Findings[0].Last)
		} else if fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: %v", c.list, err)
		}
		if got != c.want {
			t.Errorf("%s of %s: frames %q, %v; want %q", c.list, filepath.Base(c.input), got, err, c.want)
		}
	}
}

// The timecode of the n-th frame counts n frames.
func TestTimecodeAt(t *testing.T) {
	for _, rate := range []*big.Rat{big.NewRat(25, 1), big.NewRat(30000, 1001), big.NewRat(60000, 1001)} {
		for _, first := range []Timecode{{}, {Hours: 9, Minutes: 59, Seconds: 58, Frames: 20}, {Drop: true}, {Hours: 1, Minutes: 9, Seconds: 59, Frames: 20, Drop: true}} {
			if first.Drop && rate.IsInt() {
				continue
			}
			base := rational.Nearest(rate)
			zero, err := first.count(base)
			if err != nil {
				t.Fatal(err)
			}
			for n := int64(0); n < 200_000; n += 17 {
				at := TimecodeAt(first, n, rate)
				if got, err := at.count(base); err != nil || got != zero+n {
					t.Fatalf("%v and %d frames at %v are %v, which counts %d: %v", first, n, rate, at, got-zero, err)
				}
			}
		}
	}
}

// A timecode that the video does not have is answered with those that it has.
func TestTimecodeBeyondTheVideo(t *testing.T) {
	for _, c := range []struct{ stated, asked, want string }{
		{"10:00:00:00", "00:00:00:05", "timecode 00:00:00:05: the video has those from 10:00:00:00 to 10:00:01:24"},
		{"10:00:00:00", "10:00:02:00", "from 10:00:00:00 to 10:00:01:24"},
		{"", "00:01:00:00", "from 00:00:00:00 to 00:00:01:24"},
	} {
		s := inputScan{video: media.Video{Rate: big.NewRat(25, 1), TimeBase: big.NewRat(1, 25), Start: new(big.Rat)}, length: 1}
		s.video.Timecode.Text = c.stated
		for n := range int64(50) {
			s.stamps = append(s.stamps, n)
		}
		asked, err := ParseTimecode(c.asked)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.number(Place{Timecode: &asked}); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of a video from %q: %v", c.asked, c.stated, err)
		}
	}
}

// Copied packets of which the container states no mean rate, as MXF of JPEG 2000, keep the timecode.
func TestSmartCopyKeepsTheTimecode(t *testing.T) {
	o := options(t, film(t, "a.mxf", "-t", "0.4", "-c:v", "jpeg2000", "-ar", "48000", "-timecode", "10:00:00:05"))
	o.Damage, o.SmartCopy = frames(t, "4"), true
	o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.mxf")}
	mustRun(t, o)
	if got := output(t, "ffprobe", "-show_entries", "format_tags=timecode", "-of", "csv=p=0", o.Convert.Output.File); strings.TrimSpace(got) != "10:00:00:05" {
		t.Errorf("the timecode is %q", got)
	}
}

func TestCountedRate(t *testing.T) {
	rate := func(n int64) *big.Rat {
		if n == 0 {
			return nil
		}
		return big.NewRat(n, 1)
	}
	for _, c := range []struct{ rate, average, want int64 }{{25, 0, 25}, {25, 24, 25}, {50, 25, 50}, {1000, 25, 25}, {0, 25, 25}, {0, 0, 0}} {
		got := CountedRate(media.Video{Rate: rate(c.rate), Average: rate(c.average)})
		if want := rate(c.want); (got == nil) != (want == nil) || got != nil && got.Cmp(want) != 0 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
