// Package stages measures the stages of a conversion, each alone and all together.
package stages

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/pixel"
	"retime/pipeline/motion"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/warp"
)

// Time is how long a part of a conversion takes when nothing else runs.
type Time struct {
	Name    string
	Elapsed time.Duration // for the whole clip
}

// Report holds the durations of the stages of a conversion, without their startup.
type Report struct {
	Frames, Made int64 // frames of the output, and how many of them were synthesized
	Alone        []Time
	// Flow is the time to estimate the flow with all workers.
	Flow    time.Duration
	Whole   time.Duration // the median of three runs
	Backend synth.Backend
	Devices []string
}

// Slowest returns the stage that takes longest on its own.
func (r *Report) Slowest() Time {
	return slices.MaxFunc(r.Alone, func(a, b Time) int { return int(a.Elapsed - b.Elapsed) })
}

// sampled is the number of intervals that the measured stages process in memory.
const sampled = 48

// Measure converts o.Input, drops the frames, and measures the stages. It estimates the flow once
// into o.Synthesis.FlowCache, which must be set, and reads it from there in the measured runs. o
// must make frames by motion. Unless watch is nil, Measure calls it before the last run of all
// stages, and stop after that run.
func Measure(ctx context.Context, o pipeline.Options, watch func() (stop func() error, err error)) (*Report, error) {
	o.Output = pipeline.Output{File: "-", Format: "null", VideoCodec: "rawvideo", NoVerify: true}
	settled, err := o.Settle()
	if err != nil {
		return nil, err
	}
	if !settled.Synthesis.Mode.UsesFlow() || settled.Synthesis.FlowCache == "" {
		return nil, fault.New(fault.Usage, "measuring stages takes a mode with optical flow and a directory to keep that in")
	}
	s, err := settled.Synthesizer()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return measure(ctx, settled, s, watch)
}

func measure(ctx context.Context, o *pipeline.Settled, s synth.Synthesizer, watch func() (func() error, error)) (*Report, error) {
	m := &measurement{o: o, synth: s, watch: watch}
	summary := s.Summary()
	m.Backend, m.Devices = summary.Backend, summary.Devices
	defer m.sample.release()
	for _, step := range []func(context.Context) error{m.whole, m.collect, m.decode, m.flow, m.synthesis} {
		err := step(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fault.Interrupted(ctx, err)
		}
	}
	return &m.Report, nil
}

// measurement is a Report being made.
type measurement struct {
	Report
	o      *pipeline.Settled
	synth  synth.Synthesizer
	watch  func() (stop func() error, err error)
	sample sample
}

// pixels is how many the pictures have.
func (m *measurement) pixels() int {
	if len(m.sample.intervals) == 0 {
		return 0
	}
	a := m.sample.intervals[0].A
	return a.Width * a.Height
}

func (m *measurement) note(name string, d time.Duration) { m.Alone = append(m.Alone, Time{name, d}) }

// all scales d, the time of the sampled intervals, to the whole clip.
func (m *measurement) all(d time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(m.sample.seen) / float64(len(m.sample.intervals)))
}

// whole runs all stages together: once to estimate the flow and to start the devices,
// then three times.
func (m *measurement) whole(ctx context.Context) error {
	var times []time.Duration
	const runs = 4
	for i := range runs {
		watch := m.watch
		if i < runs-1 {
			watch = nil
		}
		r, took, err := m.run(ctx, watch)
		if err != nil {
			return err
		}
		if i == 0 {
			m.Frames, m.Made, m.Flow = r.Frames, r.Made, r.Stages.Flow
			continue
		}
		times = append(times, took)
	}
	slices.Sort(times)
	m.Whole = times[len(times)/2]
	return nil
}

// run converts the clip. Unless watch is nil, watch and its stop enclose the run.
func (m *measurement) run(ctx context.Context, watch func() (func() error, error)) (r pipeline.Result, took time.Duration, err error) {
	clip, err := pipeline.Open(ctx, m.o.Options)
	if err != nil {
		return r, 0, err
	}
	defer clip.Close()
	writer, err := media.Create(ctx, m.o.Output.File, clip.Source, clip.WriterOptions(m.synth.Memory()))
	if err != nil {
		return r, 0, err
	}
	defer writer.Abort()
	if watch != nil {
		stop, err := watch()
		if err != nil {
			return r, 0, err
		}
		defer func() {
			if e := stop(); err == nil {
				err = e
			}
		}()
	}
	line := clip.Line(writer.Encoder, m.synth)
	start := time.Now()
	err = line.Run(ctx, clip.Source, &clip.Plan.Passes[0], stages.Whole())
	r = line.Result()
	if err == nil {
		err = r.Cutoff
	}
	return r, time.Since(start), err
}

// collect keeps the first intervals with synthesized frames.
func (m *measurement) collect(ctx context.Context) error {
	clip, err := pipeline.Open(ctx, m.o.Options)
	if err != nil {
		return err
	}
	defer clip.Close()
	line := clip.Line(media.Discard{}, &m.sample)
	if err := line.Run(ctx, clip.Source, &clip.Plan.Passes[0], stages.Whole()); err != nil {
		return err
	}
	if len(m.sample.intervals) == 0 {
		return fault.New(fault.Usage, "at this rate no frame of %q is synthesized; give another", m.o.Input.File)
	}
	return nil
}

// decode reads all frames.
func (m *measurement) decode(ctx context.Context) error {
	clip, err := pipeline.Open(ctx, m.o.Options)
	if err != nil {
		return err
	}
	defer clip.Close()
	start := time.Now()
	for {
		f, err := clip.Source.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		at := clip.Plan.Clock.At(f.PTS)
		f.Release()
		if t := clip.Plan.To; t != nil && at.Cmp(t) >= 0 {
			break
		}
	}
	m.note("decode", time.Since(start))
	return nil
}

// flow makes the guides and reads the flow of the sampled intervals, with as many workers as in a
// run.
func (m *measurement) flow(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	var opened []*motion.Estimator
	defer func() {
		for _, e := range opened {
			e.Close()
		}
	}()
	for range m.o.FlowWorkers() {
		e, err := m.o.Estimator(ctx)
		if err != nil {
			return err
		}
		opened = append(opened, e)
	}
	guides := map[*frame.Frame]motion.Guide{}
	for _, in := range m.sample.intervals {
		for _, f := range []*frame.Frame{in.A, in.B} {
			if _, ok := guides[f]; !ok {
				guides[f] = motion.NewGuide(f, m.o.Synthesis.Preset.Scale(f.Width, f.Height))
			}
		}
	}
	var next atomic.Int64
	start := time.Now()
	for _, e := range opened {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(m.sample.intervals) || ctx.Err() != nil {
					return ctx.Err()
				}
				a, b := guides[m.sample.intervals[i].A], guides[m.sample.intervals[i].B]
				flows, err := e.Estimate(a, b)
				if err != nil {
					return err
				}
				flows.Change()
				flows.Release()
			}
		})
	}
	err := group.Wait()
	m.note("flow, read", m.all(time.Since(start)))
	return err
}

// synthesis makes the frames of the sampled intervals, as many at once as a run does.
func (m *measurement) synthesis(ctx context.Context) error {
	_, ahead := m.synth.Ahead(m.pixels())
	pool := pixel.Pool{Memory: m.synth.Memory()}
	defer pool.Close()
	type started struct {
		dst    *frame.Frame
		finish func() (warp.Made, error)
		last   synth.Job // to close after its last frame
	}
	var queue []started
	next := func() error {
		f := queue[0]
		queue = queue[1:]
		_, err := f.finish()
		f.dst.Release()
		if f.last != nil {
			f.last.Close()
		}
		return err
	}
	start := time.Now()
	for i, in := range m.sample.intervals {
		phases := m.sample.jobs[i].phases
		job, err := m.synth.Prepare(ctx, m.synth.Assign(len(phases), m.pixels()), synth.InHost(in), len(phases))
		if err != nil {
			return err
		}
		for k, phase := range phases {
			f := started{}
			if f.dst, err = pool.NewFrame(in.A); err != nil {
				return err
			}
			if f.finish, err = job.Start(ctx, f.dst, phase); err != nil {
				return err
			}
			if k == len(phases)-1 {
				f.last = job
			}
			if queue = append(queue, f); len(queue) > ahead {
				if err := next(); err != nil {
					return err
				}
			}
		}
	}
	for len(queue) > 0 {
		if err := next(); err != nil {
			return err
		}
	}
	m.note("synthesis", m.all(time.Since(start)))
	return nil
}
