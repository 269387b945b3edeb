package motion

import (
	"fmt"

	"retime/flow/dis"
	"retime/frame"
	"retime/warp"
)

// own estimates flow by package dis, whose flow depends on the options alone.
type own struct {
	*dis.Estimator
	options dis.Options
}

// ownOptions are those of every preset: the presets differ in their guides.
func ownOptions() dis.Options { return dis.Default() }

func newOwn(workers frame.Workers) (estimate, error) {
	o := ownOptions()
	e, err := dis.New(o, workers)
	if err != nil {
		return nil, err
	}
	return &own{e, o}, nil
}

func (e *own) name() string { return fmt.Sprintf("%s %+v", DIS, e.options) }

func (e *own) estimate(a, b Guide, dst *warp.FlowPair) error {
	if a.scale.Finer {
		return e.EstimateHalved(a.searched(), b.searched(), &dst.Forward, &dst.Backward)
	}
	return e.Estimate(a.picture(), b.picture(), &dst.Forward, &dst.Backward)
}

func (e *own) close() { e.Close() }
