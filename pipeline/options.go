package pipeline

import (
	"fmt"
	"log/slog"
	"math/big"
	"slices"

	"retime/frame"
	"retime/pipeline/curve"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// Options say what Run makes of which file. The zero value of a field means
// what its comment says; Input and Output must be set.
type Options struct {
	Input, Output             string // file names, "-" for the standard streams
	InputFormat, OutputFormat string // container names; empty to tell from the file

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
	// KeepTimestamps, and needs an input that can be read again where it does not
	// play on from the start.
	Curve []curve.Keyframe
	// KeepTimestamps keeps the times of the source's frames, scaled, in place of a
	// constant rate; as many frames are made between two as Rate, or else the
	// source's, makes of their distance.
	KeepTimestamps bool
	// Shutter is the share of an output frame's time, from 0 to 1, for which its
	// shutter is open: the frame is the mean of what is shown then, around its time.
	// Nil or 0 for frames of one moment.
	Shutter *big.Rat
	// Audio says what becomes of sound where the time changes; StretchAudio by
	// default.
	Audio media.Audio

	Mode   warp.Mode  // how frames are made; Project by default
	Flow   FlowMethod // optical flow estimator; DIS by default
	Preset Preset     // cost against quality; Balanced by default
	// FlowCache is a directory in which optical flow is kept, and from which it is
	// read where it is there; empty for none. Any number of conversions may share it, on
	// any machines. A directory that cannot be made is an error; what else fails with it
	// is a warning, and the flow is estimated.
	FlowCache string
	flowCache *flowCache // of FlowCache, for all that one call starts; settle sets it
	// Order is the B-spline order of the sampling: 0, 1 or 3. Nil for 3.
	Order *int

	// SceneThreshold is the score from 0 to 1 from which two frames belong to
	// different scenes, between which the nearer one is shown; nil for
	// DefaultSceneThreshold, above 1 for never. Scores need optical flow.
	SceneThreshold *float64
	// Scenes are the times at which scenes begin, in seconds; nil to detect them.
	Scenes []*big.Rat

	// BlendBelow is the confidence below which a made frame is cross-faded where it
	// cannot be trusted, and NearestBelow that below which the nearer source frame is
	// shown in its place; nil for DefaultBlendBelow and DefaultNearestBelow.
	BlendBelow, NearestBelow *float64
	// Decisions, which ReadDecisions reads, say how frames are made; nil for none.
	Decisions []Decision

	// Duplicates says what becomes of frames that repeat the one before, as in
	// animation on twos and telecined film; KeepDuplicates by default.
	Duplicates Duplicates

	// HWDec lets a device decode; media.HWNone by default.
	HWDec media.HWDec
	// InputRate is the frames per second of input that has no timestamps, such as an
	// image sequence; nil for its default.
	InputRate *big.Rat
	// SequenceGaps takes gaps in the numbering of an image sequence as gaps in its
	// timestamps; otherwise they are an error.
	SequenceGaps bool
	// Repairs are the frames to be made anew, all others staying as they are with
	// their timestamps; nil to convert. It excludes all that changes the time, and
	// sets KeepTimestamps.
	Repairs *Repairs

	// Map chooses the input's streams as ffmpeg's -map does, such as "0:v:1" or
	// "-0:s"; empty for all that the output holds.
	Map []string
	// Deinterlace says what becomes of interlaced input; RefuseFields by default.
	Deinterlace Deinterlace

	// Static says whether overlays that lie still over a moving picture are looked
	// for, so that they are not carried along; StaticAuto by default. It counts in
	// mode Project.
	Static Static
	// StaticMask is of the picture's size and 255 where nothing ever moves, whatever
	// Static says; empty for nowhere.
	StaticMask frame.Image[uint8]

	VideoCodec   string            // encoder; empty for libx264 where the container takes it
	CRF          *int              // constant rate factor; nil for the encoder's default, 16 for libx264
	VideoOptions map[string]string // further encoder options
	PixelFormat  string            // sample format; empty for the source's
	// AudioCodec is the encoder for all sound; where empty, sound is copied, or where
	// it cannot be, encoded in its own codec or the container's usual one.
	AudioCodec   string
	AudioOptions map[string]string // further options of the sound's encoder

	Threads int     // worker threads; 0 for as many as there are processors
	Backend Backend // where frames are made
	// Devices are the numbers of the CUDA devices to use; nil for the first.
	Devices []int
	// FaultPolicy says what becomes of frames that a device fails to make;
	// RemakeOnCPU by default.
	FaultPolicy FaultPolicy
	Overwrite   bool // replace an existing output
	NoVerify    bool // do not read a file again once it is written

	// Digest is called from one goroutine for each frame before it is encoded, in
	// order, with its number in the output; nil for none.
	Digest func(frame int64, d Digest) `json:"-"`
	// Log receives warnings and details; nil for none.
	Log *slog.Logger `json:"-"`
	// Record is called from one goroutine for each written frame, in order; nil for
	// none.
	Record func(Record) `json:"-"`
	// ConfidenceMap is called after Record for each made frame, with its number and
	// how far each pixel of the guides' grid can be trusted, from 0 to 255; nil for
	// none. An error ends the run. Maps need optical flow.
	ConfidenceMap func(frame int64, confidence frame.Image[uint8]) error `json:"-"`
	// Progress is called from one goroutine after each written frame; nil for none.
	Progress func(Progress) `json:"-"`
}

// Static says whether still overlays are looked for.
type Static string

// The choices.
const (
	StaticAuto Static = "auto"
	StaticOff  Static = "off"
)

// FlowMethod names an optical flow estimator.
type FlowMethod string

// The estimators.
const (
	DIS       FlowMethod = "dis"       // dense inverse search
	Farneback FlowMethod = "farneback" // polynomial expansion
)

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

// Preset trades quality against time.
type Preset string

// The presets.
const (
	Fast     Preset = "fast"
	Balanced Preset = "balanced"
	Best     Preset = "best"
)

// Backend names what makes the frames.
type Backend string

// The backends.
const (
	Auto Backend = "auto" // CUDA where a device answers, else the CPU
	CPU  Backend = "cpu"
	CUDA Backend = "cuda"
)

// Progress is how far a run has come.
type Progress struct {
	Frames int64 // written
	Total  int64 // expected, 0 where the input does not tell
}

func (o *Options) checkFiles() error {
	if o.Input == "" {
		return fault.New(fault.Usage, "no input; name one")
	}
	if o.Output == "" {
		return fault.New(fault.Usage, "no output; name one with -o")
	}
	return nil
}

// Check says what Run would say of o's choices and numbers before it opens a file.
func (o Options) Check() error {
	if err := o.checkFiles(); err != nil {
		return err
	}
	return o.settle()
}

// settle checks o and replaces what was left zero.
func (o *Options) settle() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.flowCache = newFlowCache(o.FlowCache, o.Log)
	if o.Mode == "" {
		o.Mode = warp.Project
	}
	if o.Flow == "" {
		o.Flow = DIS
	}
	if o.Preset == "" {
		o.Preset = Balanced
	}
	if o.Backend == "" {
		o.Backend = Auto
	}
	if o.FaultPolicy == "" {
		o.FaultPolicy = RemakeOnCPU
	}
	if o.Audio == "" {
		o.Audio = media.StretchAudio
	}
	if o.Static == "" {
		o.Static = StaticAuto
	}
	if o.Duplicates == "" {
		o.Duplicates = KeepDuplicates
	}
	if o.Order == nil {
		cubic := 3
		o.Order = &cubic
	}
	if o.Slow != nil && o.Fit != nil {
		return fault.New(fault.Usage, "--fit says how long the output is; leave out --slow and --speed")
	}
	if o.Curve != nil && (o.Slow != nil || o.From != nil || o.To != nil || o.KeepTimestamps) {
		return fault.New(fault.Usage, "--curve says what is shown when; leave out --slow, --speed, --from, --to and --keep-timestamps")
	}
	if o.Curve != nil && o.Audio == media.KeepAudio {
		return fault.New(fault.Usage, "--audio keep: sound cannot stay as it is along a curve; choose stretch or drop")
	}
	if err := o.settleRepairs(); err != nil {
		return err
	}
	if o.Slow == nil {
		o.Slow = big.NewRat(1, 1)
	}
	return o.check()
}

func (o *Options) check() error {
	choices := []struct {
		flag, value string
		known       []string
	}{
		{"--mode", string(o.Mode), []string{string(warp.Project), string(warp.Splat), string(warp.Blend), string(warp.Nearest)}},
		{"--flow", string(o.Flow), []string{string(DIS), string(Farneback)}},
		{"--preset", string(o.Preset), []string{string(Fast), string(Balanced), string(Best)}},
		{"--duplicates", string(o.Duplicates), []string{string(KeepDuplicates), string(RetimeDuplicates)}},
		{"--static", string(o.Static), []string{string(StaticAuto), string(StaticOff)}},
		{"--audio", string(o.Audio), []string{string(media.StretchAudio), string(media.KeepAudio), string(media.DropAudio)}},
		{"--deinterlace", string(o.Deinterlace), []string{string(EachField), string(EachFrame), string(IgnoreFields), string(InverseTelecine), ""}},
		{"--backend", string(o.Backend), []string{string(Auto), string(CPU), string(CUDA)}},
		{"--gpu-fault", string(o.FaultPolicy), []string{string(RemakeOnCPU), string(StopAtFault)}},
		{"--order", fmt.Sprint(*o.Order), []string{"0", "1", "3"}},
	}
	for _, c := range choices {
		if !slices.Contains(c.known, c.value) {
			return fault.New(fault.Usage, "%s %s: choose from %v", c.flag, c.value, c.known)
		}
	}
	switch {
	case o.Threads < 0 || o.Threads > 1024:
		return fault.New(fault.Usage, "--threads %d: want 0 (all processors) to 1024", o.Threads)
	case o.SceneThreshold != nil && !(*o.SceneThreshold >= 0):
		return fault.New(fault.Usage, "--scene-threshold %v: want a number from 0 to 1, above 1 for never", *o.SceneThreshold)
	case o.BlendBelow != nil && !(*o.BlendBelow >= 0 && *o.BlendBelow <= 1):
		return fault.New(fault.Usage, "--blend-below %v: want a confidence from 0 to 1", *o.BlendBelow)
	case o.NearestBelow != nil && !(*o.NearestBelow >= 0 && *o.NearestBelow <= 1):
		return fault.New(fault.Usage, "--nearest-below %v: want a confidence from 0 to 1", *o.NearestBelow)
	case o.Shutter != nil && o.Shutter.Sign() != 0 && (o.Decisions != nil || o.ConfidenceMap != nil):
		return fault.New(fault.Usage, "--decisions and --confidence-maps are about single moments; leave out --shutter")
	case o.ConfidenceMap != nil && !o.Mode.UsesFlow():
		return fault.New(fault.Usage, "--confidence-maps: --mode %s uses no optical flow", o.Mode)
	case o.AudioCodec != "" && o.Audio != media.StretchAudio:
		return fault.New(fault.Usage, "--acodec encodes sound, and --audio %s does not; leave out one of them", o.Audio)
	case o.CRF != nil && *o.CRF < 0:
		return fault.New(fault.Usage, "--crf %d: must not be negative", *o.CRF)
	case o.Slow.Sign() <= 0:
		return fault.New(fault.Usage, "--slow %s: must be positive", o.Slow.RatString())
	case o.Shutter != nil && (o.Shutter.Sign() < 0 || o.Shutter.Cmp(big.NewRat(1, 1)) > 0):
		return fault.New(fault.Usage, "--shutter: want an angle from 0 to %d", maxAngle)
	case o.Shutter != nil && o.Shutter.Sign() > 0 && o.KeepTimestamps:
		return fault.New(fault.Usage, "--shutter needs frames of one length; leave out --keep-timestamps")
	case o.Fit != nil && o.Fit.Sign() <= 0:
		return fault.New(fault.Usage, "--fit %s: must be positive", o.Fit.RatString())
	case o.From != nil && o.To != nil && o.From.Cmp(o.To) >= 0:
		return fault.New(fault.Usage, "--from %s is not before --to %s", seconds(o.From), seconds(o.To))
	}
	return nil
}

func seconds(t *big.Rat) string { return t.FloatString(3) + " s" }

// outputRate returns the rate in frames per second.
func (o *Options) outputRate(source *big.Rat) (*big.Rat, error) {
	switch {
	case o.Rate.Value != nil && !o.Rate.Multiple:
		return o.Rate.Value, nil
	case source == nil:
		return nil, fault.New(fault.Usage, "input %q states no frame rate; give one with --fps", o.Input)
	case o.Rate.Value == nil:
		return source, nil
	}
	rate := new(big.Rat).Mul(o.Rate.Value, source)
	if rate.Cmp(big.NewRat(MaxRate, 1)) > 0 {
		return nil, fault.New(fault.Usage, "--fps %sx of %s is above %d", o.Rate.Value.RatString(), source.RatString(), MaxRate)
	}
	return rate, nil
}

// readerOptions says how to read o.Input.
func (o *Options) readerOptions() media.ReaderOptions {
	r := media.ReaderOptions{
		Format: o.InputFormat, Rate: o.InputRate, SequenceGaps: o.SequenceGaps, HWDec: o.HWDec, Threads: o.Threads, From: o.From, To: o.To, Map: o.Map, Log: o.Log,
		ProbeFields: o.Deinterlace == RefuseFields,
	}
	if o.Deinterlace != IgnoreFields {
		r.Deinterlace = media.Deinterlace(o.Deinterlace)
	}
	return r
}

// checkFields refuses interlaced input where nothing says what becomes of it.
func (o *Options) checkFields(v media.Video) error {
	if !v.Interlaced || o.Deinterlace != RefuseFields {
		return nil
	}
	return fault.New(fault.Usage, "input %q is interlaced, and fields of different times in one picture cannot move as one: "+
		"--deinterlace makes a picture of each field, --inverse-telecine finds film's frames in 3:2 pulldown, --deinterlace=off takes pictures as they are", o.Input)
}
