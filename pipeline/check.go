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
	"retime/pipeline/aov"
	"retime/pipeline/confine"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/motion"
	"retime/pipeline/timeline"
	"retime/warp"
)

func (o *Options) checkFiles() error {
	if o.Input.File == "" {
		return fault.New(fault.Usage, "no input; name one")
	}
	if o.Output.File == "" {
		return fault.New(fault.Usage, "no output; name one with Output.File")
	}
	return nil
}

// Check returns what Run would say of o's choices and numbers before it opens a file.
func (o Options) Check() error {
	if err := o.checkFiles(); err != nil {
		return err
	}
	_, err := o.Settle()
	return err
}

// Defaults returns options in which every choice is the default one.
func Defaults() (o Options) {
	o.Input.HWDec, o.Timing.Audio = media.HWNone, media.StretchAudio
	o.Synthesis.settle()
	o.Synthesis.Duplicates = "" // Input.Tune decides
	o.Compute.settle()
	return o
}

// Settle checks o and sets what was left zero.
func (o Options) Settle() (*Settled, error) {
	if o.Hooks.Log == nil {
		o.Hooks.Log = slog.New(slog.DiscardHandler)
	}
	files, err := o.confine()
	if err != nil {
		return nil, err
	}
	o.Timing.settle()
	if o.Input.Tune == Animation {
		o.Synthesis.Duplicates = cmp.Or(o.Synthesis.Duplicates, RetimeDuplicates)
	}
	o.Synthesis.settle()
	o.Compute.settle()
	for _, check := range []func() error{o.Input.check, o.Timing.check, o.Synthesis.check, o.Output.check, o.Compute.check} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if err := o.checkTogether(); err != nil {
		return nil, err
	}
	return &Settled{o, files, motion.NewCache(o.Synthesis.FlowCache, o.Hooks.Log)}, nil
}

// confine opens the directory that Compute.Confine names, and checks those that no other package does.
func (o *Options) confine() (files confine.Dir, err error) {
	if files, err = confine.New(o.Compute.Confine); err != nil {
		return files, fault.New(fault.Usage, "Compute.Confine: %w", err)
	}
	if _, command := o.Synthesis.Flow.Command(); command && files.On() {
		return files, fault.New(fault.Usage, "Synthesis.Flow %s: Compute.Confine: a command may do anything; write the flow to files", o.Synthesis.Flow)
	}
	if pattern, named := o.Synthesis.Flow.Files(); named {
		if err := files.CheckTree(filepath.Dir(pattern)); err != nil {
			return files, fault.New(fault.Usage, "Synthesis.Flow: Compute.Confine: %w", err)
		}
	}
	if m := o.Synthesis.Matte; m != "" && files.On() {
		check := files.Check
		if media.IsSequence(m) {
			check, m = files.CheckTree, filepath.Dir(m)
		}
		if err := check(m); err != nil {
			return files, fault.New(fault.Usage, "Synthesis.Matte: Compute.Confine: %w", err)
		}
	}
	if o.Synthesis.FlowCache == "" {
		return files, nil
	}
	if err := files.CheckTree(o.Synthesis.FlowCache); err != nil {
		return files, fault.New(fault.Usage, "Synthesis.FlowCache: Compute.Confine: %w", err)
	}
	return files, nil
}

// checkTogether refuses what goes wrong only across groups.
func (o *Options) checkTogether() error {
	switch t, s := &o.Timing, &o.Synthesis; {
	case t.blurs() && o.Hooks.ConfidenceMap != nil:
		return fault.New(fault.Usage, "Hooks.ConfidenceMap is about single moments; leave out Timing.Shutter")
	case o.Hooks.ConfidenceMap != nil && !s.Mode.UsesFlow():
		return fault.New(fault.Usage, "Hooks.ConfidenceMap: Synthesis.Mode %s uses no optical flow", s.Mode)
	case s.Matte != "" && !s.Mode.UsesFlow():
		return fault.New(fault.Usage, "Synthesis.Matte: Synthesis.Mode %s uses no optical flow", s.Mode)
	case o.Input.Tune == Animation && !s.Mode.UsesFlow():
		return fault.New(fault.Usage, "Input.Tune %s: Synthesis.Mode %s uses no optical flow", o.Input.Tune, s.Mode)
	case o.Output.AudioCodec != "" && t.Audio != media.StretchAudio:
		return fault.New(fault.Usage, "Output.AudioCodec encodes sound, and Timing.Audio %s does not; leave out one of them", t.Audio)
	}
	return o.checkWays()
}

// choice refuses a value that is none of those known.
func choice[T ~string](option fault.Words, value T, known ...T) error {
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
	if err := choice("Input.Tune", i.Tune, Animation, ""); err != nil {
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
	if err := cmp.Or(
		choice("Timing.Audio", t.Audio, media.StretchAudio, media.KeepAudio, media.DropAudio),
		choice("Timing.Light", t.Light, LinearLight, CodedLight, ""),
	); err != nil {
		return err
	}
	switch {
	case t.Slow != nil && t.Fit != nil:
		return fault.New(fault.Usage, "Timing.Fit sets the length of the output; leave out Timing.Slow")
	case t.Curve != nil && (t.Slow != nil || t.From != nil || t.To != nil || t.KeepTimestamps):
		return fault.New(fault.Usage, "Timing.Curve sets what is shown when; leave out Timing.Slow, Timing.From, Timing.To and Timing.KeepTimestamps")
	case t.Curve != nil && t.Audio == media.KeepAudio:
		return fault.New(fault.Usage, "Timing.Audio keep: sound cannot stay as it is along a curve; choose stretch or drop")
	case t.Slow != nil && t.Slow.Sign() <= 0:
		return fault.New(fault.Usage, "Timing.Slow %s: must be positive", t.Slow.RatString())
	case t.Shutter != nil && (t.Shutter.Sign() < 0 || t.Shutter.Cmp(big.NewRat(1, 1)) > 0):
		return fault.New(fault.Usage, "Timing.Shutter: want an angle from 0 to %d", timeline.MaxAngle)
	case t.ShutterPhase != nil && new(big.Rat).Abs(t.ShutterPhase).Cmp(big.NewRat(1, 1)) > 0:
		return fault.New(fault.Usage, "Timing.ShutterPhase: want an angle from -%d to %[1]d", timeline.MaxAngle)
	case t.ShutterSamples != 0 && (t.ShutterSamples < 2 || t.ShutterSamples > timeline.MaxSamples):
		return fault.New(fault.Usage, "Timing.ShutterSamples %d: want from 2 to %d", t.ShutterSamples, timeline.MaxSamples)
	case t.blurs() && t.KeepTimestamps:
		return fault.New(fault.Usage, "Timing.Shutter needs frames of one length; leave out Timing.KeepTimestamps")
	case t.Fit != nil && t.Fit.Sign() <= 0:
		return fault.New(fault.Usage, "Timing.Fit %s: must be positive", t.Fit.RatString())
	case t.From != nil && t.To != nil && t.From.Cmp(t.To) >= 0:
		return fault.New(fault.Usage, "Timing.From %s is not before Timing.To %s", seconds(t.From), seconds(t.To))
	}
	return nil
}

// blurs reports whether frames are the mean of several moments.
func (t *Timing) blurs() bool { return t.Shutter != nil && t.Shutter.Sign() > 0 }

// shutter returns the exposures of frames.
func (t *Timing) shutter() timeline.Shutter {
	return timeline.Shutter{Open: t.Shutter, Phase: t.ShutterPhase, Samples: int64(t.ShutterSamples)}
}

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
	if o.StartNumber != nil && (*o.StartNumber < -maxStartNumber || *o.StartNumber > maxStartNumber) {
		return fault.New(fault.Usage, "Output.StartNumber %d: want a number from %d to %d", *o.StartNumber, -maxStartNumber, maxStartNumber)
	}
	if o.CRF != nil && *o.CRF < 0 {
		return fault.New(fault.Usage, "Output.CRF %d: must not be negative", *o.CRF)
	}
	if len(o.Channels) > 0 && o.File != "" && !o.IsEXR() && !o.LenientChannels {
		return fault.New(fault.Usage, "Output.Channels: only a sequence of OpenEXR has further channels, such as build/p.####.exr")
	}
	if _, err := aov.ParseRules(o.Channels); err != nil {
		return fault.New(fault.Usage, "Output.Channels %w", err)
	}
	return nil
}

func (c *Compute) settle() {
	c.Backend = cmp.Or(c.Backend, Auto)
	c.FaultPolicy = cmp.Or(c.FaultPolicy, RemakeOnCPU)
}

func (c *Compute) check() error {
	if c.Threads < 0 || c.Threads > 1024 {
		return fault.New(fault.Usage, "Compute.Threads %d: want 0 (all processors) to 1024", c.Threads)
	}
	if c.DeviceMemory < 0 {
		return fault.New(fault.Usage, "Compute.DeviceMemory %d: must not be negative", c.DeviceMemory)
	}
	return cmp.Or(
		choice("Compute.Backend", c.Backend, Auto, CPU, CUDA),
		choice("Compute.FaultPolicy", c.FaultPolicy, RemakeOnCPU, StopAtFault),
	)
}

func seconds(t *big.Rat) string { return t.FloatString(3) + " s" }

// whole reports whether m has all of its samples. An empty picture has.
func whole(m frame.Image[uint8]) bool {
	side := func(n int) bool { return n >= 0 && n <= media.MaxSide }
	empty := m.Width == 0 || m.Height == 0
	return side(m.Width) && side(m.Height) && (empty || m.Stride >= m.Width && (len(m.Pix)-m.Width)/m.Stride >= m.Height-1 && len(m.Pix) >= m.Width)
}
