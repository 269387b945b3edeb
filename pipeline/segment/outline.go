package segment

import (
	"context"
	"log/slog"
	"math/big"
	"slices"
	"sort"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// Outline is what the parts of a conversion must know of the whole.
type Outline struct {
	// Frames is the number of frames of the output, as far as the input tells; the last
	// part ends with the input.
	Frames int64
	// Rate is the output's rate in frames per second.
	Rate *big.Rat
	// Scenes holds the numbers of the first frames of the scenes that the options list.
	Scenes []int64
	// Parameters describes the encoder's stream.
	Parameters media.Parameters
}

// open opens the input of o and plans the whole conversion. It returns a fault.Usage
// error if the conversion cannot be made in parts.
func open(ctx context.Context, o pipeline.Options) (*pipeline.Clip, error) {
	switch {
	case o.Input.File == "":
		return nil, fault.New(fault.Usage, "no input; name one")
	case !media.Seekable(o.Input.File):
		return nil, fault.New(fault.Usage, "input %q cannot be read in parts; give a file", o.Input.File)
	case o.Timing.KeepTimestamps:
		return nil, fault.New(fault.Usage, "with Timing.KeepTimestamps, frames are known only once all earlier ones are read; convert in one piece")
	}
	clip, err := pipeline.Open(ctx, o)
	if err == nil && clip.Plan.Reopens() {
		clip.Close()
		return nil, fault.New(fault.Usage, "Timing.Curve: only one that plays forward from the start can be converted in parts")
	}
	return clip, err
}

// newOutline reads all packets of o's input, and decodes as few of them as it can.
func newOutline(ctx context.Context, o pipeline.Options) (*Outline, *starts, error) {
	clip, err := open(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer clip.Close()
	clip.LogRate()
	part, err := media.NewEncoder(ctx, o.Output.File, clip.Source, clip.WriterOptions(nil), 0, func(media.Packet) error { return nil })
	if err != nil {
		return nil, nil, err
	}
	s := &Outline{Rate: clip.Plan.Rate, Frames: clip.Plan.Total, Parameters: part.Parameters()}
	part.Abort()
	joined := clip.WriterOptions(nil)
	joined.Log, joined.Overwrite = slog.New(slog.DiscardHandler), true // whoever joins is told, and asked
	if err := media.Check(ctx, o.Output.File, clip.Source, joined); err != nil {
		return nil, nil, err
	}
	scan, err := clip.Source.Scan()
	if err != nil {
		return nil, nil, err
	}
	pass := &clip.Plan.Passes[0]
	if end := scan.End; end != nil && pass.To == nil {
		if to := clip.Plan.To; to != nil && to.Cmp(end) < 0 {
			end = to
		}
		s.Frames = pass.Layout.Count(end)
	}
	if s.Frames <= 0 {
		return nil, nil, fault.New(fault.BadData, "input %q does not state its length; convert it in one piece", o.Input.File)
	}
	for _, t := range clip.Options.Synthesis.Scenes {
		if k := pass.Layout.Count(t); k > 0 && k < s.Frames {
			s.Scenes = append(s.Scenes, k)
		}
	}
	starts, err := newStarts(clip, scan)
	return s, starts, err
}

// starts tells the source picture at which reading must begin for a frame of the
// output.
type starts struct {
	layouts []timeline.Layout // of all ways
	clock   *timeline.Clock
	times   []int64 // timestamps of the source's pictures, ascending; nil if reading must begin at the source's start
}

// readStarts reads all packets of o's input.
func readStarts(ctx context.Context, o pipeline.Options) (*starts, error) {
	clip, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	scan, err := clip.Source.Scan()
	if err != nil {
		return nil, err
	}
	return newStarts(clip, scan)
}

// newStarts takes the timestamps from a scan of the clip.
func newStarts(clip *pipeline.Clip, scan media.Scan) (*starts, error) {
	o := &clip.Options
	ways, err := o.Ways()
	if err != nil {
		return nil, err
	}
	s := &starts{clock: clip.Plan.Clock}
	for n := range ways.List {
		pass, err := ways.Pass(n, clip.Plan, &clip.Plan.Passes[0])
		if err != nil {
			return nil, err
		}
		s.layouts = append(s.layouts, pass.Layout)
	}
	if scan.Steady {
		s.times = scan.Times
		slices.Sort(s.times)
	}
	return s, nil
}

// startMargin is the number of further pictures to read, because some packets hold no
// picture that is shown, and pictures that share a point of the clock's grid follow from
// the one before them.
const startMargin = 8

// before returns the timestamp of the picture at which reading must begin for frame k
// of the output and the frame before it, whose motion matters, too, whatever their shutters.
// It returns nil if reading must begin at the source's start.
func (s *starts) before(k int64) *int64 {
	if k <= 0 || len(s.times) == 0 {
		return nil
	}
	var moment *big.Rat // of the last slot of the frame before
	for _, l := range s.layouts {
		if m := l.Moment(k*l.Subframes() - 1); moment == nil || m.Cmp(moment) < 0 {
			moment = m
		}
	}
	i := sort.Search(len(s.times), func(i int) bool { return s.clock.At(s.times[i]).Cmp(moment) > 0 })
	if i -= 1 + startMargin; i <= 0 {
		return nil
	}
	return &s.times[i]
}
