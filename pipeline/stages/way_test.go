//go:build unix

package stages_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"retime/cuda/kernels"
	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/warp"
)

// ranged are frames with a preset or a shutter of its own.
type ranged struct {
	first, last int64
	preset      pipeline.Preset
	shutter     json.Number
}

func (r ranged) decisions() (list []pipeline.Decision) {
	for k := r.first; k <= r.last; k++ {
		list = append(list, pipeline.Decision{Frame: k, Preset: r.preset, Shutter: r.shutter})
	}
	return list
}

// wholes are the frames of whole conversions, by way.
type wholes map[decision.Way]*collectingSink

// of returns the frames of a whole conversion of a clip in a way.
func (w wholes) of(t *testing.T, clip string, o pipeline.Options, way decision.Way) *collectingSink {
	t.Helper()
	if w[way] == nil {
		o.Synthesis.Preset, o.Timing.Shutter = way.Preset, way.Open()
		o.Synthesis.Decisions = slices.Clone(o.Synthesis.Decisions)
		for i := range o.Synthesis.Decisions {
			d := &o.Synthesis.Decisions[i]
			d.Preset, d.Shutter = "", ""
			if way.Blurs() {
				d.Method = ""
			}
		}
		w[way] = onProcessor(t, clip, settled(t, o))
	}
	return w[way]
}

// A frame with a preset or a shutter of its own is that of a whole conversion with them, the
// other frames are those of a conversion without decisions, and so are the records.
func TestWays(t *testing.T) {
	const width, height = 72, 50
	moving, cut := writeScene(t, width, height, 12, 24, 1), writeCut(t, width, height, 12)
	twos := onTwos(t, width, height, []int{2, 1, 2, 1, 2, 1, 2})
	triple, no := pipeline.Rate{Value: ratio("3"), Multiple: true}, false
	for name, c := range map[string]struct {
		clip string
		pipeline.Options
		ranges []ranged
	}{
		"preset":        {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}}, []ranged{{7, 15, pipeline.Fast, ""}}},
		"presets":       {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}}, []ranged{{0, 3, pipeline.Fast, ""}, {4, 4, pipeline.Best, ""}, {10, 12, pipeline.Best, ""}, {30, 35, pipeline.Fast, ""}}},
		"all":           {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}}, []ranged{{0, 35, pipeline.Fast, ""}}},
		"shutter":       {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}}, []ranged{{5, 9, "", "180"}}},
		"no shutter":    {moving, pipeline.Options{Timing: pipeline.Timing{Shutter: ratio("1/2")}}, []ranged{{3, 6, "", "0"}, {9, 9, pipeline.Best, "360"}}},
		"both":          {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}}, []ranged{{4, 8, pipeline.Best, "360"}, {9, 9, "", "90"}, {10, 20, pipeline.Fast, ""}}},
		"cut":           {cut, pipeline.Options{Timing: pipeline.Timing{Rate: triple}}, []ranged{{9, 17, pipeline.Fast, ""}, {18, 22, "", "360"}}},
		"cut denied":    {cut, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Decisions: []pipeline.Decision{{Frame: 16, Cut: &no, Line: 1}}}}, []ranged{{12, 14, pipeline.Fast, ""}, {18, 20, "", "360"}}},
		"repeats":       {twos, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Duplicates: pipeline.RetimeDuplicates}}, []ranged{{6, 12, pipeline.Fast, ""}, {13, 14, pipeline.Best, "180"}}},
		"kept":          {moving, pipeline.Options{Timing: pipeline.Timing{KeepTimestamps: true, Slow: ratio("2")}}, []ranged{{7, 11, pipeline.Fast, ""}}},
		"faster":        {moving, pipeline.Options{Timing: pipeline.Timing{Slow: ratio("3/7")}}, []ranged{{1, 2, pipeline.Fast, ""}, {3, 3, "", "360"}}},
		"much slower":   {moving, pipeline.Options{Timing: pipeline.Timing{Slow: ratio("9")}}, []ranged{{20, 23, pipeline.Fast, ""}, {25, 26, "", "180"}}},
		"without flow":  {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}, []ranged{{5, 9, pipeline.Best, "180"}}},
		"with a method": {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Decisions: []pipeline.Decision{{Frame: 20, Method: pipeline.Nearest, Preset: pipeline.Best}, {Frame: 22, Method: pipeline.Blended, Preset: pipeline.Best}}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.Options
			o.Input.File, o.Output.File, o.Compute.Threads = "a", "b", 2
			for _, r := range c.ranges {
				o.Synthesis.Decisions = append(o.Synthesis.Decisions, r.decisions()...)
			}
			s := settled(t, o)
			got := onProcessor(t, c.clip, s)
			ways, err := s.Ways()
			must(t, err)
			known := wholes{}
			if n := len(known.of(t, c.clip, named(c.Options), ways.Own()).frames); len(got.frames) != n || len(got.records) != n {
				t.Fatalf("%d frames, want %d", len(got.frames), n)
			}
			for k := range got.frames {
				want := known.of(t, c.clip, named(c.Options), ways.Of(int64(k)))
				if string(got.frames[k]) != string(want.frames[k]) {
					t.Errorf("frame %d is not that of a whole conversion as %v", k, ways.Of(int64(k)))
				}
				if g, w := text(t, got.records[k]), text(t, want.records[k]); g != w {
					t.Errorf("record %s, want %s", g, w)
				}
			}
		})
	}
}

// named returns o with names of files and few threads.
func named(o pipeline.Options) pipeline.Options {
	o.Input.File, o.Output.File, o.Compute.Threads = "a", "b", 2
	return o
}

func text(t *testing.T, r pipeline.Record) string {
	t.Helper()
	b, err := json.Marshal(r)
	must(t, err)
	return string(b)
}

// Ranges make the frames of the whole, wherever they end: at the border of a range of decisions,
// one frame off it, or within.
func TestWaysInRanges(t *testing.T) {
	clip := writeScene(t, 72, 50, 12, 24, 1)
	o := settled(t, named(pipeline.Options{Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("3"), Multiple: true}}}))
	o.Synthesis.Decisions = append(ranged{10, 16, pipeline.Fast, ""}.decisions(), ranged{17, 20, pipeline.Best, "180"}.decisions()...)
	whole := onProcessor(t, clip, o)
	for _, borders := range [][]int64{{0, 10, 17, 21, 36}, {0, 9, 18, 36}, {0, 11, 13, 20, 36}, {12, 14}, {22, 36}} {
		for i := range borders[1:] {
			s, err := synth.NewCPU(o.WarpParams())
			must(t, err)
			got, err := rangeThrough(t, clip, o, s, stages.Range{First: borders[i], End: borders[i+1]})
			s.Close()
			must(t, err)
			want := &collectingSink{frames: whole.frames[borders[i]:borders[i+1]], records: whole.records[borders[i]:borders[i+1]]}
			if list := got.differences(want); len(list) > 0 {
				t.Errorf("frames %d to %d: %v differ", borders[i], borders[i+1], list)
			}
		}
	}
}

// Devices make the frames of the CPU, those of another way on a synthesizer of their own.
func TestWaysOnDevices(t *testing.T) {
	clip := writeScene(t, 72, 50, 8, 24, 1)
	o := settled(t, named(pipeline.Options{Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("3"), Multiple: true}}}))
	o.Synthesis.Decisions = append(ranged{5, 9, pipeline.Fast, ""}.decisions(), ranged{10, 12, pipeline.Best, "180"}.decisions()...)
	want := onProcessor(t, clip, o)
	s := emulated(t, o, kernels.NewLate(1))
	defer s.Close()
	source, err := media.Open(t.Context(), clip, media.ReaderOptions{})
	must(t, err)
	defer source.Close()
	plan, err := o.Plan(source.Video())
	must(t, err)
	got := &collectingSink{memory: s.Memory()}
	o.Hooks.Record = func(r pipeline.Record) { got.records = append(got.records, r) }
	var drivers []*closedDriver
	p := o.LineParams()
	p.Open = func(preset pipeline.Preset) (synth.Synthesizer, error) {
		drivers = append(drivers, &closedDriver{Late: kernels.NewLate(1)})
		chosen := *o
		chosen.Synthesis.Preset = preset
		return emulated(t, &chosen, drivers[len(drivers)-1]), nil
	}
	must(t, stages.NewLine(p, plan, got, s).Run(t.Context(), source, &plan.Passes[0], stages.Whole()))
	if list := got.differences(want); len(list) > 0 {
		t.Errorf("frames %v differ from the CPU's", list)
	}
	if len(drivers) != 2 {
		t.Fatalf("%d devices were opened, want 2", len(drivers))
	}
	for _, d := range drivers {
		if !d.closed || d.err != nil {
			t.Errorf("a device is closed: %t, %v", d.closed, d.err)
		}
	}
}

// A synthesizer is opened for the ways of the frames that are made, and closed if the next cannot
// be opened, or after an error.
func TestWaysThatFail(t *testing.T) {
	clip := writeScene(t, 72, 50, 8, 24, 1)
	o := settled(t, named(pipeline.Options{Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("3"), Multiple: true}}}))
	o.Synthesis.Decisions = append(ranged{5, 9, pipeline.Best, ""}.decisions(), ranged{10, 12, pipeline.Fast, ""}.decisions()...)
	run := func(want stages.Range, open func(n int) error, sink pipeline.Sink) (opened, closed int, err error) {
		s, err := synth.NewCPU(o.WarpParams())
		must(t, err)
		defer s.Close()
		source, err := media.Open(t.Context(), clip, media.ReaderOptions{})
		must(t, err)
		defer source.Close()
		plan, err := o.Plan(source.Video())
		must(t, err)
		p := o.LineParams()
		p.Open = func(preset pipeline.Preset) (synth.Synthesizer, error) {
			if err := open(opened); err != nil {
				return nil, err
			}
			opened++
			s, err := o.LineParams().Open(preset)
			return &counted{s, &closed}, err
		}
		err = stages.NewLine(p, plan, sink, s).Run(context.Background(), source, &plan.Passes[0], want)
		return opened, closed, err
	}
	fine := func(int) error { return nil }
	if opened, closed, err := run(stages.Range{End: 5}, fine, media.Discard{}); opened != 0 || closed != 0 || err != nil {
		t.Errorf("no such frame is made: %d opened, %d closed, %v", opened, closed, err)
	}
	if opened, closed, err := run(stages.Range{First: 6, End: 8}, fine, media.Discard{}); opened != 1 || closed != 1 || err != nil {
		t.Errorf("frames of one way are made: %d opened, %d closed, %v", opened, closed, err)
	}
	if opened, closed, err := run(stages.Whole(), func(n int) error {
		if n == 1 {
			return errBroken
		}
		return nil
	}, media.Discard{}); opened != 1 || closed != 1 || !errors.Is(err, errBroken) {
		t.Errorf("the second cannot be opened: %d opened, %d closed, %v", opened, closed, err)
	}
	if opened, closed, err := run(stages.Whole(), fine, &fullSink{left: 7}); opened != 2 || closed != 2 || !errors.Is(err, errBroken) {
		t.Errorf("the sink fails: %d opened, %d closed, %v", opened, closed, err)
	}
}

// counted is a synthesizer that counts its end.
type counted struct {
	synth.Synthesizer
	closed *int
}

func (c *counted) Close() {
	*c.closed++
	c.Synthesizer.Close()
}

// fullSink fails after so many frames.
type fullSink struct {
	media.Discard
	left int
}

func (s *fullSink) WriteFrame(*frame.Frame, *big.Rat, *big.Rat) error {
	if s.left--; s.left < 0 {
		return errBroken
	}
	return nil
}

// Decisions that contradict each other or other options are refused, and the message names the
// line.
func TestWaysThatContradict(t *testing.T) {
	o := lossless(t, "in.mkv")
	shutter := pipeline.Decision{Frame: 4, Shutter: "180", Line: 7}
	for _, c := range []struct {
		edit func(o *pipeline.Options)
		want string
	}{
		{func(o *pipeline.Options) {
			o.Synthesis.Decisions = []pipeline.Decision{{Frame: 4, Method: pipeline.FromSource, Shutter: "180", Line: 7}}
		}, "line 7: frame 4 has a method or regions, which are about a single moment, and an open shutter; leave out one"},
		{func(o *pipeline.Options) {
			d := shutter
			d.Regions = []pipeline.Region{{Method: pipeline.Nearest, Outline: [][2]float64{{0, 0}, {4, 0}, {0, 4}}}}
			o.Synthesis.Decisions = []pipeline.Decision{d}
		}, "line 7: frame 4 has a method or regions"},
		{func(o *pipeline.Options) {
			o.Timing.Shutter = big.NewRat(1, 2)
			o.Synthesis.Decisions = []pipeline.Decision{{Frame: 3, Shutter: "0", Method: pipeline.Nearest}, {Frame: 4, Method: pipeline.Nearest, Line: 7}}
		}, "line 7: frame 4 has a method or regions"},
		{func(o *pipeline.Options) {
			o.Timing.KeepTimestamps, o.Synthesis.Decisions = true, []pipeline.Decision{shutter}
		}, "line 7: frame 4 has a shutter, which needs frames of one length"},
		{func(o *pipeline.Options) {
			o.Synthesis.Decisions, o.Hooks.ConfidenceMap = []pipeline.Decision{shutter}, func(int64, frame.Image[uint8]) error { return nil }
		}, "line 7: frame 4 has a shutter; Hooks.ConfidenceMap"},
		{func(o *pipeline.Options) {
			for i := range int64(9) {
				o.Synthesis.Decisions = append(o.Synthesis.Decisions, pipeline.Decision{Frame: i, Shutter: json.Number(big.NewInt(i + 1).String())})
			}
		}, "9 different pairs of a preset and a shutter; at most 8"},
		{func(o *pipeline.Options) { o.Synthesis.Decisions = []pipeline.Decision{{Frame: 1, Preset: "slow"}} }, `no preset "slow"`},
	} {
		o := o
		c.edit(&o)
		if _, err := o.Settle(); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	o.Timing.Shutter = big.NewRat(1, 2)
	cut := true
	o.Synthesis.Decisions = []pipeline.Decision{{Frame: 3, Shutter: "0", Method: pipeline.Nearest}, {Frame: 4, Preset: pipeline.Best, Cut: &cut}}
	settled(t, o)
}

// Frames at given times have no length, so no shutter is open for a share of it.
func TestConvertWithWays(t *testing.T) {
	times := []int64{0, 5, 10, 15}
	for _, c := range []struct {
		d    pipeline.Decision
		want fault.Kind
	}{{pipeline.Decision{Frame: 1, Preset: pipeline.Best}, 0}, {pipeline.Decision{Frame: 1, Shutter: "90"}, fault.Usage}} {
		_, err := pipeline.Convert(t.Context(), &levelSource{levels: []uint8{1, 2, 3, 4}}, media.Discard{}, times, pipeline.Options{Synthesis: pipeline.Synthesis{Decisions: []pipeline.Decision{c.d}}})
		if (err == nil) != (c.want == 0) || err != nil && fault.KindOf(err) != c.want {
			t.Errorf("%+v: %v", c.d, err)
		}
	}
}
