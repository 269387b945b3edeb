package stages

import (
	"sync"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/warp"
)

// Origin says where a frame comes from. Pictures of the source have numbers from 0 at the start of the input,
// wherever reading began, if it has a constant rate, and otherwise -1.
type Origin struct {
	Method   decision.Method
	Pictures [2]int64   // that it lies between; twice the same if there is one
	Phase    warp.Phase // from the first of them to the second
	Beyond   warp.Phase // how far it lies beyond the first, away from the second, in their distances; 0 for between
	Shown    int64      // the picture that it is; -1 if it was made, or a part of it
	Replaced *Replaced  // nil for none
}

// NearerSecond reports whether the second of the pictures is the nearer one, or as near.
func (o *Origin) NearerSecond() bool { return o.Phase >= warp.PhaseOne/2 }

// Waiting holds what is known of frames until an encoder has made their pictures, in the same order. Put and Take may be
// called from two goroutines.
type Waiting[T any] struct {
	mu   sync.Mutex
	list []T
}

// Put adds what is known of the next frame.
func (w *Waiting[T]) Put(v T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, v)
}

// Take removes and returns what is known of the frame that was put first.
func (w *Waiting[T]) Take() T {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.list[0]
	w.list = w.list[1:]
	return v
}

// Replaced is a picture of the source in whose place a frame stands.
type Replaced struct {
	Number int64 // as in Origin
	// Mask has the picture's size and weighs each pixel from 0, which stays as in the picture, to 255, which is
	// made; empty if nothing stays.
	Mask frame.Image[uint8]
}

// origin returns the origin of a frame that is complete.
func (t *Target) origin() Origin {
	v := t.interval
	b := v.B
	if b == nil {
		b = v.A
	}
	o := Origin{Method: t.record.Method, Pictures: [2]int64{v.A.Guide.Number(), b.Guide.Number()}, Phase: t.Phase, Shown: -1, Replaced: t.Replaced}
	if o.Method == decision.Extrapolated {
		o.Pictures[1], o.Phase, o.Beyond = v.Extend.Guide.Number(), 0, t.Beyond
	}
	if t.taken == nothing || o.Method.Made() {
		return o
	}
	taken := o.Pictures[0]
	if t.taken != sourceFrame(v.A.Number+1) {
		taken = o.Pictures[1]
	}
	if t.Compose != nil {
		o.Pictures, o.Phase = [2]int64{taken, taken}, 0
	} else {
		o.Shown = taken
	}
	return o
}
