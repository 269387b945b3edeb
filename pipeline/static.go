package pipeline

import (
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// staticMask returns s.StaticMask on the guides' grid, or an empty picture if there is
// none, and refuses a mask of another size than the video's.
func staticMask(s *Synthesis, v media.Video, level int) (frame.Image[uint8], error) {
	switch m := s.StaticMask; {
	case m.Width == 0:
		return m, nil
	case m.Width != v.Width || m.Height != v.Height:
		return frame.Image[uint8]{}, fault.New(fault.Usage, "Synthesis.StaticMask: the mask is %dx%d, the video %dx%d; make them one size", m.Width, m.Height, v.Width, v.Height)
	default:
		return warp.StaticMask(m, level), nil
	}
}
