package evaluate

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/evaluate/exhibit"
	"retime/pipeline/evaluate/measure"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/pixel"
)

// evaluation is the state of one Run.
type evaluation struct {
	o       *Options
	clip    *clip
	methods []method
	meter   *measure.Meter
	gallery *exhibit.Gallery
	regions *exhibit.Regions

	failed  []report.Failure // the peers that were left out
	timings []timing
	scores  [][]score           // by method and held-out frame
	records [][]pipeline.Record // the same, for the methods that record
	done    int64               // frames made so far, for progress
	total   int64
}

func newEvaluation(o *Options, c *clip, methods []method) (*evaluation, error) {
	e := &evaluation{o: o, clip: c, methods: methods}
	var err error
	if e.meter, err = measure.NewMeter(c.video, o.workers()); err != nil {
		return nil, err
	}
	if !o.NoVIF {
		if err := e.meter.MeasureVIF(c.video); err != nil {
			o.Log.Warn("visual information fidelity is left out", "reason", err)
		}
	}
	if o.LPIPS != "" {
		if err := e.meter.MeasureLPIPS(c.video, o.LPIPS); err != nil {
			e.meter.Close()
			return nil, fault.New(fault.KindOf(err), "LPIPS: %w", err)
		}
	}
	if e.gallery, err = exhibit.NewGallery(o.Worst, c.video, o.Threads); err != nil {
		e.meter.Close()
		return nil, err
	}
	if e.regions, err = exhibit.NewRegions(o.Regions, c.video, o.Threads); err != nil {
		e.meter.Close()
		e.gallery.Close()
		return nil, err
	}
	return e, nil
}

func (e *evaluation) close() {
	e.meter.Close()
	e.gallery.Close()
	e.regions.Close()
}

func (e *evaluation) progress() {
	e.done++
	e.o.Progress(pipeline.Progress{Frames: e.done, Total: e.total})
}

const (
	// timedFrames is the number of frames that each method makes against the clock;
	// timedBytes bounds the memory of their neighbours.
	timedFrames = 16
	timedBytes  = 128 << 20
)

// timing is how long a method took for frames whose neighbours were already decoded, without
// comparing the results.
type timing struct {
	frames  int
	elapsed time.Duration
}

func (t timing) perFrame() float64 { return t.elapsed.Seconds() / float64(t.frames) }

func (e *evaluation) timeAll(ctx context.Context) error {
	kept, held, err := e.clip.head(ctx, timedFrames, timedBytes)
	if err != nil {
		return err
	}
	defer releaseAll(kept)
	e.total = int64(len(e.methods) * (held + len(e.clip.held)))
	return e.each(ctx, func(m method) error {
		sink := &timedSink{progress: e.progress}
		elapsed, err := m.maker.make(ctx, job{e.clip, &replay{e.clip.video, kept}, sink, e.clip.stamps(held)})
		if err != nil {
			return err
		}
		if sink.frames != held {
			return fmt.Errorf("made %d of %d frames", sink.frames, held)
		}
		e.timings = append(e.timings, timing{held, elapsed})
		return nil
	})
}

// each calls try for all methods. It leaves out the peers for which try fails.
func (e *evaluation) each(ctx context.Context, try func(method) error) error {
	for i := 0; i < len(e.methods); {
		m, done := e.methods[i], e.done
		err := try(m)
		switch {
		case err == nil:
			i++
		case m.kind != report.Peer || ctx.Err() != nil:
			return e.named(m, err)
		default:
			e.o.Log.Warn("a peer failed and is left out", "peer", m.name, "reason", err)
			e.failed = append(e.failed, report.Failure{Name: m.name, Error: err.Error()})
			e.done = done
			e.leaveOut(i)
		}
	}
	return nil
}

// leaveOut removes method i, which may have failed at any point.
func (e *evaluation) leaveOut(i int) {
	e.methods = slices.Delete(e.methods, i, i+1)
	e.total -= int64(len(e.clip.held))
	if i < len(e.timings) {
		e.timings = slices.Delete(e.timings, i, i+1)
	} else {
		e.total -= int64(e.timings[0].frames) // the first method is never a peer
	}
	e.gallery.KeepViews(i)
	e.regions.KeepViews(i)
}

// named adds the method to err.
func (e *evaluation) named(m method, err error) error {
	return fault.New(fault.KindOf(err), "%s %q: %w", m.kind, m.name, err)
}

// replay is a pipeline.Source that delivers frames from memory.
type replay struct {
	video  media.Video
	frames []*frame.Frame
}

func (r *replay) Video() media.Video { return r.video }

func (r *replay) Read() (*frame.Frame, error) {
	if len(r.frames) == 0 {
		return nil, io.EOF
	}
	f := r.frames[0].Retain()
	r.frames = r.frames[1:]
	return f, nil
}

// timedSink is a pipeline.Sink that counts frames and drops them.
type timedSink struct {
	frames   int
	progress func()
}

func (*timedSink) NewFrame(like *frame.Frame) (*frame.Frame, error) { return pixel.NewFrame(like) }

func (s *timedSink) WriteFrame(*frame.Frame, *big.Rat, *big.Rat) error {
	s.frames++
	s.progress()
	return nil
}
