package pipeline

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retime/cuda"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/pixel"
	"retime/warp"
)

// StageTime is how long a part of a conversion takes when nothing else runs.
type StageTime struct {
	Name    string
	Elapsed time.Duration // for the whole clip
}

// StageStudy is how long the stages of a conversion take, each alone and all together,
// once everything has started.
type StageStudy struct {
	Frames, Made int64 // of the output, and those of them that are made
	Alone        []StageTime
	// Flow is how long the flow takes to estimate, over all workers.
	Flow    time.Duration
	Whole   time.Duration // the median of three runs
	Backend Backend
	Devices []string
}

// Slowest is the stage that takes longest alone.
func (s *StageStudy) Slowest() StageTime {
	return slices.MaxFunc(s.Alone, func(a, b StageTime) int { return int(a.Elapsed - b.Elapsed) })
}

// studied is from how many intervals the times of stages are taken that need them in
// memory.
const studied = 48

// StudyStages converts o.Input, drops the frames, and measures the stages. Flow is
// estimated once and kept in o.FlowCache, which must be set; what is measured reads it
// there. o must make frames by motion. watch, which may be nil, is called before the
// last run of all stages, and what it returns behind it.
func StudyStages(ctx context.Context, o Options, watch func() (stop func() error, err error)) (*StageStudy, error) {
	o.Output.File, o.Output.Format, o.Output.VideoCodec, o.Output.NoVerify = "-", "null", "rawvideo", true
	if err := o.settle(); err != nil {
		return nil, err
	}
	if !o.Synthesis.Mode.UsesFlow() || o.Synthesis.FlowCache == "" {
		return nil, fault.New(fault.Usage, "measuring stages takes a mode with optical flow and a directory to keep that in")
	}
	synth, err := newSynthesizer(&o)
	if err != nil {
		return nil, err
	}
	defer synth.Close()
	return studyStages(ctx, &o, synth, watch)
}

func studyStages(ctx context.Context, o *Options, synth Synthesizer, watch func() (func() error, error)) (_ *StageStudy, err error) {
	s := &study{o: o, synth: synth, watch: watch}
	var report Report
	describeBackend(&report, synth)
	s.Backend, s.Devices = report.Backend, report.Devices
	for _, measure := range []func(context.Context) error{s.whole, s.collect, s.decode, s.flow, s.synthesis} {
		if err = measure(ctx); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
	}
	for _, t := range s.tasks {
		t.release()
	}
	return &s.StageStudy, cancelled(ctx, err)
}

// study is a StageStudy in the making.
type study struct {
	StageStudy
	o      *Options
	synth  Synthesizer
	watch  func() (stop func() error, err error)
	tasks  []*task
	phases [][]warp.Phase
	// intervals is how many of the clip's have frames made in them.
	intervals int64
}

func (s *study) note(name string, d time.Duration) { s.Alone = append(s.Alone, StageTime{name, d}) }

// open returns a conversion of the whole clip.
func (s *study) open(ctx context.Context) (*conversion, *media.Reader, error) {
	source, err := media.Open(ctx, s.o.Input.File, s.o.readerOptions())
	if err != nil {
		return nil, nil, err
	}
	plan, err := newPlan(s.o, source.Video())
	if err != nil {
		source.Close()
		return nil, nil, err
	}
	return &conversion{o: s.o, plan: plan, source: source, synth: s.synth}, source, nil
}

// whole runs all stages together: once to estimate the flow and to start what must,
// then three times.
func (s *study) whole(ctx context.Context) error {
	var times []time.Duration
	const runs = 4
	for i := range runs {
		c, source, err := s.open(ctx)
		if err != nil {
			return err
		}
		var took time.Duration
		if i == runs-1 && s.watch != nil {
			took, err = s.watched(ctx, c, source)
		} else {
			took, err = s.run(ctx, c, source)
		}
		source.Close()
		if err != nil {
			return err
		}
		if i == 0 {
			s.Frames, s.Made, s.Flow = c.frames, c.made, c.times.stages().Flow
			continue
		}
		times = append(times, took)
	}
	slices.Sort(times)
	s.Whole = times[len(times)/2]
	return nil
}

// watched is run under watch.
func (s *study) watched(ctx context.Context, c *conversion, source *media.Reader) (time.Duration, error) {
	stop, err := s.watch()
	if err != nil {
		return 0, err
	}
	took, err := s.run(ctx, c, source)
	if e := stop(); err == nil {
		err = e
	}
	return took, err
}

func (s *study) run(ctx context.Context, c *conversion, source *media.Reader) (time.Duration, error) {
	writer, err := media.Create(ctx, s.o.Output.File, source, c.plan.writerOptions(s.o, s.synth))
	if err != nil {
		return 0, err
	}
	defer writer.Abort()
	c.sink = writer
	start := time.Now()
	damage, err := c.run(ctx)
	if err == nil {
		err = damage
	}
	return time.Since(start), err
}

// collect keeps the first intervals in which frames are made.
func (s *study) collect(ctx context.Context) error {
	c, source, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer source.Close()
	group, ctx := errgroup.WithContext(ctx)
	tasks, leave, err := c.analyse(ctx, group)
	if err != nil {
		return err
	}
	group.Go(func() error {
		for t := range tasks {
			if t.made == 0 {
				t.release()
				continue
			}
			if s.intervals++; len(s.tasks) == studied {
				t.release()
				continue
			}
			s.tasks = append(s.tasks, t)
			var phases []warp.Phase
			for _, slot := range t.slots {
				if c.method(t.interval, slot) == Interpolated {
					phases = append(phases, slot.phase)
				}
			}
			s.phases = append(s.phases, phases)
		}
		return ctx.Err()
	})
	err = group.Wait()
	leave()
	if err == nil && len(s.tasks) == 0 {
		err = fault.New(fault.Usage, "no frame of %q is made; give another rate", s.o.Input.File)
	}
	return err
}

// all is d, which the kept intervals took, for all of the clip.
func (s *study) all(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(s.intervals) / float64(len(s.tasks)))
}

// decode reads all frames.
func (s *study) decode(ctx context.Context) error {
	c, source, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer source.Close()
	start := time.Now()
	for {
		f, err := source.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		f.Release()
		if t := c.plan.to; t != nil && c.plan.clock.at(f.PTS).Cmp(t) >= 0 {
			break
		}
	}
	s.note("decode", time.Since(start))
	return nil
}

// flow makes the pictures that motion is estimated on and reads the flow of the kept
// intervals, with as many workers as a run has.
func (s *study) flow(ctx context.Context) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	workers := s.o.flowWorkers()
	var opened []*estimators
	defer func() {
		for _, e := range opened {
			e.close()
		}
	}()
	for range workers {
		e, err := newEstimators(s.o)
		if err != nil {
			return err
		}
		opened = append(opened, e)
	}
	// The pictures' views are made anew, once each.
	c := &conversion{o: s.o, level: s.tasks[0].in.Level}
	intervals := make([]*interval, len(s.tasks))
	for i, t := range s.tasks {
		a, b := t.a, t.b
		a.view, b.view = c.view(a.Frame), c.view(b.Frame)
		if i > 0 && intervals[i-1].b.Frame == a.Frame {
			a.view = intervals[i-1].b.view
		}
		intervals[i] = &interval{a: a, b: b}
	}
	start := time.Now()
	for _, e := range opened {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(intervals) || ctx.Err() != nil {
					return ctx.Err()
				}
				v := intervals[i]
				if err := e.estimate(v); err != nil {
					return err
				}
				v.change = measureChange(v.a.guide(), v.b.guide(), v.flows[0])
			}
		})
	}
	err := group.Wait()
	s.note("flow, read", s.all(time.Since(start)))
	return err
}

// synthesis makes the frames of the kept intervals, on a device in three parts.
func (s *study) synthesis(ctx context.Context) error {
	clip := make([]warp.Interval, len(s.tasks))
	frames := 0
	for i, t := range s.tasks {
		clip[i] = t.in
		frames += len(s.phases[i])
	}
	like := clip[0].A
	d, ok := s.synth.(*devices)
	if !ok {
		return s.onCPU(ctx, clip)
	}
	gpu := d.list[0].device.(*device).Starter.(*cuda.Synthesizer)
	var turns []warp.Interval // of this device
	for i, phases := range s.phases {
		for _, u := range d.share(len(phases)) {
			if u.device == 0 {
				turns = append(turns, clip[i])
			}
		}
	}
	took, err := gpu.TimeUploads(turns)
	if err != nil {
		return err
	}
	s.note("upload", s.all(took))
	if took, err = gpu.TimeKernels(clip, s.phases); err != nil {
		return err
	}
	s.note("kernels", s.all(took)/time.Duration(len(d.list)))
	pool := pixel.Pool{Memory: memoryOf(d)}
	defer pool.Close()
	share := func(n int) int { return (n + len(d.list) - 1) / len(d.list) }
	took, err = gpu.TimeDownloads(clip[0], share(frames), share(maxStarted(len(d.list))),
		func() (*frame.Frame, error) { return pool.NewFrame(like) }, (*frame.Frame).Release)
	s.note("download", s.all(took))
	return err
}

func (s *study) onCPU(ctx context.Context, clip []warp.Interval) error {
	start := time.Now()
	for i, in := range clip {
		if err := s.synth.Begin(in); err != nil {
			return err
		}
		for _, phase := range s.phases[i] {
			f, err := pixel.NewFrame(in.A)
			if err != nil {
				return err
			}
			_, err = s.synth.Make(f, phase)
			f.Release()
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
		}
	}
	s.note("synthesis", s.all(time.Since(start)))
	return nil
}
