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

// Level returns how often the guides of a width by height picture are halved.
func (p Preset) Level(width, height int) int {
	level := map[Preset]int{Fast: 2, Balanced: 1, Best: 0}[p]
	switch pixels := width * height; {
	case pixels > largePicture:
		level++
	case pixels < smallPicture && p == Balanced:
		level--
	}
	return min(level, warp.MaxLevel)
}

// largePicture is the size in pixels above which guides are halved once more: half-way
// between 1920x1080 and 3840x2160. Larger pictures have larger motion in pixels, not
// finer, and would need more memory than a machine can be expected to have.
const largePicture = 4 << 20

// smallPicture is the size in pixels below which Balanced leaves guides whole. There, the
// estimator's patches are too coarse for halved guides, and whole ones cost no more than
// those of 1920x1080 do halved.
const smallPicture = 960 * 540
