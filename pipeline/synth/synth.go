// Package synth makes frames between two others, on the CPU or on CUDA devices, with the
// same samples. Frames are made asynchronously: a Job starts a frame and returns, and the
// frame is finished later, so that a device has several in flight.
package synth

import (
	"context"
	"log/slog"
	"time"

	"retime/flow/dis"
	"retime/frame"
	"retime/warp"
)

// Backend names what makes the frames.
type Backend string

// The backends.
const (
	Auto Backend = "auto" // CUDA if a device answers and is not slower than the CPU, else the CPU
	CPU  Backend = "cpu"
	CUDA Backend = "cuda"
)

// FaultPolicy describes what becomes of a frame that a device fails to make.
type FaultPolicy string

// The policies.
const (
	RemakeOnCPU FaultPolicy = "cpu"  // the CPU makes it again, and the job goes on
	StopAtFault FaultPolicy = "fail" // the job fails
)

// Params specify where frames are made and how.
type Params struct {
	Warp    warp.Params
	Flow    dis.Options // of the estimators on devices
	Backend Backend
	// Devices are the numbers of the CUDA devices to use; nil for the first.
	Devices []int
	// DeviceMemory is how much memory to use on each device, in bytes, beside its context; 0 for
	// what is free.
	DeviceMemory int64
	// SpeedFile remembers how fast this machine's CPU and its first device are; empty to use a
	// device that answers, whether it is the faster or not.
	SpeedFile string
	Policy    FaultPolicy
	Log       *slog.Logger
}

// Synthesizer makes the frames of intervals. Assign is called from one goroutine, and
// Prepare from one that may be another, both in the order of the intervals. The jobs that
// Prepare returns are used in that order, too, from one goroutine that may be a third.
type Synthesizer interface {
	// Assign chooses the devices that make an interval's frames, of which there are at most
	// so many, before the interval's flow is known. All pictures have the same number of pixels.
	Assign(frames, pixels int) Assignment
	// Prepare announces an interval of which a number of frames are made, at least one,
	// and may begin to bring it to the devices that it is assigned to. What the interval
	// refers to must stay until the job is closed. Prepare blocks while enough other
	// intervals wait.
	Prepare(ctx context.Context, to Assignment, in Interval, frames int) (Job, error)
	// Ahead returns how many intervals between pictures of so many pixels may be prepared before
	// their turn, and how many frames may be started before the first of them is finished.
	Ahead(pixels int) (intervals, frames int)
	// Flow returns the devices that make frames, on which flow can be estimated, by their
	// numbers in assignments; none for the CPU.
	Flow() []FlowSource
	// Memory is the memory that frames to be filled should be in; nil for any.
	Memory() frame.Memory
	// Summary tells what the synthesizer has done so far.
	Summary() Summary
	Close()
}

// Job makes the frames of one interval.
type Job interface {
	// Start begins to make the frame at a phase in dst, whose format and size are the
	// sources'. finish is called once for each frame that was started, from any
	// goroutine and in the order of the starts; it returns when dst is filled, and says
	// how well the sources support the frame. Once ctx has ended nothing is started.
	Start(ctx context.Context, dst *frame.Frame, phase warp.Phase) (finish func() (warp.Made, error), err error)
	// Close waits until nothing that the interval refers to is read any more. All
	// started frames must have been finished.
	Close()
}

// Summary is what a synthesizer has done.
type Summary struct {
	Backend Backend  // CPU or CUDA
	Devices []string // names of the devices that made frames, in the order of their use
	Remade  int64    // frames that a device failed to make and the CPU made again
	// Load is the time spent on bringing pictures and flows to devices, and Synthesis
	// the time spent on making frames.
	Load, Synthesis time.Duration
}
