package stages

import (
	"context"
	"math/big"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/warp"
)

// Mattes gives the matte of a source's pictures, for one goroutine. Close frees it.
type Mattes interface {
	// At returns the matte at a time of the source, in seconds: as large as the video, 255 for the
	// foreground, 0 for the background. Nobody changes its samples.
	At(at *big.Rat) (frame.Image[uint8], error)
	Close()
}

// readMatte sets p's matte, which must have the video's size.
func (r *run) readMatte(m Mattes, p *Picture) (err error) {
	if p.Matte, err = m.At(r.plan.Clock.At(p.Frame.PTS)); err != nil {
		return err
	}
	if w, h := p.Matte.Width, p.Matte.Height; w != r.video.Width || h != r.video.Height {
		return fault.New(fault.Usage, "Synthesis.Matte: the matte is %dx%d, the video %dx%d; make them one size", w, h, r.video.Width, r.video.Height)
	}
	return nil
}

// layerEstimator estimates the motion of layers, always on the CPU and by DIS.
type layerEstimator struct {
	workers frame.Workers
	own     *motion.Estimator // nil before the first use
}

func (e *layerEstimator) close() {
	if e.own != nil {
		e.own.Close()
	}
}

// estimate sets v's layers, if it has any foreground.
func (e *layerEstimator) estimate(ctx context.Context, v *Interval, level int) (err error) {
	if v.B == nil || v.Gap || !shows(v.A.Matte) && !shows(v.B.Matte) {
		return nil
	}
	if e.own == nil {
		if e.own, err = motion.NewEstimator(ctx, motion.Params{Method: motion.DIS, Workers: e.workers}); err != nil {
			return err
		}
	}
	var guides, mattes [2]frame.Image[uint8]
	for i, p := range [2]*Picture{v.A, v.B} {
		guides[i], mattes[i] = p.Guide.Picture(), p.Matte
		for range level {
			mattes[i] = warp.Halve(mattes[i])
		}
	}
	l := &warp.Layers{MatteA: v.A.Matte, MatteB: v.B.Matte}
	front, back := warp.Sides(guides, mattes)
	if l.Front, err = e.front(front, mattes); err == nil {
		l.Back, err = e.forward(back)
	}
	v.found.layers = l
	return err
}

// farTravel is from how many cells on the foreground may go too far for the estimator to find it.
const farTravel = 8

// front returns the flow of the foreground. If that goes far, the estimator begins also where the middle of the
// foreground does, and the flow that fits better counts.
func (e *layerEstimator) front(guides, mattes [2]frame.Image[uint8]) (f flow.Field, err error) {
	if f, err = e.forward(guides); err != nil {
		return f, err
	}
	dx, dy := warp.Travel(mattes)
	if max(dx, -dx, dy, -dy) < farTravel {
		return f, nil
	}
	a, b := guides[0], guides[1]
	near := frame.NewImage[uint8](b.Width, b.Height)
	for y := range near.Height {
		from, row := b.Row(min(max(y+dy, 0), b.Height-1)), near.Row(y)
		for x := range row {
			row[x] = from[min(max(x+dx, 0), b.Width-1)]
		}
	}
	rest, err := e.forward([2]frame.Image[uint8]{a, near})
	if err != nil {
		return f, err
	}
	whole := flow.NewField(rest.Width, rest.Height)
	for y := range whole.Height {
		row := whole.Row(y)
		for x, v := range rest.Row(y) {
			row[x] = flow.Vec{X: v.X + int32(dx*flow.One), Y: v.Y + int32(dy*flow.One)}
		}
	}
	if warp.MeanError(e.workers, a, b, whole) < warp.MeanError(e.workers, a, b, f) {
		f = whole
	}
	return f, nil
}

// forward returns the flow from a guide to another.
func (e *layerEstimator) forward(guides [2]frame.Image[uint8]) (f flow.Field, err error) {
	of := func(i int) motion.Guide { return motion.GuideOf(func() frame.Image[uint8] { return guides[i] }) }
	found, err := e.own.Estimate(of(0), of(1))
	if err != nil {
		return f, err
	}
	defer found.Release()
	p, err := found.Fields()
	return p.Forward, err
}

// shows reports whether a matte, which may be empty, has any foreground.
func shows(m frame.Image[uint8]) bool {
	for y := range m.Height {
		for _, v := range m.Row(y) {
			if v >= 128 {
				return true
			}
		}
	}
	return false
}
