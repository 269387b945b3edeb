//go:build unix

package pipeline

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
	preset      Preset
	shutter     json.Number
}

func (r ranged) decisions() (list []Decision) {
	for k := r.first; k <= r.last; k++ {
		list = append(list, Decision{Frame: k, Preset: r.preset, Shutter: r.shutter})
	}
	return list
}

// wholes are the frames of whole conversions, by way.
type wholes map[decision.Way]*collectingSink

// of returns the frames of a whole conversion of a clip in a way.
func (w wholes) of(t *testing.T, clip string, o Options, way decision.Way) *collectingSink {
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
	moving, cut := writeScene(t, width, height, 12, 24, 1), halfScenes(t, width, height, 12)
	twos := onTwos(t, width, height, []int{2, 1, 2, 1, 2, 1, 2})
	triple, no := Rate{Value: ratio("3"), Multiple: true}, false
	for name, c := range map[string]struct {
		clip string
		Options
		ranges []ranged
	}{
		"preset":        {moving, Options{Timing: Timing{Rate: triple}}, []ranged{{7, 15, Fast, ""}}},
		"presets":       {moving, Options{Timing: Timing{Rate: triple}}, []ranged{{0, 3, Fast, ""}, {4, 4, Best, ""}, {10, 12, Best, ""}, {30, 35, Fast, ""}}},
		"all":           {moving, Options{Timing: Timing{Rate: triple}}, []ranged{{0, 35, Fast, ""}}},
		"shutter":       {moving, Options{Timing: Timing{Rate: triple}}, []ranged{{5, 9, "", "180"}}},
		"no shutter":    {moving, Options{Timing: Timing{Shutter: ratio("1/2")}}, []ranged{{3, 6, "", "0"}, {9, 9, Best, "360"}}},
		"both":          {moving, Options{Timing: Timing{Rate: triple}}, []ranged{{4, 8, Best, "360"}, {9, 9, "", "90"}, {10, 20, Fast, ""}}},
		"cut":           {cut, Options{Timing: Timing{Rate: triple}}, []ranged{{9, 17, Fast, ""}, {18, 22, "", "360"}}},
		"cut denied":    {cut, Options{Timing: Timing{Rate: triple}, Synthesis: Synthesis{Decisions: []Decision{{Frame: 16, Cut: &no, Line: 1}}}}, []ranged{{12, 14, Fast, ""}, {18, 20, "", "360"}}},
		"repeats":       {twos, Options{Timing: Timing{Rate: triple}, Synthesis: Synthesis{Duplicates: RetimeDuplicates}}, []ranged{{6, 12, Fast, ""}, {13, 14, Best, "180"}}},
		"kept":          {moving, Options{Timing: Timing{KeepTimestamps: true, Slow: ratio("2")}}, []ranged{{7, 11, Fast, ""}}},
		"faster":        {moving, Options{Timing: Timing{Slow: ratio("3/7")}}, []ranged{{1, 2, Fast, ""}, {3, 3, "", "360"}}},
		"much slower":   {moving, Options{Timing: Timing{Slow: ratio("9")}}, []ranged{{20, 23, Fast, ""}, {25, 26, "", "180"}}},
		"without flow":  {moving, Options{Timing: Timing{Rate: triple}, Synthesis: Synthesis{Mode: warp.Blend}}, []ranged{{5, 9, Best, "180"}}},
		"with a method": {moving, Options{Timing: Timing{Rate: triple}, Synthesis: Synthesis{Decisions: []Decision{{Frame: 20, Method: Nearest, Preset: Best}, {Frame: 22, Method: Blended, Preset: Best}}}}, nil},
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
			if n := len(known.of(t, c.clip, c.in(t), ways.Own()).frames); len(got.frames) != n || len(got.records) != n {
				t.Fatalf("%d frames, want %d", len(got.frames), n)
			}
			for k := range got.frames {
				want := known.of(t, c.clip, c.in(t), ways.Of(int64(k)))
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

// in returns o with names of files and few threads.
func (o Options) in(t *testing.T) Options {
	t.Helper()
	o.Input.File, o.Output.File, o.Compute.Threads = "a", "b", 2
	return o
}

func text(t *testing.T, r Record) string {
	t.Helper()
	b, err := json.Marshal(r)
	must(t, err)
	return string(b)
}

// Ranges make the frames of the whole, wherever they end: at the border of a range of decisions,
// one frame off it, or within.
func TestWaysInRanges(t *testing.T) {
	clip := writeScene(t, 72, 50, 12, 24, 1)
	o := settled(t, Options{Timing: Timing{Rate: Rate{Value: ratio("3"), Multiple: true}}}.in(t))
	o.Synthesis.Decisions = append(ranged{10, 16, Fast, ""}.decisions(), ranged{17, 20, Best, "180"}.decisions()...)
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
	o := settled(t, Options{Timing: Timing{Rate: Rate{Value: ratio("3"), Multiple: true}}}.in(t))
	o.Synthesis.Decisions = append(ranged{5, 9, Fast, ""}.decisions(), ranged{10, 12, Best, "180"}.decisions()...)
	want := onProcessor(t, clip, o)
	s := emulated(t, o, kernels.NewLate(1))
	defer s.Close()
	source, err := media.Open(t.Context(), clip, media.ReaderOptions{})
	must(t, err)
	defer source.Close()
	plan, err := newPlan(o, source.Video())
	must(t, err)
	got := &collectingSink{memory: s.Memory()}
	o.Hooks.Record = func(r Record) { got.records = append(got.records, r) }
	var drivers []*closedDriver
	p := o.lineParams()
	p.Open = func(preset Preset) (synth.Synthesizer, error) {
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
	o := settled(t, Options{Timing: Timing{Rate: Rate{Value: ratio("3"), Multiple: true}}}.in(t))
	o.Synthesis.Decisions = append(ranged{5, 9, Best, ""}.decisions(), ranged{10, 12, Fast, ""}.decisions()...)
	run := func(want stages.Range, open func(n int) error, sink Sink) (opened, closed int, err error) {
		s, err := synth.NewCPU(o.WarpParams())
		must(t, err)
		defer s.Close()
		source, err := media.Open(t.Context(), clip, media.ReaderOptions{})
		must(t, err)
		defer source.Close()
		plan, err := newPlan(o, source.Video())
		must(t, err)
		p := o.lineParams()
		p.Open = func(preset Preset) (synth.Synthesizer, error) {
			if err := open(opened); err != nil {
				return nil, err
			}
			opened++
			s, err := o.withPreset(preset)
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
	shutter := Decision{Frame: 4, Shutter: "180", Line: 7}
	for _, c := range []struct {
		edit func(o *Options)
		want string
	}{
		{func(o *Options) {
			o.Synthesis.Decisions = []Decision{{Frame: 4, Method: FromSource, Shutter: "180", Line: 7}}
		}, "line 7: frame 4 has a method or regions, which are about a single moment, and an open shutter; leave out one"},
		{func(o *Options) {
			d := shutter
			d.Regions = []Region{{Method: Nearest, Outline: [][2]float64{{0, 0}, {4, 0}, {0, 4}}}}
			o.Synthesis.Decisions = []Decision{d}
		}, "line 7: frame 4 has a method or regions"},
		{func(o *Options) {
			o.Timing.Shutter = big.NewRat(1, 2)
			o.Synthesis.Decisions = []Decision{{Frame: 3, Shutter: "0", Method: Nearest}, {Frame: 4, Method: Nearest, Line: 7}}
		}, "line 7: frame 4 has a method or regions"},
		{func(o *Options) { o.Timing.KeepTimestamps, o.Synthesis.Decisions = true, []Decision{shutter} }, "line 7: frame 4 has a shutter, which needs frames of one length"},
		{func(o *Options) {
			o.Synthesis.Decisions, o.Hooks.ConfidenceMap = []Decision{shutter}, func(int64, frame.Image[uint8]) error { return nil }
		}, "line 7: frame 4 has a shutter; Hooks.ConfidenceMap"},
		{func(o *Options) {
			for i := range int64(9) {
				o.Synthesis.Decisions = append(o.Synthesis.Decisions, Decision{Frame: i, Shutter: json.Number(big.NewInt(i + 1).String())})
			}
		}, "9 different pairs of a preset and a shutter; at most 8"},
		{func(o *Options) { o.Synthesis.Decisions = []Decision{{Frame: 1, Preset: "slow"}} }, `no preset "slow"`},
	} {
		o := o
		c.edit(&o)
		if _, err := o.Settle(); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	o.Timing.Shutter = big.NewRat(1, 2)
	cut := true
	o.Synthesis.Decisions = []Decision{{Frame: 3, Shutter: "0", Method: Nearest}, {Frame: 4, Preset: Best, Cut: &cut}}
	settled(t, o)
}

// Frames at given times have no length, so no shutter is open for a share of it.
func TestConvertWithWays(t *testing.T) {
	times := []int64{0, 5, 10, 15}
	for _, c := range []struct {
		d    Decision
		want fault.Kind
	}{{Decision{Frame: 1, Preset: Best}, 0}, {Decision{Frame: 1, Shutter: "90"}, fault.Usage}} {
		_, err := Convert(t.Context(), &levelSource{levels: []uint8{1, 2, 3, 4}}, media.Discard{}, times, Options{Synthesis: Synthesis{Decisions: []Decision{c.d}}})
		if (err == nil) != (c.want == 0) || err != nil && fault.KindOf(err) != c.want {
			t.Errorf("%+v: %v", c.d, err)
		}
	}
}
