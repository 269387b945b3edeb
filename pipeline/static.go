package pipeline

import (
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// staticMask is o.StaticMask on the guides' grid, checked against the video; empty
// where there is none.
func staticMask(o *Options, v media.Video, level int) (frame.Image[uint8], error) {
	switch m := o.Synthesis.StaticMask; {
	case m.Width == 0:
		return m, nil
	case m.Width != v.Width || m.Height != v.Height:
		return frame.Image[uint8]{}, fault.New(fault.Usage, "Synthesis.StaticMask: the mask is %dx%d, the video %dx%d; make them one size", m.Width, m.Height, v.Width, v.Height)
	default:
		return warp.StaticMask(m, level), nil
	}
}
