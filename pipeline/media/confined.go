package media

import (
	"maps"
	"os"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/confine"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/sequence"
)

// This file holds FFmpeg to a confine.Dir. FFmpeg opens files by name, and some of its
// demuxers, muxers and encoders open further ones that a file or an option names.

// outside returns err, of a confine.Dir, as an error about a file.
func outside(what, name string, err error) error {
	return fault.New(fault.Usage, "%s %q: Compute.Confine: %w", what, name, err)
}

// confineInput refuses an input that is not a regular file in the directory, or an image
// sequence of such. format is the name that the user gave it.
func confineInput(in confine.Dir, name, format string) error {
	if !in.On() || name == "-" {
		return nil
	}
	s, sequence := parseSequence(name)
	if isGlob(name) && !sequence && !exists(name) {
		return fault.New(fault.Usage, "input %q: Compute.Confine: name a numbered sequence, such as %%05d.png, in place of a glob", name)
	}
	names := []string{name}
	if sequence {
		if err := in.Check(s.Dir); err != nil {
			return outside("input", name, err)
		}
		numbers, err := s.Numbers()
		if err != nil {
			return fault.New(fault.NoInput, "input %q: %w", name, reason(err))
		}
		names = filesWith(s, numbers)
	}
	for _, n := range names {
		if err := in.Check(n); err != nil {
			return outside("input", n, err)
		}
		switch info, err := os.Stat(n); {
		case err == nil && !info.Mode().IsRegular() && !info.IsDir() || err != nil && isURL(n):
			return fault.New(fault.Usage, "input %q: Compute.Confine: want a regular file", n)
		case err != nil: // FFmpeg might find a protocol in the name
			return fault.New(fault.NoInput, "input %q: %w", n, reason(err))
		}
	}
	if f := astiav.FindInputFormat(format); format != "" && f != nil && f.Flags().Has(astiav.IOFormatFlagNofile) && !sequence {
		return fault.New(fault.Usage, "input %q: Compute.Confine: format %s reads more than the file; choose another Input.Format", name, format)
	}
	return nil
}

// only opens the file at url for a demuxer that may open no further one. It returns nil if
// the input is no single file; of a sequence it then makes the url one of files.
func only(in confine.Dir, url *string, local bool, options *astiav.Dictionary) (*av.File, error) {
	if !in.On() {
		return nil, nil
	}
	var file *av.File
	protocols := "none" // for files that this one names
	switch {
	case local:
		var err error
		if file, err = av.OpenFile(*url); err != nil {
			return nil, err
		}
	case *url == "pipe:0":
		protocols = "pipe"
	default:
		protocols, *url = "file", "file:"+*url
	}
	return file, options.Set("protocol_whitelist", protocols, 0)
}

// confineOutput refuses an output that is not a regular or new file in the directory, or
// an image sequence there.
func confineOutput(in confine.Dir, name string) error {
	if !in.On() || name == "-" || name == os.DevNull {
		return nil
	}
	if err := in.Check(name); err != nil {
		return outside("output", name, err)
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() || err != nil && isURL(name) {
		return fault.New(fault.Usage, "output %q: Compute.Confine: want a regular file", name)
	}
	return nil
}

// confineMuxer refuses a muxer that opens files on its own, as those of playlists do, and
// options with which a muxer may do so: those with text.
func confineMuxer(in confine.Dir, name string, output *astiav.FormatContext, options map[string]string) error {
	if !in.On() {
		return nil
	}
	_, sequence := sequence.Parse(name)
	pictures := sequence && output.OutputFormat().Name() == "image2"
	if av.OpensItself(output) && !pictures {
		return fault.New(fault.Usage, "output %q: Compute.Confine: format %s writes more than the file; choose another Output.Format", name, output.OutputFormat().Name())
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if av.IsMuxerTextOption(output, key) {
			return fault.New(fault.Usage, "Output.MuxOptions %s=%s: Compute.Confine: option %s of format %s may name files; leave it out", key, options[key], key, output.OutputFormat().Name())
		}
	}
	return nil
}

// harmless are the encoders' options with text that name no file.
var harmless = []string{"preset", "tune", "profile", "level", "deblock", "partitions", "psy-rd"}

// confineEncoder refuses options with which an encoder may read or write files: other
// options with text, and the flags, of which the passes write statistics. option names
// the map.
func confineEncoder(in confine.Dir, codec *astiav.Codec, option fault.Words, options map[string]string) error {
	if !in.On() {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(options)) {
		if key == "flags" || av.IsTextOption(codec, key) && !slices.Contains(harmless, key) {
			return fault.New(fault.Usage, "%s %s=%s: Compute.Confine: option %s of encoder %s may name files; leave it out", option, key, options[key], key, codec.Name())
		}
	}
	return nil
}
