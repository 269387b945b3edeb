package pipeline

import (
	"retime/pipeline/fault"
	"retime/pipeline/frame"
	"retime/pipeline/media"
	"retime/warp"
)

// overlays say what lies still over the picture.
type overlays struct {
	given  frame.Image[uint8]  // on the guides' grid; empty for none
	finder *warp.OverlayFinder // nil where none are looked for
}

// newOverlays checks the options against the video.
func newOverlays(o *Options, v media.Video, level int) (overlays, error) {
	var s overlays
	m := o.StaticMask
	switch {
	case m.Width == 0:
	case m.Width != v.Width || m.Height != v.Height:
		return s, fault.New(fault.Usage, "--static-mask: the mask is %dx%d, the video %dx%d; make them one size", m.Width, m.Height, v.Width, v.Height)
	default:
		s.given = warp.StaticMask(m, level)
	}
	if o.Static == StaticAuto {
		s.finder = &warp.OverlayFinder{Workers: o.workers()}
	}
	return s, nil
}

// mark sets what in says of overlays.
func (s *overlays) mark(in *warp.Interval) {
	in.Static = s.given
	if s.finder != nil {
		s.finder.Find(in)
	}
}
