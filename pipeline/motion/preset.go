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

// Scale is how small the guides are.
type Scale struct {
	Level int // how often they are halved
	// Finer estimates the flow on pictures halved once less, which is more precise, and then halves
	// it. At level 0 it changes nothing.
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

// largePicture is the size in pixels above which guides are halved once more: half-way between
// 1920x1080 and 3840x2160. Larger pictures have larger motion in pixels, not finer motion, and
// would need more memory than most machines have.
const largePicture = 4 << 20

// smallPicture is the size in pixels below which Balanced and Best do not halve guides. The
// estimator's patches are too coarse for halved guides of such pictures, and whole ones cost no
// more than halved ones at 1920x1080.
const smallPicture = 960 * 540
