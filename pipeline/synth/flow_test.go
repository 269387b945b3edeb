package synth

import (
	"fmt"
	"testing"

	"retime/cuda"
	"retime/warp"
)

// Flow for which a device has no memory left is the caller's to estimate, and the device stays in
// use.
func TestFlowWithoutMemory(t *testing.T) {
	for _, short := range []string{"open", "flow"} {
		calls := 0
		r := newFallback(&failingDevice{fail: func(call string) error {
			if call != short {
				return nil
			}
			if calls++; calls > 1 {
				return nil
			}
			return fmt.Errorf("1 KiB of device memory wanted: %w", cuda.ErrOutOfMemory)
		}}, params())
		e := FlowSource{r}.New()
		for i, want := range []bool{false, true} {
			_, done, err := e.Estimate(warp.Guide{}, warp.Guide{})
			if done != want || err != nil {
				t.Errorf("memory is short at %s, estimate %d: done %v, error %v", short, i, done, err)
			}
		}
		if r.lost() || r.faults.Load() != 0 {
			t.Errorf("memory is short at %s: that counts as a fault", short)
		}
		e.Close()
		r.Close()
	}
}
