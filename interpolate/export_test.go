package interpolate

import "retime/pipeline/synth"

// OpenWith has open take the place of synth.Open.
func (o *Options) OpenWith(open func(synth.Params) (synth.Synthesizer, error)) { o.open = open }
