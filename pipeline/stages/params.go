package stages

import (
	"context"
	"log/slog"
	"math/big"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/motion"
	"retime/pipeline/synth"
	"retime/warp"
)

// Params describe how a Line makes frames. pipeline.Options, from which they come, say what the
// values mean, and are checked: no value is left to a default.
type Params struct {
	warp.Params              // of frames with the way's preset
	Input       string       // names the source, for messages
	Way         decision.Way // preset and shutter of frames for which no decision chooses others
	Flow        Flow

	SceneThreshold float64
	Scenes         []*big.Rat // nil to detect them
	Fallback       Fallback
	Animation      bool // the pictures are drawn or rendered
	Decisions      []decision.Decision
	DropRepeats    bool // leave out pictures that repeat the one before
	Masks          Masks
	Light          Light

	// Open opens what makes the frames of a preset that decisions choose.
	Open  func(preset motion.Preset) (synth.Synthesizer, error)
	Hooks Hooks
}

// Fallback has the confidences below which frames are made in other ways.
type Fallback struct{ BlendBelow, NearestBelow float64 }

// Masks say what moves otherwise than what is around it.
type Masks struct {
	Static frame.Image[uint8]               // what stands still; empty for what the pictures show
	Mattes func(ctx context.Context) Mattes // opens the mattes; nil for none
}

// Flow describes how the flow of intervals is estimated.
type Flow struct {
	Method  motion.Method
	Workers int           // intervals whose flow is estimated at once, at least 1
	Share   frame.Workers // what each of them has of the threads
	// Estimator opens an estimator on the CPU, and DeviceEstimator one on a device. They
	// work until ctx ends.
	Estimator       func(ctx context.Context) (*motion.Estimator, error)
	DeviceEstimator func(ctx context.Context, device synth.FlowSource) (*motion.Estimator, error)
}

// ShareFlow returns how many intervals' flows workers estimate at once, one for every two of them,
// and what each of these has of the workers.
func ShareFlow(w frame.Workers) (intervals int, share frame.Workers) {
	intervals = max(1, min(w.Count()/2, maxFlowWorkers))
	return intervals, frame.Workers{N: max(1, w.Count()/intervals)}
}

// maxFlowWorkers bounds the memory that estimators take.
const maxFlowWorkers = 8

// The confidences below which a frame is made in another way: cross-faded where motion
// cannot be trusted, or replaced by the nearer source frame. docs/quality.md has the
// figures.
const (
	DefaultBlendBelow   = 0.25
	DefaultNearestBelow = 0.03
)

// Hooks are called while a conversion runs, each from one goroutine; nil for none.
type Hooks struct {
	// Log receives warnings and details.
	Log *slog.Logger
	// Progress is called after each written frame.
	Progress func(Progress)
	// Digest is called for each frame before it is encoded, in order, with its number
	// in the output.
	Digest func(frame int64, d Digest)
	// Record is called for each written frame, in order.
	Record func(Record)
	// Rate has Record name the worst place of made frames, which takes time.
	Rate bool
	// Origin is called for each frame, in order, before it is written.
	Origin func(Origin)
	// ConfidenceMap is called after Record for each made frame, with its number and
	// how far each pixel of the guides' grid can be trusted, from 0 to 255. An error
	// ends the run. Maps need optical flow.
	ConfidenceMap func(frame int64, confidence frame.Image[uint8]) error
	// Vectors is called, before Origin, with the optical flow of the two source pictures that a frame is made from,
	// along or beyond their motion; with a shutter, of all that it is open for. An error ends the run.
	Vectors func(Vectors) error
}

// Progress is how far a run has come.
type Progress struct {
	Frames int64 // written
	Total  int64 // expected; 0 if the input does not tell
}
