package stages

import (
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/warp"
)

// Vectors are the optical flow between a source picture and the next one, both ways, on the grid of
// the guides.
type Vectors struct {
	Number        int64 // of the first picture, from 0 at the start of the input
	Width, Height int   // of the pictures
	warp.FlowPair
}

// VectorsOf returns the flow between two pictures of the input, which may follow each other in either
// order; ok is false if they do not. The flow stays the caller's.
func VectorsOf(a, b *Picture, f motion.Flow) (v Vectors, ok bool, err error) {
	m, n := a.Guide.Number(), b.Guide.Number()
	if m < 0 || n < 0 || m-n != 1 && n-m != 1 {
		return v, false, nil
	}
	v = Vectors{Number: min(m, n), Width: a.Frame.Width, Height: a.Frame.Height}
	if v.FlowPair, err = f.Fields(); err != nil {
		return v, false, err
	}
	if n < m {
		v.Forward, v.Backward = v.Backward, v.Forward
	}
	return v, true, nil
}

// tellVectors calls Hooks.Vectors with the flow of an interval, if there is any.
func (r *run) tellVectors(v *Interval) error {
	tell := r.params.Hooks.Vectors
	if tell == nil || len(v.found.flows) == 0 {
		return nil
	}
	if r.video.Rate == nil {
		return fault.New(fault.Usage, "Hooks.Vectors: input %q has no constant rate, by which its frames are numbered", r.params.Input)
	}
	vectors, ok, err := VectorsOf(v.A, v.B, v.found.flows[0])
	if err != nil || !ok {
		return err
	}
	return tell(vectors)
}
