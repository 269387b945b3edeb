package synth

import (
	"slices"

	"retime/warp"
)

// Interval tells what frames are made from. Its guides and flows are in the host's memory,
// or on a device until the host asks for them. Several goroutines may call its methods.
type Interval interface {
	// Host returns the interval with all guides and flows in the host's memory.
	Host() (warp.Interval, error)
	// On returns the interval for e's device, which makes guides from the frames. Flows that the
	// device has, or estimates now, are frame.Absent. It returns the same images each time.
	On(e *FlowEstimator) (warp.Interval, error)
}

// InHost is an Interval whose guides and flows all are in the host's memory.
type InHost warp.Interval

// Host returns the interval.
func (in InHost) Host() (warp.Interval, error) { return warp.Interval(in), nil }

// On returns the interval.
func (in InHost) On(*FlowEstimator) (warp.Interval, error) { return warp.Interval(in), nil }

// Assignment reports which devices make the frames of an interval. The zero Assignment leaves
// them to the CPU.
type Assignment struct {
	shares []share
	first  int
}

// share is a run of an interval's frames that one device makes.
type share struct{ worker, frames int }

// Device returns the number of the device on which the interval's flow should lie, from 0,
// of the devices that estimate flow.
func (a Assignment) Device() int { return a.first }

// limited returns the shares of the first of the frames.
func (a Assignment) limited(frames int) []share {
	list := slices.Clone(a.shares)
	for i := range list {
		list[i].frames = min(list[i].frames, frames)
		if frames -= list[i].frames; frames == 0 {
			return list[:i+1]
		}
	}
	return list
}
