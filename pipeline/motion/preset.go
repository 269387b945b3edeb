package motion

import "retime/warp"

// Preset trades quality against time.
type Preset string

// The presets.
const (
	Fast     Preset = "fast"
	Balanced Preset = "balanced"
	Best     Preset = "best"
)

// Scale describes how small the guides are.
type Scale struct {
	Level int // how often they are halved
	// Finer says that the flow is estimated on pictures halved once less, which is more
	// precise, and then halved itself. At level 0 there are none, and it changes nothing.
	Finer bool
}

// Scale returns the scale of the guides of a width by height picture.
func (p Preset) Scale(width, height int) Scale {
	s := map[Preset]Scale{Fast: {Level: 2}, Balanced: {Level: 1}, Best: {Level: 1, Finer: true}}[p]
	switch pixels := width * height; {
	case pixels > largePicture:
		s.Level = min(s.Level+1, warp.MaxLevel)
	case pixels < smallPicture && p != Fast:
		s = Scale{}
	}
	return s
}

// largePicture is the size in pixels above which guides are halved once more: half-way
// between 1920x1080 and 3840x2160. Larger pictures have larger motion in pixels, not
// finer, and would need more memory than a machine can be expected to have.
const largePicture = 4 << 20

// smallPicture is the size in pixels below which Balanced and Best leave guides whole.
// There, the estimator's patches are too coarse for halved guides, and whole ones cost no
// more than those of 1920x1080 do halved.
const smallPicture = 960 * 540
