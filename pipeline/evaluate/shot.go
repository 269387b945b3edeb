package evaluate

import (
	"retime/frame"
	"retime/pipeline"
)

// cutFinder finds scene cuts, to group frames by shot. It judges as the pipeline
// does, by the cheapest flow between frames that follow each other in the file,
// whatever the settings on trial make of a cut.
type cutFinder struct {
	threads int
	last    *frame.Frame
}

// before says whether a cut lies between the last frame and f.
func (c *cutFinder) before(f *frame.Frame) (bool, error) {
	last := c.last
	c.last = f.Retain()
	if last == nil {
		return false, nil
	}
	defer last.Release()
	score, err := pipeline.CutScore(last, f, pipeline.Options{Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Threads: c.threads}})
	return score >= pipeline.DefaultSceneThreshold, err
}

func (c *cutFinder) close() {
	if c.last != nil {
		c.last.Release()
	}
}
