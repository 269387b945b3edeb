package pipeline

import (
	"math/big"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/media"
	"retime/pipeline/motion"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
	"retime/warp"
)

// Options describe what Run makes of which file. Input.File and Output.File must be set;
// the zero value of every other field means what its comment says.
type Options struct {
	Input     Input
	Timing    Timing
	Synthesis Synthesis
	Output    Output
	Compute   Compute
	Hooks     Hooks `json:"-"`
}

// Input describes what is read, and how.
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
	// Deinterlace describes what becomes of interlaced input; RefuseFields by default.
	Deinterlace Deinterlace
	// HWDec lets a device decode; media.HWNone by default.
	HWDec media.HWDec
	// Rotation describes what becomes of pictures that players are told to turn, such as a
	// phone's; AutoRotation by default.
	Rotation Rotation
	// Tune says what the pictures are, to which the making of frames is tuned; footage by default.
	Tune Tune
}

// Timing chooses which moment of the input is shown when.
type Timing struct {
	// Rate is the output's frame rate; zero for the source's.
	Rate Rate
	// Slow makes the output that many times longer, below 1 shorter; nil for 1.
	Slow *big.Rat
	// Fit is the length in seconds that the output is slowed down or sped up to,
	// in place of Slow; nil for none. The input must state its duration.
	Fit *big.Rat
	// From and To choose a part of the input, in seconds; nil for its start and
	// end. The part begins with the first frame at or after From, to half a millisecond,
	// and its sound begins there, too; at From itself if that lies in the last frame.
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
	// ShutterPhase is when the shutter opens, as a share of an output frame's time after the frame's
	// time, from -1 to 1; nil for half of Shutter before it.
	ShutterPhase *big.Rat
	// ShutterSamples is how many moments a frame is the mean of, from 2 to timeline.MaxSamples; 0 for
	// four for each source frame that the shutter covers, from 8 to 64.
	ShutterSamples int
	// Light is what shutters and cross-fades average. By default, it is light for shutters, and for cross-fades
	// of floats, as in OpenEXR, and samples for other cross-fades.
	Light Light
	// Audio describes what becomes of sound if the time changes; StretchAudio by default.
	Audio media.Audio
}

// Synthesis describes how frames are made.
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

	// Duplicates describes what becomes of frames that repeat the one before, as in
	// animation on twos and telecined film; by default RetimeDuplicates if Input.Tune is Animation, else
	// KeepDuplicates.
	Duplicates Duplicates

	// Static chooses whether overlays that lie still over a moving picture are looked
	// for, so that they are not carried along; StaticAuto by default. It counts in
	// mode Project.
	Static Static
	// StaticMask has the picture's size, and is 255 where nothing ever moves, whatever
	// Static says; an empty mask marks nothing.
	StaticMask frame.Image[uint8]

	// Matte names a picture, an image sequence or a video, as large as the input and on its time, that is
	// white where the input shows the foreground and black where it shows the background: either moves on
	// its own, and made frames show the foreground over the background. A picture counts for all frames, and the
	// last one of a sequence or video for all that follow. Empty for none. It counts in modes that use
	// optical flow, which for the two sides is always DIS, on the CPU.
	Matte string
}

// Output describes what is written, and how it is encoded.
type Output struct {
	File   string // name, "-" for standard output
	Format string // container name; empty to tell from File
	// StartNumber is the number of the first picture if File is the pattern of an image
	// sequence, such as frames/%05d.png; nil for the first of its range, as in [1001-1008].png,
	// or else the input's first number, or 1 if the input has no numbers.
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

	// Channels are rules for the further channels of an OpenEXR sequence that is made of another, as aov.ParseRules
	// reads them: "mask.*=nearest" has made frames take channels from the nearer frame, "N=mix" mix them. The last
	// rule for a channel counts, and its name tells if there is none.
	Channels []string
	// LenientChannels leaves out rules for channels that the pictures lack, with a warning, and all of Channels if
	// the output is no sequence of OpenEXR that is made of another. Otherwise these are errors.
	LenientChannels bool

	Overwrite bool // replace an existing output
	// Keep names further files, beside the input, whose names a partial output does not take.
	Keep     []string
	NoVerify bool // do not read a file again once it is written
}

// Compute chooses where the work is done.
type Compute struct {
	Threads int     // worker threads; 0 for as many as there are processors
	Backend Backend // what makes the frames; Auto by default
	// Devices are the numbers of the CUDA devices to use; nil for the first.
	Devices []int
	// DeviceMemory is how much memory to use on each CUDA device, in bytes, beside the driver's
	// context; 0 for what is free.
	DeviceMemory int64
	// SpeedFile is a file in which Run remembers whether this machine's first CUDA device is slower than its
	// CPU, which then makes the frames if Backend is Auto and Devices is nil. Run finds that out by one frame
	// on either. If SpeedFile is empty, a device that answers makes the frames.
	SpeedFile string
	// FaultPolicy describes what becomes of frames that a device fails to make;
	// RemakeOnCPU by default.
	FaultPolicy FaultPolicy
	// Confine is a directory outside which nothing is read or written once links are
	// resolved; empty for no such limit. It also refuses URLs, inputs that name further
	// files, such as playlists, containers of several files, and options of encoders that
	// may name files. Nobody may change links in the directory while the conversion runs.
	// Run and packages segment and restore heed it, package debug for what it reads.
	Confine string
}

// Static chooses whether still overlays are looked for.
type Static string

// The choices.
const (
	StaticAuto Static = "auto"
	StaticOff  Static = "off"
)

// Rotation describes what becomes of pictures that players are told to turn.
type Rotation string

// Tune says what pictures are.
type Tune string

// Animation is drawn or rendered, with hard edges, and maybe on twos or threes: frames that repeat the
// one before are retimed, what changes at once where all around stands still is shown as the nearer
// source frame shows it, and so is what Synthesis.BlendBelow would cross-fade.
const Animation Tune = "animation"

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

// Deinterlace describes what becomes of interlaced input.
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
	// FaultPolicy describes what becomes of a frame that a device fails to make.
	FaultPolicy = synth.FaultPolicy
	// Rate is a frame rate, or a multiple of the source's.
	Rate = timeline.Rate
	// Decision is what is decided about a frame.
	Decision = decision.Decision
	// Region is a part of a frame that is made in a way of its own.
	Region = decision.Region
	// Method is how a frame is made.
	Method = decision.Method
	// Hooks are called while a conversion runs.
	Hooks = stages.Hooks
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
	DrawnMotion  = decision.Drawn
)

// Light describes what is averaged.
type Light string

// The choices.
const (
	LinearLight Light = "linear" // light, by the curve that the input states
	CodedLight  Light = "coded"  // samples as they are
)

// Duplicates describes what becomes of repeated frames.
type Duplicates string

// The choices.
const (
	KeepDuplicates   Duplicates = "keep"   // they are shown when they are
	RetimeDuplicates Duplicates = "retime" // motion runs through them
)

// DefaultSceneThreshold is the score from which two frames belong to different scenes.
const DefaultSceneThreshold = motion.CutThreshold

// The confidences below which a frame is made in another way.
const (
	DefaultBlendBelow   = stages.DefaultBlendBelow
	DefaultNearestBelow = stages.DefaultNearestBelow
)

// Workers are the threads that share the work on a frame.
func (c *Compute) Workers() frame.Workers { return frame.Workers{N: c.Threads} }
