package motion

import (
	"context"
	"errors"
	"time"

	"retime/flow"
	"retime/frame"
	"retime/internal/shell"
	"retime/pipeline/fault"
	"retime/warp"
)

// command estimates flow by a process, which it starts with the first estimate. The process reads
// two pictures in the PGM format from its standard input, writes the flow from the first to the
// second in the .flo format to its standard output, and repeats this until its input ends.
type command struct {
	ctx     context.Context
	line    string
	grace   time.Duration // how long the process may take to end after its input or its output has ended
	running *process      // nil before the start
	failed  error         // what ended the process
}

func newCommand(ctx context.Context, line string) *command {
	return &command{ctx: ctx, line: line, grace: shell.Grace}
}

func (c *command) name() string { return FromCommand + c.line }

func (c *command) estimate(a, b Guide, dst *warp.FlowPair) error {
	if err := c.field(a.searched(), b.searched(), &dst.Forward); err != nil {
		return err
	}
	a.fit(&dst.Forward)
	if err := c.field(b.searched(), a.searched(), &dst.Backward); err != nil {
		return err
	}
	a.fit(&dst.Backward)
	return nil
}

// field sets dst to the flow from a to b. After an error it fails for good.
func (c *command) field(a, b frame.Image[uint8], dst *flow.Field) (err error) {
	if c.failed != nil {
		return c.failed
	}
	defer func() {
		if err == nil {
			return
		}
		if c.ctx.Err() != nil {
			err = c.ctx.Err()
		} else {
			err = fault.New(fault.BadData, "flow command %q: %w", c.line, err)
		}
		c.failed = err
	}()
	if c.running == nil {
		if c.running, err = startProcess(c.ctx, c.line); err != nil {
			return err
		}
	}
	*dst, err = c.running.ask(a, b, c.grace)
	return err
}

// close ends the process. field must not be called again.
func (c *command) close() {
	if c.running != nil {
		c.running.End(c.grace)
		c.running.Close()
	}
	if c.failed == nil {
		c.failed = errors.New("flow command: closed")
	}
}
