package pipeline

import (
	"context"
	"errors"
	"io"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// sceneWidth is how wide the pictures are at most, in pixels, on which FindScenes
// looks for cuts, and sceneHeight how high.
const (
	sceneWidth  = 320
	sceneHeight = 320
)

// FindScenes decodes o.Input through and returns the numbers of the frames of the
// output that whole describes with which scenes begin. It looks at small pictures,
// and estimates motion only where they are unlike, so that it may differ from what a
// conversion finds. Damage ends the search without an error.
func FindScenes(ctx context.Context, o Options, whole *Outline) ([]int64, error) {
	scenes, err := findScenes(ctx, o, whole)
	return scenes, cancelled(ctx, err)
}

func findScenes(ctx context.Context, o Options, whole *Outline) (scenes []int64, err error) {
	o.Synthesis.FlowCache = "" // small pictures do not come again
	source, plan, err := o.openWhole(ctx)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	estimators, err := newEstimators(&o)
	if err != nil {
		return nil, err
	}
	defer estimators.close()
	cuts, line := newCuts(&o), &plan.lines[0]
	var last picture // its guide may be the frame's own luma
	defer func() {
		if last.Frame != nil {
			last.Release()
		}
	}()
	for {
		f, err := source.Read()
		if errors.Is(err, io.EOF) || fault.KindOf(err) == fault.BadData && ctx.Err() == nil {
			return scenes, nil
		} else if err != nil {
			return nil, err
		}
		k := line.count(plan.clock.at(f.PTS))
		before := last
		last = picture{Frame: f, view: newView(func() frame.Image[uint8] { return smallGuide(f, source.Video()) })}
		if before.Frame != nil {
			cut := false
			if k > 0 && k < whole.Frames {
				cut, err = cuts.between(estimators, &interval{a: before, b: last})
			}
			before.Release()
			if err != nil {
				return nil, err
			}
			if cut {
				scenes = append(scenes, k)
			}
		}
		if o.Hooks.Progress != nil {
			o.Hooks.Progress(Progress{min(max(k, 0), whole.Frames), whole.Frames})
		}
	}
}

// smallGuide is f's luma, halved to the size for FindScenes.
func smallGuide(f *frame.Frame, v media.Video) frame.Image[uint8] {
	g := warp.Luma(f)
	for w, h := v.Width, v.Height; w > sceneWidth || h > sceneHeight; w, h = (w+1)/2, (h+1)/2 {
		g = warp.Halve(g)
	}
	return g
}

// between says whether a scene begins with v's second guide. Motion is estimated
// where the score may reach the threshold.
func (c *cuts) between(e *estimators, v *interval) (bool, error) {
	if 1-likeness(v.a.guide(), v.b.guide()) < c.threshold {
		return false, nil
	}
	if err := e.estimate(v); err != nil {
		return false, err
	}
	return measureChange(v.a.guide(), v.b.guide(), v.flows[0]).cutScore() >= c.threshold, nil
}

// likeness is the correlation of two pictures in their places, which measureChange
// takes for the least.
func likeness(a, b frame.Image[uint8]) float64 {
	var still correlation
	for y := 0; y < a.Height; y += changeStep {
		ra, rb := a.Row(y), b.Row(y)
		for x := 0; x < a.Width; x += changeStep {
			still.add(int(ra[x]), int(rb[x]))
		}
	}
	return max(still.value(), 0)
}
