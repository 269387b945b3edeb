package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/warp"
)

// trialFrames is how many frames of the output a preview makes.
const trialFrames = 10

// A Preview is what Run would do, as far as the input's headers and a trial of the output's first
// frames tell.
type Preview struct {
	Width, Height      int
	Format, Written    string // formats of the input's and the output's samples, as FFmpeg names them
	Container, Encoder string // as FFmpeg names them
	Rate               *big.Rat
	Streams            []media.Fate
	// Frames is the number of frames, Shot how many of them are as shot, and Held how many show once more
	// what the frame before shows, except for scene cuts and for repeated frames that are retimed.
	// Frames is 0 if the input does not tell its length.
	Frames, Shot, Held int64
	// Bytes and Time are the rough size of the output and time of the run, by Trial frames; 0 if
	// Frames is.
	Bytes   int64
	Time    time.Duration
	Trial   int64
	Backend Backend
}

// errTrialDone ends a trial.
var errTrialDone = errors.New("the trial is done")

// trialSink encodes the first frames.
type trialSink struct {
	Sink
	left        int64
	first, last time.Time // when the first and the last frame came
}

func (s *trialSink) WriteFrame(f *frame.Frame, from, to *big.Rat) error {
	if s.left == 0 {
		return errTrialDone
	}
	s.left--
	if s.last = time.Now(); s.first.IsZero() {
		s.first = s.last
	}
	return s.Sink.WriteFrame(f, from, to)
}

// NewPreview previews the conversion that o describes. It writes a trial of the output into a temporary
// directory, in Compute.Confine if that is set, and removes it. It refuses the output's name as Run would,
// but for its directory. Hooks other than Log, and Synthesis.FlowCache, are not used.
func NewPreview(ctx context.Context, o Options) (*Preview, error) {
	dir, err := os.MkdirTemp(o.Compute.Confine, "retime-trial-")
	if err != nil {
		return nil, fault.New(fault.CannotWrite, "trial: %w", err)
	}
	defer os.RemoveAll(dir)
	trial := o
	trial.Hooks = Hooks{Log: o.Hooks.Log}
	trial.Synthesis.FlowCache, trial.Output.NoVerify, trial.Output.Overwrite = "", true, true
	trial.Output.File = filepath.Join(dir, filepath.Base(o.Output.File))
	if o.Output.File == "" || o.Output.File == "-" {
		trial.Output.File = filepath.Join(dir, "trial.nut")
	}
	p, err := preview(ctx, trial, dir, &o.Output)
	return p, fault.Interrupted(ctx, err)
}

// preview makes the first frames of o, whose output is the trial in dir; meant is the output that a person asked for.
func preview(ctx context.Context, o Options, dir string, meant *Output) (*Preview, error) {
	clip, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	if meant.File != "" {
		w := clip.WriterOptions(nil)
		w.Overwrite = meant.Overwrite
		if err := media.CheckOutput(meant.File, o.Input.File, w); err != nil && !errors.Is(err, fs.ErrNotExist) { // a batch makes directories
			return nil, err
		}
	}
	clip.LogRate()
	s, err := clip.Options.Synthesizer()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	writer, err := clip.create(ctx, s.Memory())
	if err != nil {
		return nil, err
	}
	defer writer.Abort()
	v := clip.Source.Video()
	p := &Preview{
		Width: v.Width, Height: v.Height, Format: v.Source, Written: writer.PixelFormat(), Container: writer.Container(), Encoder: writer.CodecName(),
		Rate: clip.Plan.Rate, Streams: writer.Fates(), Frames: clip.Plan.Total,
	}
	sink := &trialSink{Sink: writer.Encoder, left: trialFrames}
	line := clip.Line(sink, s)
	if err := clip.play(ctx, line, writer); err != nil && !errors.Is(err, errTrialDone) {
		return nil, err
	}
	r := line.Result()
	p.Trial, p.Backend = min(r.Frames, trialFrames), s.Summary().Backend
	each := sink.last.Sub(sink.first) / time.Duration(max(p.Trial-1, 1))
	if _, err := writer.Finish(false); err != nil {
		return nil, err
	}
	if p.Frames == 0 {
		return p, nil
	}
	p.Shot, p.Held = clip.shot(&r)
	p.Time = each * time.Duration(p.Frames)
	p.Bytes = sizeOf(dir) / max(p.Trial, 1) * p.Frames
	return p, nil
}

// sizeOf returns the size of the files in dir.
func sizeOf(dir string) (bytes int64) {
	entries, _ := os.ReadDir(dir) // without them, the size is 0
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// countedFrames is how many frames of a plan are looked at to count those that are as shot.
const countedFrames = 20_000

// shot returns how many frames of the plan are as shot and how many are held: by the places of the frames if both
// rates are even, else by the share in a trial.
func (c *Clip) shot(trial *Result) (shot, held int64) {
	v, total := c.Source.Video(), c.Plan.Total
	even := v.Rate != nil && v.Average != nil && v.Rate.Cmp(v.Average) == 0
	if !even || c.varies != nil {
		n := max(trial.Frames, 1)
		return total * (trial.Frames - trial.Made - trial.Held) / n, total * trial.Held / n
	}
	first := c.Plan.Clock.At(v.FirstPTS)
	var last *big.Rat // the place of the last picture, which later frames repeat
	if end := c.Plan.Clock.End(v); end != nil {
		last = end.Mul(end.Sub(end, first), v.Rate)
		last.Sub(last, big.NewRat(1, 1))
	}
	nearest := c.Options.Synthesis.Mode == warp.Nearest
	var seen int64
	shown := int64(-1) // the place of the picture that the frame before shows; -1 for a made one
	for _, pass := range c.Plan.Passes {
		layout, ok := pass.Constant()
		if !ok {
			continue
		}
		sharp := pass.Layout.Subframes() == 1
		for k := layout.First(); k < min(total, layout.End()) && seen < countedFrames; k++ {
			seen++
			m := layout.Moment(k)
			place := m.Sub(m.Abs(m), first)
			place.Mul(place, v.Rate)
			switch {
			case last != nil && place.Cmp(last) > 0:
				place = last
			case nearest:
				place.SetInt64(timeline.Round(place))
			case !sharp || !place.IsInt():
				shown = -1
				continue
			}
			if at := timeline.Round(place); at == shown {
				held++
			} else {
				shot, shown = shot+1, at
			}
		}
	}
	if seen == 0 {
		return 0, 0
	}
	return shot * total / seen, held * total / seen
}
