package stages

import (
	"retime/pipeline/decision"
	"retime/warp"
)

// Origin says where a frame comes from. Pictures of the source have numbers from 0 at the start of the input,
// wherever reading began, if it has a constant rate, and otherwise -1.
type Origin struct {
	Method   decision.Method
	Pictures [2]int64   // that it lies between; twice the same if there is one
	Phase    warp.Phase // from the first of them to the second
	Shown    int64      // the picture that it is; -1 if it was made
	Way      int        // of the frame: 0 for the conversion's own, another one for each preset and shutter of decisions
}

// origin returns the origin of a frame that is complete, of a way.
func (t *Target) origin(way int) Origin {
	v := t.interval
	b := v.B
	if b == nil {
		b = v.A
	}
	o := Origin{Method: t.record.Method, Pictures: [2]int64{v.A.Guide.Number(), b.Guide.Number()}, Phase: t.Phase, Shown: -1, Way: way}
	if t.shows == nothing || o.Method.Made() {
		return o
	}
	o.Shown = o.Pictures[0]
	if t.shows != sourceFrame(v.A.Number+1) {
		o.Shown = o.Pictures[1]
	}
	return o
}
