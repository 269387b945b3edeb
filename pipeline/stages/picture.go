package stages

import (
	"math/big"
	"sync/atomic"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/motion"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/warp"
)

// Picture is a source frame on its way. Its references are the frame's.
type Picture struct {
	Frame  *frame.Frame
	Guide  motion.Guide
	Number int64    // from 0 at the first one read
	At     *big.Rat // moment, which rises from picture to picture
	Moved  float64  // seconds that it is shown after its timestamp, if the timestamps jitter
	Last   *big.Rat // moment of the last repeat of the picture; At if it has none
	Remade *remade  // how parts of it were made again; nil if it is as it was shot
	// Matte is 255 where the picture shows the foreground; empty if nobody tells.
	Matte frame.Image[uint8]
}

// Retain adds a reference and returns p.
func (p *Picture) Retain() *Picture {
	p.Frame.Retain()
	return p
}

// Release drops a reference.
func (p *Picture) Release() { p.Frame.Release() }

// Interval is the time between two source pictures, with the output frames in it. A
// Schedule sets the exported fields before it returns the interval.
type Interval struct {
	A, B    *Picture // B is nil after the last picture
	Targets []*Target
	// Around are pictures before A and after B, two or none, whose motion tells how the
	// motion between A and B changes. If there are none, the neighbouring intervals tell.
	Around []ContextPicture
	// Extend is the picture from which motion goes on through A, and beyond the clip's
	// end; nil if nothing is made beyond the end.
	Extend *Picture
	// Leading is set if A stands for what comes before the first picture.
	Leading bool
	// Hold is the phase at which B takes the place of A if nothing is made in between.
	Hold warp.Phase
	// Gap is set if the interval is too long for motion to run through.
	Gap bool

	again    bool // the interval goes on with the pictures of the one before
	moves    bool // flow is to be estimated
	assigned synth.Assignment
	found    estimated
	shot
	work
	held
}

// work is how the frames of an interval are made; empty if none is.
type work struct {
	seen  *material // what the job sees
	job   synth.Job
	jumps func() (frame.Image[uint8], error) // finds what changes at once; nil if nobody asks
}

// held counts who uses an interval, and has what the last of them releases.
type held struct {
	holds []interface{ Release() } // pictures and flows
	refs  atomic.Int32
}

// shot reports where an interval stands among the scenes.
type shot struct {
	cut   bool // whether a scene begins within it
	scene int  // of A
}

// estimated is what the estimation of an interval's flow has found.
type estimated struct {
	flows     []motion.Flow
	outward   [2]*outer // from A and B to the pictures Around; nil for none
	change    motion.Change
	layers    *warp.Layers  // nil without a matte, or any foreground
	continued *continuation // the motion beyond the clip's end; nil if that cannot be told
}

// ContextPicture is a picture beyond an interval, Span of the interval's length away from
// it.
type ContextPicture struct {
	*Picture
	Span warp.Phase
}

// NewInterval returns the interval from a to b, which may be nil, with references of its
// own.
func NewInterval(a, b *Picture, targets []*Target) *Interval {
	v := &Interval{A: a, B: b, Targets: targets}
	v.refs.Store(1)
	v.Keep(a)
	if b != nil {
		v.Keep(b)
	}
	return v
}

// Keep adds a reference to p that lasts as long as v.
func (v *Interval) Keep(p *Picture) *Picture {
	v.holds = append(v.holds, p.Retain())
	return p
}

// keepFlow has v release f.
func (v *Interval) keepFlow(f motion.Flow) motion.Flow {
	v.holds = append(v.holds, f)
	return f
}

func (v *Interval) retain() { v.refs.Add(1) }

// Release drops a reference to v. With the last one go those to all pictures and flows.
func (v *Interval) Release() {
	if v.refs.Add(-1) > 0 {
		return
	}
	if v.job != nil {
		v.job.Close()
	}
	for _, p := range v.holds {
		p.Release()
	}
}

// makes reports whether a frame of the interval must be made.
func (v *Interval) makes() bool {
	for _, t := range v.Targets {
		if t.Phase != 0 || t.Beyond != 0 {
			return true
		}
	}
	return false
}

// Rest shows the first picture throughout.
func (v *Interval) Rest() {
	for _, t := range v.Targets {
		t.Phase = 0
	}
}

// explained reports whether v's flow was estimated and means something.
func (v *Interval) explained() bool { return len(v.found.flows) > 0 && !v.cut }

// meets reports whether v ends with the picture that w begins with: there may be pictures between
// two intervals in which no frame lies.
func (v *Interval) meets(w *Interval) bool { return v.B.Number == w.A.Number }

// asLong reports whether two intervals differ in length by no more than an eighth.
func asLong(a, b *Interval) bool {
	x, y := a.length(), b.length()
	d := new(big.Rat).Sub(x, y)
	return d.Abs(d).Mul(d, big.NewRat(8, 1)).Cmp(y) <= 0
}

// span is the time of v in the source.
func (v *Interval) span(backward bool) (from, to *big.Rat) {
	if backward {
		return new(big.Rat).Neg(v.B.At), new(big.Rat).Neg(v.A.At)
	}
	return v.A.At, v.B.At
}

func (v *Interval) length() *big.Rat { return new(big.Rat).Sub(v.B.At, v.A.At) }

// nearest is the source frame that stands in for a frame at a phase.
func (v *Interval) nearest(phase warp.Phase) *Picture {
	if phase >= v.Hold {
		return v.B
	}
	return v.A
}

// Target is a frame of the output, or one of its subframes, from when it is placed until
// it is encoded.
type Target struct {
	timeline.Slot
	// Lost is set if the frame stands for a source frame that is made again.
	Lost bool
	// Beyond is how far beyond the clip's end the frame lies, in distances of the two
	// pictures there; 0 for within.
	Beyond warp.Phase
	// Replaced is what the frame stands for; nil for none.
	Replaced *Replaced
	// Compose, if it is not nil, makes the frame that is shown, dst, from the one that
	// was made.
	Compose func(dst, made *frame.Frame) error

	wish   decision.Method // how the caller wants it made; empty for no wish
	method decision.Method // how it is made
	scene  int
	frame  *frame.Frame
	completion
	record Record
	// confidence describes how far each pixel of the guides' grid can be trusted; empty unless
	// somebody asks for it.
	confidence frame.Image[uint8]
	decided    [][][2]float64 // outlines of what somebody has decided about, and nobody need look at
	interval   *Interval      // of a started frame, with a reference
	showing
}

// showing tells what a target shows of the source.
type showing struct {
	shows   sourceFrame
	taken   sourceFrame // what it shows as it is, or what Compose made it from
	exposed []Vectors   // of its subframes
}

// sourceFrame is the number of a source frame that is shown as it is, from 1.
type sourceFrame int64

// nothing is the sourceFrame of a frame that is made.
const nothing sourceFrame = 0

// completion is what is left to do for a frame that was started.
type completion struct {
	// wait waits until the synthesizer has made the frame, in the order of the starts. finish gets its
	// error, and fills the target's frame and record, of several frames at once; it is called once.
	wait   func() error
	finish func(err error) error
}

// there and asItIs are the wait and the finish of a frame that is there.
func there() error { return nil }

func asItIs(err error) error { return err }

// begin waits until the synthesizer has made the frame, and has it finished while the caller does
// other things. complete waits for that.
func (t *Target) begin() {
	err, finish, done := t.wait(), t.finish, make(chan error, 1)
	go func() { done <- finish(err) }()
	t.wait, t.finish = func() error { return <-done }, asItIs
}

// complete waits for the frame.
func (t *Target) complete() error {
	finish := t.finish
	t.finish = nil
	return finish(t.wait())
}

// Release lets go of a target that was started, and of its frame.
func (t *Target) Release() {
	if t.finish != nil {
		_ = t.complete() // its error goes the way of the frame
	}
	t.frame.Release()
	t.interval.Release()
}
