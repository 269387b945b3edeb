package pipeline

import (
	"context"

	"retime/pipeline/fault"
	"retime/pipeline/frame"
	"retime/pipeline/media"
	"retime/warp"
)

// overlays say what lies still over the picture.
type overlays struct {
	given frame.Image[uint8] // on the guides' grid; empty for none
	found bool               // others are looked for
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
	s.found = o.Static == StaticAuto && o.Mode == warp.Project
	return s, nil
}

// findOverlays looks for overlays in the tasks.
func (c *conversion) findOverlays(ctx context.Context, from <-chan *task) error {
	finder := warp.OverlayFinder{Workers: c.o.shared()}
	for t := range from {
		stop := c.times.overlays.start()
		finder.Find(&t.in)
		stop()
		close(t.searched)
		t.release()
	}
	return ctx.Err()
}

// searched passes on each task once overlays have been looked for in it.
func searched(ctx context.Context, from <-chan *task, to chan<- *task) error {
	defer close(to)
	for t := range from {
		select {
		case <-t.searched:
		case <-ctx.Done():
			t.release()
			return ctx.Err()
		}
		if err := send(ctx, to, t); err != nil {
			t.release()
			return err
		}
	}
	return ctx.Err()
}
