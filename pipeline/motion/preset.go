package motion

import (
	"retime/flow/opencv"
	"retime/warp"
)

// Method names an optical flow estimator.
type Method string

// The estimators.
const (
	DIS       Method = "dis"       // dense inverse search
	Farneback Method = "farneback" // polynomial expansion
)

// Preset trades quality against time.
type Preset string

// The presets.
const (
	Fast     Preset = "fast"
	Balanced Preset = "balanced"
	Best     Preset = "best"
)

// dis returns the flow parameters of the preset. OpenCV's variational refinement
// is left out: a finer grid of patches gives as much in half the time, and a second
// estimate more than either.
func (p Preset) dis() opencv.DISOptions {
	o := opencv.UltraFast.Options()
	o.FinestScale = 0
	return o
}

// secondDIS returns the parameters of the second estimate: without the means taken
// out of the patches it fails elsewhere.
func (p Preset) secondDIS() opencv.DISOptions {
	o := p.dis()
	o.MeanNormalization = false
	return o
}

// Level returns how often the guides of a width by height picture are halved. Larger
// pictures have larger motion in pixels, not finer, and would need more memory than a
// machine can be expected to have.
func (p Preset) Level(width, height int) int {
	level := map[Preset]int{Fast: 2, Balanced: 1, Best: 1}[p]
	switch {
	case width*height > largePicture:
		level++
	case width*height <= smallPicture && p == Best:
		level--
	}
	return min(level, warp.MaxLevel)
}

// smallPicture is the size in pixels up to which guides of full size give more than
// they cost: a little above 854x480.
const smallPicture = 450_000

// largePicture is the size in pixels above which guides are halved once more:
// half-way between 1920x1080 and 3840x2160.
const largePicture = 4 << 20
