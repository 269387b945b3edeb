package restore

import (
	"context"
	"errors"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore/fields"
	"retime/pipeline/stages"
	"retime/pipeline/timeline"
)

// structure is what the frames of an input consist of for a restoration: each is one picture, or
// two fields.
type structure interface {
	// add takes the next frame of the first pass. It returns errFieldsLater to have the pass begin
	// again, in fields.
	add(f *frame.Frame) error
	// warn tells what may not be as the frames are taken for.
	warn(o *pipeline.Options)
	// detection returns what finds damage in the frames, after add has seen them.
	detection(o *Options) (detection, error)
	// check refuses a field of a frame that has none.
	check(p Place) error
	// parts is how many parts a frame has; see damage. field returns the field that a part is.
	parts() int64
	field(part int64) Field
	// deliver returns how frames become pictures for the repair of d, and the pictures.
	deliver(d *damage, stamps []int64) (delivery, []picture)
}

// delivery is how frames of the input become the pictures that others are made from, and pictures
// frames of the output.
type delivery interface {
	// run runs a line of the pictures of source, from at on, and passes frames to sink.
	run(c *pipeline.Clip, at beginning, source stages.Source, sink stages.Sink, line line) (pipeline.Result, error)
	// reach is how many frames before and after a frame its pictures are made from.
	reach() int
	// keepChannels has whole frames keep all channels; see pipeline.Clip.KeepChannels.
	keepChannels(ctx context.Context, c *pipeline.Clip, writing *media.WriterOptions) error
	// mark has the output marked as interlaced if it is. Packets may be copied, and are not marked.
	mark(source *media.Reader, copies bool)
}

// line makes the pictures of an output from those of a source, whose times are of clock.
type line func(source stages.Source, sink stages.Sink, clock *timeline.Clock) (pipeline.Result, error)

// errFieldsLater is the error of a scan in frames that comes to interlaced ones.
var errFieldsLater = errors.New("later frames are interlaced")

// Frames are taken for interlaced if fewest of within of them are marked so. A damaged stream marks some by mistake.
const (
	fewest = 5
	within = 50
)

// wholeFrames are frames that are restored as they are. It looks out for interlaced ones.
type wholeFrames struct {
	asked bool              // the user says so; nothing is looked out for
	probe *media.FieldProbe // of how they look; nil if nobody asks, or they are too small
	count int               // of all frames
	list  []int             // frames that are marked as interlaced
}

// add takes the next frame. It returns errFieldsLater if more are marked than damage would explain.
func (m *wholeFrames) add(f *frame.Frame) error {
	if m.asked {
		return nil
	}
	if _, is := media.TopFieldFirst(f); is {
		m.list = append(m.list, m.count)
		if k := len(m.list) - fewest; k >= 0 && m.count-m.list[k] < within {
			return errFieldsLater
		}
	}
	m.count++
	if m.probe != nil && !m.probe.Enough() {
		m.probe.Look(f)
	}
	return nil
}

// warn warns if pictures look interlaced although they are not marked so, or if a few are marked.
func (m *wholeFrames) warn(o *pipeline.Options) {
	if m.probe != nil {
		const asFields = "Options.FieldOrder has them restored as fields"
		m.probe.Warn(o.Hooks.Log, o.Input.File, asFields, asFields)
	}
	if len(m.list) > 0 {
		o.Hooks.Log.Warn("few frames are marked as interlaced, so all are restored as frames; Options.FieldOrder has them restored as fields",
			"input", o.Input.File, "frames", len(m.list), "first", m.list[0])
	}
}

func (*wholeFrames) detection(o *Options) (detection, error) { return newDetector(o) }

func (m *wholeFrames) check(p Place) error {
	switch {
	case p.Field == BothFields:
		return nil
	case m.asked:
		return fault.New(fault.Usage, "%v: Input.Deinterlace off restores frames as they are, not their fields; leave it out", p)
	}
	return fault.New(fault.Usage, "%v: the frames are not marked as interlaced, and so have no fields; Options.FieldOrder says which one comes first", p)
}

func (*wholeFrames) parts() int64      { return 1 }
func (*wholeFrames) field(int64) Field { return BothFields }

func (*wholeFrames) deliver(_ *damage, stamps []int64) (delivery, []picture) {
	pictures := make([]picture, len(stamps))
	for n, stamp := range stamps {
		pictures[n] = picture{frame: int64(n), stamp: stamp, from: int64(n), to: int64(n) + 1}
	}
	return unchanged{}, pictures
}

// unchanged delivers each frame as a picture.
type unchanged struct{}

func (unchanged) run(c *pipeline.Clip, _ beginning, source stages.Source, sink stages.Sink, line line) (pipeline.Result, error) {
	return line(source, sink, c.Plan.Clock)
}

func (unchanged) reach() int { return 0 }

func (unchanged) keepChannels(ctx context.Context, c *pipeline.Clip, writing *media.WriterOptions) error {
	return c.KeepChannels(ctx, writing)
}

func (unchanged) mark(*media.Reader, bool) {}

// woven delivers the fields of frames as pictures where others are made from them.
type woven struct {
	*fields.Weave
	of *interlaced
}

func (w woven) run(c *pipeline.Clip, at beginning, source stages.Source, sink stages.Sink, line line) (pipeline.Result, error) {
	pictures, weaver := fields.NewSource(source, w.Weave, c.Options.Compute.Workers()), fields.NewSink(sink, w.Weave)
	defer pictures.Close()
	defer weaver.Close()
	pictures.CountFrom(at.frame)
	weaver.CountFrom(at.frame)
	result, err := line(pictures, weaver, timeline.NewStatedClock(fields.Video(c.Source.Video())))
	result.Sources, result.Frames = pictures.Frames(), weaver.Frames()
	return result, err
}

func (woven) reach() int { return fields.Reach }

func (woven) keepChannels(_ context.Context, c *pipeline.Clip, _ *media.WriterOptions) error {
	if len(c.Options.Output.Channels) > 0 {
		return fault.New(fault.Usage, "Output.Channels: fields are restored in colour alone; Input.Deinterlace off takes frames as they are")
	}
	return nil
}

func (w woven) mark(source *media.Reader, copies bool) {
	if w.of.marked != BothFields {
		source.Interlace(w.of.marked == TopField, false)
	} else if w.of.order != BothFields && !copies {
		source.Interlace(w.of.order == TopField, true)
	}
}
