package pipeline

import (
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// whole reports whether m has all of its samples. An empty picture has.
func whole(m frame.Image[uint8]) bool {
	side := func(n int) bool { return n >= 0 && n <= media.MaxSide }
	empty := m.Width == 0 || m.Height == 0
	return side(m.Width) && side(m.Height) && (empty || m.Stride >= m.Width && (len(m.Pix)-m.Width)/m.Stride >= m.Height-1 && len(m.Pix) >= m.Width)
}

// staticMask returns s.StaticMask on the guides' grid, or an empty picture if there is
// none, and refuses a mask of another size than the video's.
func staticMask(s *Synthesis, v media.Video, level int) (frame.Image[uint8], error) {
	switch m := s.StaticMask; {
	case m.Width == 0 || m.Height == 0:
		return frame.Image[uint8]{}, nil
	case m.Width != v.Width || m.Height != v.Height:
		return frame.Image[uint8]{}, fault.New(fault.Usage, "Synthesis.StaticMask: the mask is %dx%d, the video %dx%d; make them one size", m.Width, m.Height, v.Width, v.Height)
	default:
		return warp.StaticMask(m, level), nil
	}
}
