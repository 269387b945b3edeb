package stages

import (
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/warp"
)

// Vectors are the optical flow between two source pictures, both ways, on the grid of the guides.
type Vectors struct {
	Number, Next  int64 // of the pictures, from 0 at the start of the input; one apart but where pictures are left out
	Width, Height int   // of the pictures
	warp.FlowPair
}

// VectorsOf returns the flow between two pictures of the input, in either order; ok is false if they have no
// numbers. The flow stays the caller's.
func VectorsOf(a, b *Picture, f motion.Flow) (v Vectors, ok bool, err error) {
	return vectorsOf(a, b, f.Fields)
}

func vectorsOf(a, b *Picture, fields func() (warp.FlowPair, error)) (v Vectors, ok bool, err error) {
	m, n := a.Guide.Number(), b.Guide.Number()
	if m < 0 || n < 0 {
		return v, false, nil
	}
	v = Vectors{Number: min(m, n), Next: max(m, n), Width: a.Frame.Width, Height: a.Frame.Height}
	if v.FlowPair, err = fields(); err != nil {
		return v, false, err
	}
	if n < m {
		v.Forward, v.Backward = v.Backward, v.Forward
	}
	return v, true, nil
}

// vectors returns the flow along which the frame of t is made, if there is any and somebody wants it.
func (r *run) vectors(t *Target) ([]Vectors, error) {
	v := t.interval
	if r.params.Hooks.Vectors == nil || t.Phase == 0 && t.Beyond == 0 || len(v.found.flows) == 0 && v.found.continued == nil {
		return nil, nil
	}
	if r.video.Rate == nil {
		return nil, fault.New(fault.Usage, "Hooks.Vectors: input %q has no constant rate, by which its frames are numbered", r.params.Input)
	}
	to, fields := v.Extend, func() (warp.FlowPair, error) { return v.found.continued.FlowPair, nil }
	if v.found.continued == nil {
		to, fields = v.B, v.found.flows[0].Fields
	}
	vectors, ok, err := vectorsOf(v.A, to, fields)
	if err != nil || !ok {
		return nil, err
	}
	return []Vectors{vectors}, nil
}

// tellVectors calls Hooks.Vectors with the flow of a frame.
func (r *run) tellVectors(t *Target) error {
	list := t.exposed
	if list == nil {
		var err error
		if list, err = r.vectors(t); err != nil {
			return err
		}
	}
	for _, v := range list {
		if err := r.params.Hooks.Vectors(v); err != nil {
			return err
		}
	}
	return nil
}
