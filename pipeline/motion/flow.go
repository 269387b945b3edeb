package motion

import (
	"sync"

	"retime/flow"
	"retime/warp"
)

// Flow is the flow between two guides, a and b, both ways, with the flow of still pixels set to
// zero. It is in host memory or on a device. Any goroutine may call its methods.
type Flow interface {
	// Change compares the guides along the flow from a.
	Change() Change
	// On returns the fields for a device: those in host memory or, of flow that lies on a device and
	// that d has or can estimate, too, fields without samples that identify it to d. An error ends the
	// job.
	On(d Device) (warp.FlowPair, error)
	// Fields returns the fields in host memory, and downloads them first if necessary. An error
	// ends the job.
	Fields() (warp.FlowPair, error)
	// Retain adds a reference and returns the flow, and Release drops one. The last Release frees
	// the flow.
	Retain() Flow
	Release()
}

// hosted is a Flow in host memory, which needs no references.
type hosted struct {
	pair   warp.FlowPair
	change func() Change
}

func newHosted(a, b Guide, p warp.FlowPair) Flow {
	return &hosted{p, sync.OnceValue(func() Change { return Measure(a, b, p) })}
}

func (f *hosted) Change() Change                   { return f.change() }
func (f *hosted) On(Device) (warp.FlowPair, error) { return f.pair, nil }
func (f *hosted) Fields() (warp.FlowPair, error)   { return f.pair, nil }
func (f *hosted) Retain() Flow                     { return f }
func (f *hosted) Release()                         {}

// newPair returns fields of a guide's size.
func newPair(width, height int) warp.FlowPair {
	return warp.FlowPair{Forward: flow.NewField(width, height), Backward: flow.NewField(width, height)}
}
