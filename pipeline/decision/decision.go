// Package decision reads what people decide about the frames of an output: how a frame is
// made, whether there is a cut, which parts of it are made in ways of their own, and with
// which preset and shutter.
package decision

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/timeline"
	"retime/warp"
)

// Method is how an output frame was made, or is to be made.
type Method string

// The methods.
const (
	FromSource   Method = "source"       // a source frame, on its time or held
	Interpolated Method = "interpolated" // made from its neighbours along their motion
	Blended      Method = "blend"        // the same, cross-faded where motion cannot be trusted
	Extrapolated Method = "extrapolated" // moved on from the nearest source frame, beyond the clip's end
	Exposed      Method = "exposed"      // the mean of what is shown while the shutter is open
	Nearest      Method = "nearest"      // the nearer source frame, in place of a made one
	Drawn        Method = "motion"       // of a region alone: along a motion that somebody has drawn
)

// Made reports whether a frame that came about by m was never shot.
func (m Method) Made() bool { return m != FromSource && m != Nearest }

// Decision is what a line of an edited sidecar says of an output frame.
type Decision struct {
	Frame  int64    `json:"frame"`
	Time   *float64 `json:"time"`   // in the output, in seconds; nil to leave it unchecked
	Method Method   `json:"method"` // empty for no wish
	// Cut reports whether the two source frames around belong to different scenes; nil
	// for no wish.
	Cut *bool `json:"cut"`
	// Preset is the frame's own; empty for the conversion's.
	Preset motion.Preset `json:"preset,omitempty"`
	// Shutter is the angle of the frame's own shutter in degrees, from 0 to 360; empty for
	// the conversion's.
	Shutter json.Number `json:"shutter,omitempty"`
	// Regions are parts of the frame that are made in ways of their own, a later one over
	// an earlier one.
	Regions []Region `json:"regions"`
	Line    int      `json:"-"` // in the file, from 1
}

// Region is a part of a frame that is made in a way of its own.
type Region struct {
	// Method is FromSource, for the earlier source frame, Nearest, Blended, for a
	// cross-fade of all of the region, Interpolated, or Drawn.
	Method Method `json:"method"`
	// Outline has the corners of a polygon, x and y in pixels from the picture's upper left
	// corner. Its edges come out soft. For Drawn, it lies around the thing that moves in the source
	// frame shown before.
	Outline [][2]float64 `json:"outline"`
	// Arrows tell where the thing of a Drawn region goes: each has a place of it in the source frame
	// shown before, x and y, and the same place of it in the one after. One arrow makes a shift,
	// several make the similarity that fits them best.
	Arrows [][4]float64 `json:"arrows,omitempty"`
}

// These bound what a decision says.
const (
	maxRegions = 64
	maxCorners = 1024
	maxArrows  = 16
	maxFrame   = 1 << 40 // so that its subframes can be counted, too
)

// Check refuses a decision that makes no sense, whatever the clip. Errors are fault.BadData.
func (d *Decision) Check() error {
	switch d.Method {
	case "", FromSource, Interpolated, Blended, Nearest:
	default:
		return fault.New(fault.BadData, "no method %q; choose from %s, %s, %s, %s", d.Method, Interpolated, Blended, Nearest, FromSource)
	}
	if d.Frame < 0 {
		return fault.New(fault.BadData, "want the number of a frame, 0 or more, as \"frame\"")
	}
	if d.Frame > maxFrame {
		return fault.New(fault.BadData, "no output has a frame %d", d.Frame)
	}
	switch d.Preset {
	case "", motion.Fast, motion.Balanced, motion.Best:
	default:
		return fault.New(fault.BadData, "no preset %.40q; choose from %s, %s, %s", d.Preset, motion.Fast, motion.Balanced, motion.Best)
	}
	if d.Shutter != "" {
		if _, err := timeline.ParseShutter(d.Shutter.String()); err != nil || !json.Valid([]byte(d.Shutter)) {
			return fault.New(fault.BadData, "no shutter %.40s; want an angle from 0 to %d", d.Shutter, timeline.MaxAngle)
		}
	}
	return d.checkRegions()
}

func (d *Decision) checkRegions() error {
	if len(d.Regions) > maxRegions {
		return fault.New(fault.BadData, "frame %d has %d regions; want at most %d", d.Frame, len(d.Regions), maxRegions)
	}
	for i := range d.Regions {
		if err := d.Regions[i].check(); err != nil {
			return fault.New(fault.BadData, "a region of frame %d %w", d.Frame, err)
		}
	}
	return nil
}

// check returns what is wrong with r, for "a region ...".
func (r *Region) check() error {
	switch r.Method {
	case FromSource, Interpolated, Blended, Nearest, Drawn:
	default:
		return fmt.Errorf("has no method %q; choose from %s, %s, %s, %s, %s", r.Method, Interpolated, Blended, Nearest, FromSource, Drawn)
	}
	if n := len(r.Outline); n < 3 || n > maxCorners {
		return fmt.Errorf("has %d corners; want 3 to %d", n, maxCorners)
	}
	for _, c := range r.Outline {
		if !pixels(c[:]) {
			return fmt.Errorf("has a corner at %g, %g; want pixels", c[0], c[1])
		}
	}
	if n := len(r.Arrows); r.Method != Drawn && n > 0 {
		return fmt.Errorf("has arrows, and the method %s; arrows go with %s", r.Method, Drawn)
	} else if r.Method == Drawn && (n < 1 || n > maxArrows) {
		return fmt.Errorf("has %d arrows; want 1 to %d for the method %s", n, maxArrows, Drawn)
	} else if n == 0 {
		return nil
	}
	for _, a := range r.Arrows {
		if !pixels(a[:]) {
			return fmt.Errorf("has an arrow from %g, %g to %g, %g; want pixels", a[0], a[1], a[2], a[3])
		}
	}
	if _, err := warp.NewSimilarity(r.Arrows); err != nil {
		return fmt.Errorf("has no motion: %w", err)
	}
	return nil
}

// pixels reports whether all positions can be meant.
func pixels(list []float64) bool {
	return !slices.ContainsFunc(list, func(v float64) bool { return !(math.Abs(v) <= 1<<16) })
}
