// Package vectors writes optical flow to files that other programs read.
package vectors

import (
	"path/filepath"
	"strconv"
	"strings"

	"retime/pipeline/fault"
	"retime/pipeline/media/exr"
	"retime/pipeline/media/sequence"
)

// Format describes the vectors in OpenEXR files. The zero Format is that of 32-bit floats in pixels.
type Format struct {
	Half bool // 16-bit floats
	// Span is the displacement in pixels that is written as 1, if 1/2 stands for no displacement and 0
	// for -Span; zero for displacements in pixels.
	Span float64
}

// ParseFormat reads the words of a format, separated by commas: half or float, pixels or
// normalised=SPAN.
func ParseFormat(text string) (f Format, err error) {
	for word := range strings.SplitSeq(text, ",") {
		span, normalised := strings.CutPrefix(word, "normalised=")
		switch {
		case word == "half":
			f.Half = true
		case word == "float":
			f.Half = false
		case word == "pixels":
			f.Span = 0
		case normalised:
			if f.Span, err = strconv.ParseFloat(span, 64); err != nil || !(f.Span > 0) || f.Span > 1e6 {
				return f, fault.New(fault.Usage, "flow format %q: want pixels above 0 after normalised=, as in normalised=64", word)
			}
		default:
			return f, fault.New(fault.Usage, "flow format %q: choose from half, float, pixels, normalised=SPAN", word)
		}
	}
	return f, nil
}

func (f Format) sample() exr.Type {
	if f.Half {
		return exr.Half
	}
	return exr.Float
}

// value returns what is written of a displacement in 1/256 pixel.
func (f Format) value(v int32) float32 {
	pixels := float64(v) / 256
	if f.Span > 0 {
		return float32(0.5 + pixels/(2*f.Span))
	}
	return float32(pixels)
}

// pattern parses the name of the files. isEXR tells their format.
func pattern(name string) (p sequence.Pattern, isEXR bool, err error) {
	p, ok := sequence.Parse(name)
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case sequence.HasView(name):
		return p, false, fault.New(fault.Usage, "flow %q: %%V stands for a view, such as left or right; write its name", name)
	case !ok:
		return p, false, fault.New(fault.Usage, "flow %q: want one number in the name, as in flow/%%05d.flo", name)
	case ext == ".exr":
		return p, true, nil
	case ext != ".flo":
		return p, false, fault.New(fault.Usage, "flow %q: want a name that ends in .flo or .exr", name)
	}
	return p, false, nil
}

// The endings of pictures beside .flo files, in place of .flo.
const (
	confidenceEnding = ".confidence.png"
	occludedEnding   = ".occluded.png"
)

// ending returns a name with another ending in place of its extension.
func ending(name, other string) string { return strings.TrimSuffix(name, filepath.Ext(name)) + other }

// back returns the name of the vectors back beside a .flo file.
func back(name string) string { return ending(name, ".back"+filepath.Ext(name)) }

// Files returns the patterns of all files that are written.
func (o *Options) Files() []string {
	if o.File == "" {
		return nil
	}
	list := []string{o.File}
	if !strings.EqualFold(filepath.Ext(o.File), ".flo") {
		return list
	}
	list = append(list, back(o.File))
	if o.Confidence {
		for _, name := range list[:2] {
			list = append(list, ending(name, confidenceEnding), ending(name, occludedEnding))
		}
	}
	return list
}
