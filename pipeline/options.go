package pipeline

import (
	"cmp"
	"fmt"
	"log/slog"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"retime/frame"
	"retime/pipeline/confine"
	"retime/pipeline/curve"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/motion"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/warp"
)

// Options say what Run makes of which file. Input.File and Output.File must be set;
// the zero value of every other field means what its comment says.
type Options struct {
	Input     Input
	Timing    Timing
	Synthesis Synthesis
	Output    Output
	Compute   Compute
	Hooks     Hooks `json:"-"`

	confine   confine.Dir   // of Compute.Confine; settle sets it
	flowCache *motion.Cache // of Synthesis.FlowCache, for all that one call starts; settle sets it
}

// Input says what is read, and how.
type Input struct {
	File   string // name, "-" for standard input
	Format string // container name; empty to tell from the file
	// Rate is the frames per second of input that has no timestamps, such as an image
	// sequence; nil for its default.
	Rate *big.Rat
	// SequenceGaps takes gaps in the numbering of an image sequence as gaps in its
	// timestamps; otherwise they are an error.
	SequenceGaps bool
	// Map chooses the input's streams as ffmpeg's -map does, such as "0:v:1" or
	// "-0:s"; empty for all that the output holds.
	Map []string
	// Deinterlace says what becomes of interlaced input; RefuseFields by default.
	Deinterlace Deinterlace
	// HWDec lets a device decode; media.HWNone by default.
	HWDec media.HWDec
	// Rotation says what becomes of pictures that players are told to turn, such as a
	// phone's; AutoRotation by default.
	Rotation Rotation
}

// Timing says which moment of the input is shown when.
type Timing struct {
	// Rate is the output's frame rate; zero for the source's.
	Rate Rate
	// Slow makes the output that many times longer, below 1 shorter; nil for 1.
	Slow *big.Rat
	// Fit is the length in seconds that the output is slowed down or speeded up to,
	// in place of Slow; nil for none. The input must state its duration.
	Fit *big.Rat
	// From and To choose a part of the input, in seconds; nil for its start and
	// end. The part begins at From exactly, whether or not a frame lies there.
	From, To *big.Rat
	// Curve says by keyframes which moment is shown when; nil for a constant speed.
	// A Source of nil is the input's end. It excludes Slow, From, To and
	// KeepTimestamps. A curve that does not play on from the start needs an input that
	// can be read again.
	Curve []curve.Keyframe
	// KeepTimestamps keeps the times of the source's frames, scaled, in place of a
	// constant rate; as many frames are made between two as Rate, or else the
	// source's, makes of their distance.
	KeepTimestamps bool
	// Shutter is the share of an output frame's time, from 0 to 1, for which its
	// shutter is open: the frame is the mean of what is shown then, around its time.
	// Nil or 0 for frames of one moment.
	Shutter *big.Rat
	// Audio says what becomes of sound if the time changes; StretchAudio by default.
	Audio media.Audio
}

// Synthesis says how frames are made.
type Synthesis struct {
	Mode   warp.Mode  // how frames are made; Project by default
	Flow   FlowMethod // what tells the optical flow; DIS by default
	Preset Preset     // cost against quality; Balanced by default
	// FlowCache is a directory in which optical flow is kept, and from which it is
	// read if it is there; empty for none. Any number of conversions may share it, on
	// any machines. A directory that cannot be made is an error; what else fails with it
	// is a warning, and the flow is estimated.
	FlowCache string
	// Order is the B-spline order of the sampling: 0, 1 or 3. Nil for 3.
	Order *int
	// Kernel is the spline of the sampling: warp.BSpline, the default, or
	// warp.ZwartPowell, which has no order.
	Kernel warp.Kernel

	// SceneThreshold is the score from 0 to 1 from which two frames belong to
	// different scenes, between which the nearer one is shown; nil for
	// DefaultSceneThreshold, above 1 for never. Scores need optical flow.
	SceneThreshold *float64
	// Scenes are the times at which scenes begin, in seconds; nil to detect them.
	Scenes []*big.Rat

	// BlendBelow is the confidence below which a made frame is cross-faded where it
	// cannot be trusted, and NearestBelow the one below which the nearer source frame
	// takes its place; nil for DefaultBlendBelow and DefaultNearestBelow.
	BlendBelow, NearestBelow *float64
	// Decisions, which decision.Read reads, say how frames are made; nil for none.
	Decisions []Decision

	// Duplicates says what becomes of frames that repeat the one before, as in
	// animation on twos and telecined film; KeepDuplicates by default.
	Duplicates Duplicates

	// Static says whether overlays that lie still over a moving picture are looked
	// for, so that they are not carried along; StaticAuto by default. It counts in
	// mode Project.
	Static Static
	// StaticMask has the picture's size, and is 255 where nothing ever moves, whatever
	// Static says; an empty mask marks nothing.
	StaticMask frame.Image[uint8]
}

// Output says what is written, and how it is encoded.
type Output struct {
	File   string // name, "-" for standard output
	Format string // container name; empty to tell from File
	// StartNumber is the number of the first picture if File is the pattern of an image
	// sequence, such as frames/%05d.png; nil for 1.
	StartNumber *int
	// MuxOptions are further options of the container's muxer. A value of flags that
	// begins with + or - changes the flags that are set anyway.
	MuxOptions map[string]string

	VideoCodec   string            // encoder; empty for one that suits the container and the source, mostly libx264
	CRF          *int              // constant rate factor; nil for the encoder's default, 16 for libx264, 18 for libx265 if it suits the source
	VideoOptions map[string]string // further encoder options
	PixelFormat  string            // sample format; empty for the source's
	// AudioCodec is the encoder for all sound. If it is empty, sound is copied, or if
	// it cannot be, encoded in its own codec or the container's usual one.
	AudioCodec   string
	AudioOptions map[string]string // further options of the sound's encoder

	Overwrite bool // replace an existing output
	NoVerify  bool // do not read a file again once it is written
}

// Compute says where the work is done.
type Compute struct {
	Threads int     // worker threads; 0 for as many as there are processors
	Backend Backend // what makes the frames; Auto by default
	// Devices are the numbers of the CUDA devices to use; nil for the first.
	Devices []int
	// FaultPolicy says what becomes of frames that a device fails to make;
	// RemakeOnCPU by default.
	FaultPolicy FaultPolicy
	// Confine is a directory outside which nothing is read or written once links are
	// resolved; empty for no such limit. It also refuses URLs, inputs that name further
	// files, such as playlists, containers of several files, and options of encoders that
	// may name files. Nobody may change links in the directory while the conversion runs.
	// Run and package segment heed it; restore, evaluate and debug do not.
	Confine string
}

// Hooks are called while a conversion runs, each from one goroutine; nil for none.
type Hooks struct {
	// Log receives warnings and details.
	Log *slog.Logger
	// Progress is called after each written frame.
	Progress func(Progress)
	// Digest is called for each frame before it is encoded, in order, with its number
	// in the output.
	Digest func(frame int64, d Digest)
	// Record is called for each written frame, in order.
	Record func(Record)
	// ConfidenceMap is called after Record for each made frame, with its number and
	// how far each pixel of the guides' grid can be trusted, from 0 to 255. An error
	// ends the run. Maps need optical flow.
	ConfidenceMap func(frame int64, confidence frame.Image[uint8]) error
}

// Static says whether still overlays are looked for.
type Static string

// The choices.
const (
	StaticAuto Static = "auto"
	StaticOff  Static = "off"
)

// Rotation says what becomes of pictures that players are told to turn.
type Rotation string

// The choices. Packets that are copied cannot be turned.
const (
	AutoRotation Rotation = ""     // turn the pictures if the output cannot tell players to
	KeepRotation Rotation = "keep" // leave the pictures as they lie in the file
	TurnPictures Rotation = "turn"
)

// Rotation returns Input.Rotation or, if that is AutoRotation, what it comes to for the
// output.
func (o *Options) Rotation() Rotation {
	switch {
	case o.Input.Rotation != AutoRotation:
		return o.Input.Rotation
	case o.Output.File == "" || media.HoldsRotation(o.Output.File, o.Output.Format):
		return KeepRotation
	}
	return TurnPictures
}

// Deinterlace says what becomes of interlaced input.
type Deinterlace string

// What becomes of it. Only what the decoder calls interlaced is refused; pictures
// that merely look so get a warning.
const (
	RefuseFields    Deinterlace = ""
	IgnoreFields    Deinterlace = "off"      // take pictures as they are
	EachField       Deinterlace = "field"    // make a picture of each field, at twice the rate
	EachFrame       Deinterlace = "frame"    // make a picture of each pair of fields
	InverseTelecine Deinterlace = "telecine" // find the frames of film in 3:2 pulldown
)

// The types of other packages that options have.
type (
	// FlowMethod names what tells the optical flow: an estimator, files or a command.
	FlowMethod = motion.Method
	// Preset trades quality against time.
	Preset = motion.Preset
	// Backend names what makes the frames.
	Backend = synth.Backend
	// FaultPolicy says what becomes of a frame that a device fails to make.
	FaultPolicy = synth.FaultPolicy
	// Rate is a frame rate, or a multiple of the source's.
	Rate = timeline.Rate
	// Decision is what is decided about a frame.
	Decision = decision.Decision
	// Region is a part of a frame that is made in a way of its own.
	Region = decision.Region
	// Method is how a frame is made.
	Method = decision.Method
)

// Their values.
const (
	DIS         = motion.DIS
	OpenCVDIS   = motion.OpenCVDIS
	Farneback   = motion.Farneback
	Fast        = motion.Fast
	Balanced    = motion.Balanced
	Best        = motion.Best
	Auto        = synth.Auto
	CPU         = synth.CPU
	CUDA        = synth.CUDA
	RemakeOnCPU = synth.RemakeOnCPU
	StopAtFault = synth.StopAtFault

	FromSource   = decision.FromSource
	Interpolated = decision.Interpolated
	Blended      = decision.Blended
	Extrapolated = decision.Extrapolated
	Exposed      = decision.Exposed
	Nearest      = decision.Nearest
)

// Progress is how far a run has come.
type Progress struct {
	Frames int64 // written
	Total  int64 // expected; 0 if the input does not tell
}

func (o *Options) checkFiles() error {
	if o.Input.File == "" {
		return fault.New(fault.Usage, "no input; name one")
	}
	if o.Output.File == "" {
		return fault.New(fault.Usage, "no output; name one with Output.File")
	}
	return nil
}

// Check says what Run would say of o's choices and numbers before it opens a file.
func (o Options) Check() error {
	if err := o.checkFiles(); err != nil {
		return err
	}
	return o.Settle()
}

// Settle checks o and replaces what was left zero.
func (o *Options) Settle() error {
	if o.Hooks.Log == nil {
		o.Hooks.Log = slog.New(slog.DiscardHandler)
	}
	if err := o.settleConfine(); err != nil {
		return err
	}
	o.flowCache = motion.NewCache(o.Synthesis.FlowCache, o.Hooks.Log)
	o.Timing.settle()
	o.Synthesis.settle()
	o.Compute.settle()
	for _, check := range []func() error{o.Input.check, o.Timing.check, o.Synthesis.check, o.Output.check, o.Compute.check} {
		if err := check(); err != nil {
			return err
		}
	}
	return o.checkTogether()
}

// settleConfine sets o.confine, and checks the directories that no other package does.
func (o *Options) settleConfine() (err error) {
	if o.confine, err = confine.New(o.Compute.Confine); err != nil {
		return fault.New(fault.Usage, "Compute.Confine: %w", err)
	}
	if _, command := o.Synthesis.Flow.Command(); command && o.confine.On() {
		return fault.New(fault.Usage, "Synthesis.Flow %s: Compute.Confine: a command may do anything; write the flow to files", o.Synthesis.Flow)
	}
	if pattern, files := o.Synthesis.Flow.Files(); files {
		if err := o.confine.CheckTree(filepath.Dir(pattern)); err != nil {
			return fault.New(fault.Usage, "Synthesis.Flow: Compute.Confine: %w", err)
		}
	}
	if o.Synthesis.FlowCache == "" {
		return nil
	}
	if err := o.confine.CheckTree(o.Synthesis.FlowCache); err != nil {
		return fault.New(fault.Usage, "Synthesis.FlowCache: Compute.Confine: %w", err)
	}
	return nil
}

// checkTogether refuses what goes wrong only across groups.
func (o *Options) checkTogether() error {
	switch t, s := &o.Timing, &o.Synthesis; {
	case t.blurs() && o.Hooks.ConfidenceMap != nil:
		return fault.New(fault.Usage, "Hooks.ConfidenceMap is about single moments; leave out Timing.Shutter")
	case o.Hooks.ConfidenceMap != nil && !s.Mode.UsesFlow():
		return fault.New(fault.Usage, "Hooks.ConfidenceMap: Synthesis.Mode %s uses no optical flow", s.Mode)
	case o.Output.AudioCodec != "" && t.Audio != media.StretchAudio:
		return fault.New(fault.Usage, "Output.AudioCodec encodes sound, and Timing.Audio %s does not; leave out one of them", t.Audio)
	}
	return o.checkWays()
}

// choice refuses a value that is none of those known.
func choice[T ~string](option string, value T, known ...T) error {
	if slices.Contains(known, value) {
		return nil
	}
	var names []string
	for _, k := range known {
		if k != "" { // the default, which has no name
			names = append(names, string(k))
		}
	}
	return fault.New(fault.Usage, "%s %s: choose from %s", option, value, strings.Join(names, ", "))
}

func (i *Input) check() error {
	if err := choice("Input.Rotation", i.Rotation, KeepRotation, TurnPictures, AutoRotation); err != nil {
		return err
	}
	return choice("Input.Deinterlace", i.Deinterlace, EachField, EachFrame, IgnoreFields, InverseTelecine, RefuseFields)
}

func (t *Timing) settle() {
	if t.Audio == "" {
		t.Audio = media.StretchAudio
	}
	if t.Slow == nil && t.Fit == nil && t.Curve == nil {
		t.Slow = big.NewRat(1, 1)
	}
}

func (t *Timing) check() error {
	if err := choice("Timing.Audio", t.Audio, media.StretchAudio, media.KeepAudio, media.DropAudio); err != nil {
		return err
	}
	switch {
	case t.Slow != nil && t.Fit != nil:
		return fault.New(fault.Usage, "Timing.Fit says how long the output is; leave out Timing.Slow")
	case t.Curve != nil && (t.Slow != nil || t.From != nil || t.To != nil || t.KeepTimestamps):
		return fault.New(fault.Usage, "Timing.Curve says what is shown when; leave out Timing.Slow, Timing.From, Timing.To and Timing.KeepTimestamps")
	case t.Curve != nil && t.Audio == media.KeepAudio:
		return fault.New(fault.Usage, "Timing.Audio keep: sound cannot stay as it is along a curve; choose stretch or drop")
	case t.Slow != nil && t.Slow.Sign() <= 0:
		return fault.New(fault.Usage, "Timing.Slow %s: must be positive", t.Slow.RatString())
	case t.Shutter != nil && (t.Shutter.Sign() < 0 || t.Shutter.Cmp(big.NewRat(1, 1)) > 0):
		return fault.New(fault.Usage, "Timing.Shutter: want an angle from 0 to %d", timeline.MaxAngle)
	case t.blurs() && t.KeepTimestamps:
		return fault.New(fault.Usage, "Timing.Shutter needs frames of one length; leave out Timing.KeepTimestamps")
	case t.Fit != nil && t.Fit.Sign() <= 0:
		return fault.New(fault.Usage, "Timing.Fit %s: must be positive", t.Fit.RatString())
	case t.From != nil && t.To != nil && t.From.Cmp(t.To) >= 0:
		return fault.New(fault.Usage, "Timing.From %s is not before Timing.To %s", seconds(t.From), seconds(t.To))
	}
	return nil
}

// blurs says whether frames are the mean of several moments.
func (t *Timing) blurs() bool { return t.Shutter != nil && t.Shutter.Sign() > 0 }

func (s *Synthesis) settle() {
	s.Mode = cmp.Or(s.Mode, warp.Project)
	s.Flow = cmp.Or(s.Flow, DIS)
	s.Preset = cmp.Or(s.Preset, Balanced)
	s.Static = cmp.Or(s.Static, StaticAuto)
	s.Duplicates = cmp.Or(s.Duplicates, KeepDuplicates)
	s.Order = cmp.Or(s.Order, new(3))
	s.Kernel = cmp.Or(s.Kernel, warp.BSpline)
	s.SceneThreshold = cmp.Or(s.SceneThreshold, new(DefaultSceneThreshold))
	s.BlendBelow = cmp.Or(s.BlendBelow, new(DefaultBlendBelow))
	s.NearestBelow = cmp.Or(s.NearestBelow, new(DefaultNearestBelow))
}

func (s *Synthesis) check() error {
	if err := cmp.Or(
		choice("Synthesis.Mode", s.Mode, warp.Project, warp.Splat, warp.Blend, warp.Nearest),
		s.Flow.Check(),
		choice("Synthesis.Preset", s.Preset, Fast, Balanced, Best),
		choice("Synthesis.Duplicates", s.Duplicates, KeepDuplicates, RetimeDuplicates),
		choice("Synthesis.Static", s.Static, StaticAuto, StaticOff),
		choice("Synthesis.Order", fmt.Sprint(*s.Order), "0", "1", "3"),
		choice("Synthesis.Kernel", s.Kernel, warp.BSpline, warp.ZwartPowell),
	); err != nil {
		return err
	}
	for i := range s.Decisions {
		if err := s.Decisions[i].Check(); err != nil {
			return fault.New(fault.Usage, "Synthesis.Decisions: %w", err)
		}
	}
	switch t, b, n := s.SceneThreshold, s.BlendBelow, s.NearestBelow; {
	case !whole(s.StaticMask):
		m := &s.StaticMask
		return fault.New(fault.Usage, "Synthesis.StaticMask: %d samples, %d from row to row, are no picture of %dx%d", len(m.Pix), m.Stride, m.Width, m.Height)
	case !(*t >= 0):
		return fault.New(fault.Usage, "Synthesis.SceneThreshold %v: want a number from 0 to 1, above 1 for never", *t)
	case !(*b >= 0 && *b <= 1):
		return fault.New(fault.Usage, "Synthesis.BlendBelow %v: want a confidence from 0 to 1", *b)
	case !(*n >= 0 && *n <= 1):
		return fault.New(fault.Usage, "Synthesis.NearestBelow %v: want a confidence from 0 to 1", *n)
	}
	return nil
}

// maxStartNumber leaves room for the numbers after it.
const maxStartNumber = 1_000_000_000

func (o *Output) check() error {
	if o.StartNumber != nil && (*o.StartNumber < 0 || *o.StartNumber > maxStartNumber) {
		return fault.New(fault.Usage, "Output.StartNumber %d: want a number from 0 to %d", *o.StartNumber, maxStartNumber)
	}
	if o.CRF != nil && *o.CRF < 0 {
		return fault.New(fault.Usage, "Output.CRF %d: must not be negative", *o.CRF)
	}
	return nil
}

// Workers are the threads that share the work on a frame.
func (c *Compute) Workers() frame.Workers { return frame.Workers{N: c.Threads} }

func (c *Compute) settle() {
	c.Backend = cmp.Or(c.Backend, Auto)
	c.FaultPolicy = cmp.Or(c.FaultPolicy, RemakeOnCPU)
}

func (c *Compute) check() error {
	if c.Threads < 0 || c.Threads > 1024 {
		return fault.New(fault.Usage, "Compute.Threads %d: want 0 (all processors) to 1024", c.Threads)
	}
	return cmp.Or(
		choice("Compute.Backend", c.Backend, Auto, CPU, CUDA),
		choice("Compute.FaultPolicy", c.FaultPolicy, RemakeOnCPU, StopAtFault),
	)
}

func seconds(t *big.Rat) string { return t.FloatString(3) + " s" }

// outputRate returns the rate in frames per second.
func (o *Options) outputRate(source *big.Rat) (*big.Rat, error) {
	switch {
	case o.Timing.Rate.Value != nil && !o.Timing.Rate.Multiple:
		return o.Timing.Rate.Value, nil
	case source == nil:
		return nil, fault.New(fault.Usage, "input %q states no frame rate; give one with Timing.Rate", o.Input.File)
	case o.Timing.Rate.Value == nil:
		return source, nil
	}
	rate := new(big.Rat).Mul(o.Timing.Rate.Value, source)
	if rate.Cmp(big.NewRat(timeline.MaxRate, 1)) > 0 {
		return nil, fault.New(fault.Usage, "Timing.Rate %sx of %s is above %d", o.Timing.Rate.Value.RatString(), source.RatString(), timeline.MaxRate)
	}
	return rate, nil
}

// readerOptions says how to read o.Input.
func (o *Options) readerOptions() media.ReaderOptions {
	r := media.ReaderOptions{
		Format: o.Input.Format, Rate: o.Input.Rate, SequenceGaps: o.Input.SequenceGaps, HWDec: o.Input.HWDec, Threads: o.Compute.Threads, From: o.Timing.From, To: o.Timing.To, Map: o.Input.Map, Log: o.Hooks.Log,
		ProbeFields: o.Input.Deinterlace == RefuseFields, Upright: o.Rotation() == TurnPictures, Confine: o.confine,
	}
	p := o.SynthParams()
	r.CUDA = media.CUDA{Device: p.FirstDevice(), Surfaces: func() (media.Surfaces, error) { return synth.OpenSurfaces(p) }}
	if o.Input.Deinterlace != IgnoreFields {
		r.Deinterlace = media.FieldMode(o.Input.Deinterlace)
	}
	return r
}

// checkFields refuses interlaced input if Deinterlace does not say what becomes of it.
func (o *Options) checkFields(v media.Video) error {
	if !v.Interlaced || o.Input.Deinterlace != RefuseFields {
		return nil
	}
	return fault.New(fault.Usage, "input %q is interlaced, and fields of different times in one picture cannot move as one: "+
		"Input.Deinterlace makes a picture of each field, Input.Deinterlace telecine finds film's frames in 3:2 pulldown, Input.Deinterlace off takes pictures as they are", o.Input.File)
}
