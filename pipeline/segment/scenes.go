package segment

import (
	"context"
	"errors"
	"io"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/motion"
	"retime/warp"
)

// The pictures in which findScenes looks for scenes are at most this large, in pixels.
const (
	sceneWidth  = 320
	sceneHeight = 320
)

// findScenes decodes the input of o and returns the numbers of the output's frames that
// begin scenes. It looks at small pictures, and estimates motion only between unlike
// ones, so that its scenes may differ from those of a conversion. Damage ends the
// search without an error.
func findScenes(ctx context.Context, o pipeline.Options, whole *Outline) ([]int64, error) {
	scenes, err := lookForScenes(ctx, o, whole)
	return scenes, fault.Interrupted(ctx, err)
}

func lookForScenes(ctx context.Context, o pipeline.Options, whole *Outline) (scenes []int64, err error) {
	o.Synthesis.FlowCache = "" // no conversion uses the flow of small pictures
	clip, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	e, err := motion.NewLocalEstimator(motion.Params{Workers: clip.Options.Compute.Workers()})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	threshold := *clip.Options.Synthesis.SceneThreshold
	layout, video := clip.Plan.Passes[0].Layout, clip.Source.Video()
	var last *frame.Frame // kept, because its guide may be its own luma
	var lastGuide motion.Guide
	defer func() {
		if last != nil {
			last.Release()
		}
	}()
	for {
		f, err := clip.Source.Read()
		if errors.Is(err, io.EOF) || fault.KindOf(err) == fault.BadData && ctx.Err() == nil {
			return scenes, nil
		} else if err != nil {
			return nil, err
		}
		k := layout.Count(clip.Plan.Clock.At(f.PTS))
		before, beforeGuide := last, lastGuide
		last, lastGuide = f, motion.GuideOf(func() frame.Image[uint8] { return smallGuide(f, video) })
		if before != nil {
			cut := false
			if k > 0 && k < whole.Frames {
				cut, err = isCut(e, beforeGuide, lastGuide, threshold)
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
			o.Hooks.Progress(pipeline.Progress{Frames: min(max(k, 0), whole.Frames), Total: whole.Frames})
		}
	}
}

// smallGuide returns f's luma, halved to the size of the pictures for scenes.
func smallGuide(f *frame.Frame, v media.Video) frame.Image[uint8] {
	g := warp.Luma(f)
	for w, h := v.Width, v.Height; w > sceneWidth || h > sceneHeight; w, h = (w+1)/2, (h+1)/2 {
		g = warp.Halve(g)
	}
	return g
}

// isCut reports whether a scene begins with b. It estimates motion only if the score
// may reach the threshold.
func isCut(e *motion.Estimator, a, b motion.Guide, threshold float64) (bool, error) {
	if 1-motion.Likeness(a, b) < threshold {
		return false, nil
	}
	f, err := e.Estimate(a, b)
	if err != nil {
		return false, err
	}
	defer f.Release()
	return f.Change().CutScore() >= threshold, nil
}
