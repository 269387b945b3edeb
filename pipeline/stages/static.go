package stages

import (
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/warp"
)

// staticMask returns a mask of the picture on the guides' grid, or an empty picture if there is
// none, and refuses a mask of another size than the video's.
func staticMask(m frame.Image[uint8], v timeline.Video, level int) (frame.Image[uint8], error) {
	switch {
	case m.Width == 0 || m.Height == 0:
		return frame.Image[uint8]{}, nil
	case m.Width != v.Width || m.Height != v.Height:
		return frame.Image[uint8]{}, fault.New(fault.Usage, "Synthesis.StaticMask: the mask is %dx%d, the video %dx%d; make them one size", m.Width, m.Height, v.Width, v.Height)
	default:
		return warp.StaticMask(m, level), nil
	}
}
