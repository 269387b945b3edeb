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

// ownOptions are the same for every preset: the presets differ in their guides.
func ownOptions() dis.Options { return dis.Default() }

func newOwn(o dis.Options, workers frame.Workers) (estimate, error) {
	e, err := dis.New(o, workers)
	if err != nil {
		return nil, err
	}
	return &own{e, o}, nil
}

func (e *own) name() string { return fmt.Sprintf("%s %+v", DIS, e.options) }

func (e *own) estimate(a, b Guide, dst *warp.FlowPair) error {
	return e.Estimate(a.searched(), b.searched(), &dst.Forward, &dst.Backward, a.scale.Finer)
}

func (e *own) close() { e.Close() }
