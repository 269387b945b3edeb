package stages_test

import (
	"bytes"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/warp"
)

// levelSource delivers gray frames of given levels, 100 a second.
type levelSource struct {
	levels []uint8
	read   int64
}

func (s *levelSource) Video() media.Video {
	return media.Video{Width: 5, Height: 3, TimeBase: big.NewRat(1, 100), Rate: big.NewRat(100, 1), Average: big.NewRat(100, 1), Start: new(big.Rat)}
}

func (s *levelSource) Read() (*frame.Frame, error) {
	if int(s.read) == len(s.levels) {
		return nil, io.EOF
	}
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 5, 3)
	for i := range f.Planes[0].Pix {
		f.Planes[0].Pix[i] = s.levels[s.read]
	}
	f.PTS, f.Duration = s.read, 1
	s.read++
	return f, nil
}

// A frame is the mean of what is shown while the shutter is open, here worked out
// from straight lines between the levels.
func TestShutter(t *testing.T) {
	levels := make([]uint8, 60)
	for i := range levels {
		levels[i] = uint8(i * i * 7 % 251)
	}
	at := func(seconds float64) float64 {
		x := min(max(seconds*100, 0), 59)
		i := min(int(x), 58)
		return float64(levels[i]) + (x-float64(i))*(float64(levels[i+1])-float64(levels[i]))
	}
	for _, c := range []struct {
		rate  int64
		slow  *big.Rat
		angle int64
	}{{25, big.NewRat(1, 1), 180}, {10, big.NewRat(1, 1), 360}, {24, big.NewRat(1, 1), 90}, {25, big.NewRat(1, 2), 360}, {50, big.NewRat(2, 1), 180}} {
		records, sink := planned(t, &levelSource{levels: levels}, pipeline.Options{
			Synthesis: pipeline.Synthesis{Mode: warp.Blend},
			Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(c.rate, 1)}, Slow: c.slow, Shutter: big.NewRat(c.angle, 360)},
		})
		slow, _ := c.slow.Float64()
		if want := int(math.Ceil(0.6 * slow * float64(c.rate))); len(sink.Values) != want || len(records) != want {
			t.Errorf("%+v: %d frames, %d records, want %d", c, len(sink.Values), len(records), want)
			continue
		}
		exact := new(big.Rat).Quo(big.NewRat(c.angle, 360*c.rate), c.slow)
		open, _ := exact.Float64()
		n := timeline.Subframes(exact, big.NewRat(100, 1))
		for k, v := range sink.Values {
			if records[k].Frame != int64(k) {
				t.Errorf("%+v: record %d is of frame %d", c, k, records[k].Frame)
			}
			var want float64
			for j := range n {
				want += at(float64(k)/float64(c.rate)/slow+open*(float64(2*j+1)/float64(2*n)-0.5)) / float64(n)
			}
			if math.Abs(float64(v)-want) > 1 {
				t.Errorf("%+v: frame %d has level %d, want %.2f", c, k, v, want)
			}
		}
	}
}

// What stands still comes through as it is.
func TestShutterLeavesStillFrames(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "still.nut")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 1, 24, 1), "-vf", "loop=11:1", "-c:v", "rawvideo", clip)
	o := lossless(t, clip)
	o.Timing.Rate, o.Timing.Shutter = pipeline.Rate{Value: big.NewRat(12, 1)}, big.NewRat(1, 1)
	report := mustRun(t, o)
	source, _, _ := readAll(t, clip)
	got, _, _ := readAll(t, o.Output.File)
	if len(got) != 6 || report.Made != 0 {
		t.Errorf("%d frames, %d made, want 6 and none", len(got), report.Made)
	}
	for k := range got {
		if !bytes.Equal(got[k], source[0]) {
			t.Errorf("frame %d changed", k)
		}
	}
}

// A frame never shows two scenes at once.
func TestShutterDoesNotMixScenes(t *testing.T) {
	levels := make([]uint8, 40)
	for i := range levels {
		levels[i] = 10
		if i >= 21 {
			levels[i] = 200
		}
	}
	_, sink := planned(t, &levelSource{levels: levels}, pipeline.Options{
		Synthesis: pipeline.Synthesis{Mode: warp.Blend, Scenes: []*big.Rat{big.NewRat(21, 100)}},
		Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(10, 1)}, Shutter: big.NewRat(1, 1)},
	})
	if want := []int{10, 10, 10, 200}; len(sink.Values) != 4 || sink.Values[0] != want[0] || sink.Values[1] != want[1] || sink.Values[2] != want[2] || sink.Values[3] != want[3] {
		t.Errorf("levels %v, want %v", sink.Values, want)
	}
}

func TestParseShutter(t *testing.T) {
	for text, want := range map[string]string{"0": "0", "180": "1/2", "360": "1", "172.8": "12/25"} {
		if got, err := timeline.ParseShutter(text); err != nil || got.RatString() != want {
			t.Errorf("timeline.ParseShutter(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "361", "-1", "180deg"} {
		if got, err := timeline.ParseShutter(text); err == nil {
			t.Errorf("timeline.ParseShutter(%q) = %v, want an error", text, got)
		}
	}
}
