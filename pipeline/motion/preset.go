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

// Level returns how often the guides of a width by height picture are halved. Larger
// pictures have larger motion in pixels, not finer, and would need more memory than a
// machine can be expected to have.
func (p Preset) Level(width, height int) int {
	level := map[Preset]int{Fast: 2, Balanced: 1, Best: 0}[p]
	if width*height > largePicture {
		level++
	}
	return min(level, warp.MaxLevel)
}

// largePicture is the size in pixels above which guides are halved once more:
// half-way between 1920x1080 and 3840x2160.
const largePicture = 4 << 20
