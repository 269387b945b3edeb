package pipeline

import (
	"context"
	"errors"
	"io"
	"math/big"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// Dissection is one made frame with all that it was made from. Its frames are
// released by Release.
type Dissection struct {
	Video       media.Video
	At          *big.Rat     // its moment, in seconds of the input
	First       *frame.Frame // the source frames around it
	Second      *frame.Frame
	FirstAt     *big.Rat
	SecondAt    *big.Rat
	Made        *frame.Frame
	Phase       warp.Phase
	Record      Record        // its Sources do not count
	Interval    warp.Interval // what the synthesis was given
	Inspection  warp.Inspection
	Confidence  frame.Image[uint8]    // on the guides' grid
	Holes       [2]frame.Image[uint8] // of the flows from the first and the second frame, 255 there
	CutScore    float64
	CutFrom     float64 // the score from which nothing would be made
	Outer       int     // how many frames beyond the two were looked at, 0 to 2
	frames      []*frame.Frame
	synthesizer Synthesizer
}

// Release lets go of the frames.
func (d *Dissection) Release() {
	d.synthesizer.Close()
	for _, f := range d.frames {
		f.Release()
	}
	if d.Made != nil {
		d.Made.Release()
	}
}

// seekBack is how long before the moment reading begins, in seconds, for two frames
// to lie there.
const seekBack = 2

// Dissect makes the frame of o.Input at a moment in seconds, in mode Project on the
// CPU, even across a scene cut. A moment on which a source frame lies, or that lies
// outside the input, is a fault.Usage error.
func Dissect(ctx context.Context, o Options, at *big.Rat) (*Dissection, error) {
	d, err := dissect(ctx, o, at)
	if err != nil && ctx.Err() != nil {
		return nil, fault.Cancel(ctx, "cancelled")
	}
	return d, err
}

func dissect(ctx context.Context, o Options, at *big.Rat) (_ *Dissection, err error) {
	never := 2.0
	threshold := DefaultSceneThreshold
	if o.Synthesis.SceneThreshold != nil {
		threshold = *o.Synthesis.SceneThreshold
	}
	o.Synthesis.Mode, o.Synthesis.SceneThreshold, o.Synthesis.Scenes, o.Timing.Shutter, o.Synthesis.Decisions, o.Synthesis.Duplicates = warp.Project, &never, nil, nil, nil, KeepDuplicates
	if err := o.settle(); err != nil {
		return nil, err
	}
	from := new(big.Rat).Sub(at, big.NewRat(seekBack, 1))
	if from.Sign() < 0 {
		from.SetInt64(0)
	}
	reader, err := media.Open(ctx, o.Input.File, media.ReaderOptions{Format: o.Input.Format, Threads: o.Compute.Threads, From: from, Log: o.Hooks.Log})
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	synth, err := newCPUSynthesizer(&o)
	if err != nil {
		return nil, err
	}
	d := &Dissection{Video: reader.Video(), At: at, CutFrom: threshold, synthesizer: synth}
	defer func() {
		if err != nil {
			d.Release()
		}
	}()
	p := &plan{clock: newClock(d.Video)}
	p.clock.at(d.Video.FirstPTS)
	first, err := d.read(reader, p.clock, o.Input.File)
	if err != nil {
		return nil, err
	}
	// One moment in each of the intervals: motion that is not straight shows in the
	// outer ones.
	var times []*big.Rat
	target := 0
	for i := 0; i+1 < len(d.frames); i++ {
		a, b := p.clock.at(d.frames[i].PTS), p.clock.at(d.frames[i+1].PTS)
		if i == first {
			target = i
			d.First, d.Second, d.FirstAt, d.SecondAt = d.frames[i], d.frames[i+1], a, b
			times = append(times, at)
			continue
		}
		middle := new(big.Rat).Add(a, b)
		times = append(times, middle.Quo(middle, big.NewRat(2, 1)))
	}
	d.Outer = len(d.frames) - 2
	p.total = int64(len(times))
	p.lines = []timeline{{times: times, frames: p.total}}
	watch := &watcher{Synthesizer: synth, d: d}
	sink := &keeper{d: d, target: int64(target)}
	o.Hooks.Record = func(r Record) {
		if r.Frame == sink.target {
			d.Record, d.CutScore = r, r.CutScore
		}
	}
	c := &conversion{o: &o, plan: p, source: &frameSource{d.Video, d.frames, 0}, sink: sink, synth: watch}
	if _, err := c.run(ctx); err != nil {
		return nil, err
	}
	if d.Interval.A == nil {
		return nil, fault.New(fault.Usage, "moment %s: the frames around it, at %s and %s, are equal; nothing is made between them",
			seconds(at), seconds(d.FirstAt), seconds(d.SecondAt))
	}
	a := warp.Assessor{Workers: o.workers()}
	a.Begin(d.Interval)
	d.Confidence = a.Confidence(d.Phase)
	d.Holes = a.Holes()
	return d, nil
}

// read keeps the frames that the dissection needs, up to two on either side of its
// moment, and returns which is the last before it.
func (d *Dissection) read(r *media.Reader, clock *clock, input string) (first int, err error) {
	beyond := 0 // frames after the moment
	for beyond < 2 {
		f, err := r.Read()
		if errors.Is(err, io.EOF) || err != nil && fault.KindOf(err) == fault.BadData && beyond > 0 {
			break
		} else if err != nil {
			return 0, err
		}
		t := clock.at(f.PTS)
		switch t.Cmp(d.At) {
		case 0:
			f.Release()
			return 0, fault.New(fault.Usage, "moment %s: a source frame lies there, and nothing is made; choose a moment between two frames", seconds(d.At))
		case 1:
			beyond++
		}
		d.frames = append(d.frames, f)
		if beyond == 0 && len(d.frames) > 2 {
			d.frames[0].Release()
			d.frames = d.frames[1:]
		}
	}
	if first = len(d.frames) - beyond - 1; first < 0 || beyond == 0 {
		return 0, fault.New(fault.Usage, "moment %s: no frame of %q lies before or after it", seconds(d.At), input)
	}
	return first, nil
}

// frameSource delivers frames that are there.
type frameSource struct {
	video  media.Video
	frames []*frame.Frame
	next   int
}

func (s *frameSource) Video() media.Video { return s.video }

func (s *frameSource) Read() (*frame.Frame, error) {
	if s.next == len(s.frames) {
		return nil, io.EOF
	}
	s.next++
	return s.frames[s.next-1].Retain(), nil
}

// keeper keeps one of the frames that are written.
type keeper struct {
	d       *Dissection
	target  int64
	written int64
}

func (k *keeper) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

func (k *keeper) WriteFrame(f *frame.Frame) error {
	if k.written == k.target {
		k.d.Made = f.Retain()
	}
	k.written++
	return nil
}

// watcher notes how the frame of the dissection is made.
type watcher struct {
	Synthesizer
	d  *Dissection
	in warp.Interval
}

func (w *watcher) Begin(in warp.Interval) error {
	w.in = in
	return w.Synthesizer.Begin(in)
}

func (w *watcher) Make(dst *frame.Frame, phase warp.Phase) (warp.Made, error) {
	made, err := w.Synthesizer.Make(dst, phase)
	if err == nil && w.in.A == w.d.First {
		w.d.Interval, w.d.Phase = w.in, phase
		w.d.Inspection = w.Synthesizer.(*warp.Synthesizer).Inspect().Clone()
	}
	return made, err
}
