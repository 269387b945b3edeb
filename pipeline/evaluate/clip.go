package evaluate

import (
	"context"
	"errors"
	"io"
	"math/big"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// clip is the evaluated part of a video, as scan finds it.
type clip struct {
	o *Options
	// video describes the kept frames as the methods see them: on the grid of a constant rate if
	// they fit one, else with the file's timestamps.
	video  media.Video
	source media.Video // as the file states it
	rate   *big.Rat    // frames per second; the mean if the rate varies
	varies bool        // the frames are not all 1/rate apart
	grid   bool        // all frames are on the grid of video.Rate
	frames []clipFrame
	held   []int // indices of the held-out frames that have both neighbours
	damage error // the error that ended the part early, or nil
}

type clipFrame struct {
	pts   int64 // in the file's time base
	stamp int64 // in video's time base
	shot  int
}

// holds reports whether frame i is held out.
func (c *clip) holds(i int) bool { return i%c.o.Every == c.o.Every-1 }

// scan reads the part once, for its timestamps and its shots.
func scan(ctx context.Context, o *Options) (*clip, error) {
	reader, err := open(ctx, o, true)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	c := &clip{o: o, source: reader.Video()}
	if err := o.Input.CheckFields(c.source); err != nil {
		return nil, err
	}
	shot := 0
	cuts := cutFinder{threads: o.Threads}
	defer cuts.close()
	for o.MaxFrames == 0 || len(c.frames) < o.MaxFrames {
		f, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil && fault.KindOf(err) == fault.BadData && len(c.frames) > 0 {
			c.damage = err
			break
		} else if err != nil {
			return nil, err
		}
		pts := f.PTS
		if o.To != nil && since(c.source, pts).Cmp(o.To) >= 0 {
			f.Release()
			break
		}
		cut, err := cuts.before(ctx, f)
		f.Release()
		if err != nil {
			return nil, err
		}
		if cut {
			shot++
		}
		c.frames = append(c.frames, clipFrame{pts: pts, stamp: pts, shot: shot})
	}
	for i := range c.frames {
		if c.holds(i) && i+1 < len(c.frames) {
			c.held = append(c.held, i)
		}
	}
	if len(c.held) == 0 {
		return nil, fault.New(fault.Usage, "input %q: the part has %d frames; to hold out one in %d takes at least %d",
			o.Input.File, len(c.frames), o.Every, o.Every+1)
	}
	c.settleTimes()
	return c, nil
}

// open opens the input.
func open(ctx context.Context, o *Options, probe bool) (*media.Reader, error) {
	in := pipeline.Options{Input: o.Input, Compute: pipeline.Compute{Threads: o.Threads}, Hooks: pipeline.Hooks{Log: o.Log}}
	return pipeline.OpenInput(ctx, in, pipeline.Span{From: o.From, To: o.To, Onward: true, ProbeFields: probe})
}

// settleTimes puts the frames on the grid of their rate if the source's clock puts all of them
// there, so that neither a coarse time base nor jitter favours a method.
func (c *clip) settleTimes() {
	first, last := c.frames[0].pts, c.frames[len(c.frames)-1].pts
	length := new(big.Rat).Mul(c.source.TimeBase, big.NewRat(last-first, 1))
	c.rate, c.varies = length.Quo(big.NewRat(int64(len(c.frames)-1), 1), length), true
	c.video = c.source
	c.video.Average, c.video.Frames, c.video.Duration = c.rate, int64(len(c.frames)), nil

	rate := c.source.Rate
	if rate == nil || rate.Cmp(new(big.Rat).Mul(c.rate, big.NewRat(maxGridRatio, 1))) > 0 {
		return
	}
	stamps := make([]int64, len(c.frames))
	clock := timeline.NewClock(c.source)
	begin := clock.At(first)
	for i, f := range c.frames {
		at := clock.At(f.pts)
		at.Mul(at.Sub(at, begin), rate)
		if !at.IsInt() || i > 0 && at.Num().Int64() <= stamps[i-1] {
			return
		}
		stamps[i] = at.Num().Int64()
	}
	for i := range c.frames {
		c.frames[i].stamp = stamps[i]
	}
	c.grid = true
	if int(stamps[len(stamps)-1]) == len(stamps)-1 {
		c.rate, c.varies = rate, false
	}
	c.video.Rate, c.video.Average = rate, rate
	c.video.TimeBase, c.video.Grid = new(big.Rat).Inv(rate), nil
	start := new(big.Rat).Set(begin)
	c.video.Start = start.Neg(start) // the first frame keeps its time
	c.video.FirstPTS, c.video.StreamPTS = 0, 0
}

// maxGridRatio bounds the ratio of the grid's rate to the frames' mean rate.
const maxGridRatio = 2

// since returns the time of pts in seconds after the file's start.
func since(v media.Video, pts int64) *big.Rat {
	t := new(big.Rat).Mul(v.TimeBase, big.NewRat(pts, 1))
	return t.Sub(t, v.Start)
}

// seconds returns the time of frame i in seconds after the file's start.
func (c *clip) seconds(i int) float64 {
	s, _ := since(c.source, c.frames[i].pts).Float64()
	return s
}

// stamps returns the timestamps of the first n held-out frames.
func (c *clip) stamps(n int) []int64 {
	s := make([]int64, n)
	for k, i := range c.held[:n] {
		s[k] = c.frames[i].stamp
	}
	return s
}

// acrossCut reports whether a cut is between the neighbours of frame i.
func (c *clip) acrossCut(i int) bool { return c.frames[i-1].shot != c.frames[i+1].shot }

// head reads the first kept frames of the part: as many as enclose count held-out frames and fit
// into limit bytes, but at least two. The caller releases them.
func (c *clip) head(ctx context.Context, count, limit int) (kept []*frame.Frame, held int, err error) {
	r, err := c.read(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer r.close()
	for size := 0; held < min(count, len(c.held)) && (held == 0 || size < limit); {
		f, err := r.Read()
		if err != nil {
			releaseAll(kept)
			return nil, 0, err
		}
		kept = append(kept, f)
		for _, p := range f.Planes {
			size += len(p.Pix)
		}
		held = r.passed
	}
	return kept, held, nil
}

func releaseAll(frames []*frame.Frame) {
	for _, f := range frames {
		f.Release()
	}
}
