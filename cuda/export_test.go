//go:build unix

package cuda

import (
	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// SetLanes makes d share patches among n threads on levels of any size, starting with its next
// change of size. If n is 0, d chooses for itself.
func (e *DIS) SetLanes(n int) { e.lanes = n }

// EstimateFlow estimates flows as EstimateResident does, and downloads them to forward and
// backward. On the device they stay for the intervals that refer to forward and backward.
func (s *Synthesizer) EstimateFlow(e FlowEstimator, a, b warp.Guide, forward, backward flow.Field) error {
	dst := [2]flow.Field{forward, backward}
	return s.estimate(e, a, b, dst, func(at *estimated) error {
		for i, f := range dst {
			if err := at.fields[i].Download(e.Stream(), f.Image); err != nil {
				return err
			}
		}
		return nil
	}, func(at *estimated) { s.residents.letGo(append(at.read, at.written...)) })
}

// Surface returns m as a plane of a decoder's picture.
func (m Image[T]) Surface() frame.SurfacePlane {
	return frame.SurfacePlane{Address: m.address(), Stride: m.Stride * sizeOf[T]()}
}

// ToFloat sets dst to src's samples, and waits for it.
func ToFloat[T frame.Sample](s *Stream, dst Image[float32], src Image[T]) error {
	c, err := newConverter(s.device)
	if err != nil {
		return err
	}
	if err := toFloat(s, c, dst, src); err != nil {
		return err
	}
	return s.Synchronize()
}
