package evaluate

import (
	"context"

	"retime/frame"
	"retime/pipeline"
)

// cutFinder finds scene cuts, which divide the frames into shots. It judges successive frames of
// the file by the default threshold and the fastest flow, whatever the settings under evaluation
// say about cuts.
type cutFinder struct {
	threads int
	last    *frame.Frame
}

// before reports whether a cut is between the last frame and f.
func (c *cutFinder) before(ctx context.Context, f *frame.Frame) (bool, error) {
	last := c.last
	c.last = f.Retain()
	if last == nil {
		return false, nil
	}
	defer last.Release()
	score, err := pipeline.CutScore(ctx, last, f, pipeline.Options{Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Threads: c.threads}})
	return score >= pipeline.DefaultSceneThreshold, err
}

func (c *cutFinder) close() {
	if c.last != nil {
		c.last.Release()
	}
}
