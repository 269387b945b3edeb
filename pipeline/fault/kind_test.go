package fault

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

func TestKindOf(t *testing.T) {
	full := &os.PathError{Op: "open", Path: "a", Err: syscall.EMFILE}
	for _, c := range []struct {
		err  error
		want Kind
	}{
		{errors.New("other"), Internal},
		{New(BadData, "damaged"), BadData},
		{New(Usage, "%w", New(BadData, "damaged")), Usage},
		{fmt.Errorf("clip: %w", New(BadData, "damaged")), BadData},
		{New(NoInput, "%w", full), TryAgain},
		{full, TryAgain},
	} {
		if got := KindOf(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}
