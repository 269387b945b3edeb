package pipeline

import (
	"context"
	"errors"
	"math"
	"math/big"
	"path/filepath"
	"strings"

	"retime/pipeline/aov"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/exr"
	"retime/pipeline/media/pixel"
	"retime/pipeline/stages"
)

// KeepChannels has an OpenEXR sequence that is made of another keep all that its pictures hold, and one of DPX their
// headers, unless somebody says how to encode them, or they hold what cannot be kept; w then warns of what is lost, and rules
// for channels are an error. It comes before the line is made.
func (c *Clip) KeepChannels(ctx context.Context, w *media.WriterOptions) error {
	o := &c.Options
	rules, err := aov.ParseRules(o.Output.Channels)
	if err != nil {
		return fault.New(fault.Usage, "Output.Channels %w", err)
	}
	if why := c.losing(); why != nil {
		c.keepHeaders(w)
		return c.losesChannels(why)
	}
	peak := pixel.PeakLight()
	if o.Timing.blurs() {
		peak = math.MaxFloat32 // what is warped is of one moment, and does not mix with what is blurred
	}
	carrier, has, err := aov.New(aov.Options{File: c.Source.Picture, Rate: c.newRate(), Peak: peak, Rules: rules, Lenient: o.Output.LenientChannels, Workers: o.workers(), Log: o.Hooks.Log})
	switch {
	case errors.Is(err, exr.ErrUnsupported), errors.Is(err, exr.ErrFormat):
		o.Hooks.Log.Info("only colour and alpha are kept", "input", o.Input.File, "because", err)
		return c.losesChannels(err)
	case errors.As(err, new(*aov.RuleError)):
		return fault.New(fault.Usage, "Output.Channels %w", err)
	case err != nil:
		return fault.New(fault.NoInput, "input %q: %w", o.Input.File, err)
	}
	if has.Deep {
		o.Hooks.Log.Warn("made frames lack the deep parts", "input", o.Input.File)
	}
	if has.Further && o.Timing.blurs() {
		o.Hooks.Log.Warn("only colour and alpha are blurred; further channels are of the middle of the exposure", "input", o.Input.File)
	}
	w.Complete = func(encoded []byte) ([]byte, error) {
		whole, err := carrier.Complete(ctx, encoded)
		if err != nil && ctx.Err() != nil {
			return nil, fault.Cancel(ctx, "cancelled")
		} else if err != nil {
			return nil, fault.New(fault.BadData, "input %q: %w", o.Input.File, err)
		}
		return whole, nil
	}
	c.tell(carrier.Next)
	vectors := o.Hooks.Vectors
	if !o.Synthesis.Mode.UsesFlow() {
		return nil
	}
	o.Hooks.Vectors = func(v stages.Vectors) error {
		carrier.Vectors(v)
		if vectors == nil {
			return nil
		}
		return vectors(v)
	}
	return nil
}

// tell has next told of each frame before the encoder gets it.
func (c *Clip) tell(next func(stages.Origin)) {
	hooks := &c.Options.Hooks
	before := hooks.Origin
	hooks.Origin = func(f stages.Origin) {
		next(f)
		if before != nil {
			before(f)
		}
	}
}

// newRate returns the rate that pictures are to state; nil for the one that they state.
func (c *Clip) newRate() *big.Rat {
	if c.Options.Timing.KeepTimestamps {
		return nil // shot frames are the files that they were
	}
	return c.Plan.Rate
}

// losesChannels returns an error if there are rules for channels, which are not kept for a reason.
func (c *Clip) losesChannels(because error) error {
	if o := &c.Options.Output; len(o.Channels) == 0 || o.LenientChannels {
		return nil
	}
	return fault.New(fault.Usage, "Output.Channels: the output has colour and alpha alone: %w", because)
}

// IsEXR reports whether the output is a sequence of OpenEXR.
func (o *Output) IsEXR() bool { return o.isSequence(".exr") }

// isSequence reports whether the output is a sequence of pictures whose names have an extension.
func (o *Output) isSequence(extension string) bool {
	return media.IsSequence(o.File) && strings.EqualFold(filepath.Ext(o.File), extension)
}

// losing says why the output does not keep all that pictures of OpenEXR may hold; nil if input and output are
// sequences of them, and nothing is asked for that the source's files do not have.
func (c *Clip) losing() error {
	in, out := &c.Options.Input, &c.Options.Output
	_, numbered := c.Source.Picture(0)
	switch option := c.encoded(); {
	case !out.IsEXR():
		return fault.New(fault.Usage, "output %q is no sequence of OpenEXR", out.File)
	case !numbered || c.Source.Video().Codec != "exr":
		return fault.New(fault.Usage, "input %q is no sequence of OpenEXR", in.File)
	case option != "":
		return fault.New(fault.Usage, "%s has FFmpeg write it; leave that out", option)
	}
	return nil
}

// encoded returns an option that says how FFmpeg encodes the output; empty if none does.
func (c *Clip) encoded() fault.Words {
	in, out := &c.Options.Input, &c.Options.Output
	for _, asked := range []struct {
		option fault.Words
		given  bool
	}{
		{"Output.VideoCodec", out.VideoCodec != ""}, {"Output.VideoOptions", len(out.VideoOptions) > 0}, {"Output.PixelFormat", out.PixelFormat != ""},
		{"Output.CRF", out.CRF != nil}, {"Output.Format", out.Format != ""}, {"Input.Deinterlace", in.Deinterlace != RefuseFields && in.Deinterlace != IgnoreFields},
	} {
		if asked.given {
			return asked.option
		}
	}
	return ""
}
