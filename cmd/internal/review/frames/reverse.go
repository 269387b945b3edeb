package frames

import (
	"errors"
	"io"
	"math/big"

	"retime/frame"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// reversed is a pipeline.Source that delivers a few pictures in the order of falling
// timestamps.
type reversed struct {
	video  media.Video
	frames []*frame.Frame
}

// backwardFrom returns a source for frames, from the time low to the time high, of a pass that
// plays backward: it begins margin pictures after high, or as the conversion does with the
// first picture at or after the pass's own begin. midway is set in the first case. A low of nil is
// where the window begins.
func (w *window) backwardFrom(low, high *big.Rat, pass *timeline.Pass) (r *reversed, midway bool, err error) {
	c, err := w.from(low)
	if err != nil {
		return nil, false, err
	}
	r, midway = &reversed{video: w.video}, true
	for beyond := 0; beyond < margin && midway; {
		f, err := c.Read()
		if errors.Is(err, io.EOF) {
			midway = false
			break
		} else if err != nil {
			r.release()
			return nil, false, err
		}
		at := w.clock.At(f.PTS)
		if at.Cmp(high) > 0 {
			beyond++
		}
		midway = at.Cmp(pass.From) < 0
		r.frames = append(r.frames, f)
	}
	// The conversion ends with the last picture at or before the pass's end.
	for len(r.frames) > 1 && w.clock.At(r.frames[1].PTS).Cmp(pass.To) <= 0 {
		r.frames[0].Release()
		r.frames = r.frames[1:]
	}
	return r, midway, nil
}

// Video describes the whole source.
func (r *reversed) Video() media.Video { return r.video }

// Read returns the last picture that is left.
func (r *reversed) Read() (*frame.Frame, error) {
	n := len(r.frames)
	if n == 0 {
		return nil, io.EOF
	}
	f := r.frames[n-1]
	r.frames = r.frames[:n-1]
	return f, nil
}

func (r *reversed) release() {
	for _, f := range r.frames {
		f.Release()
	}
	r.frames = nil
}
