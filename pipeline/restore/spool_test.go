package restore

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"retime/pipeline/fault"
)

// full is a writer without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

// Only the error of a write asks for another place.
func TestErrorsOfKeepingStandardInput(t *testing.T) {
	for _, c := range []struct {
		to    io.Writer
		in    io.Reader
		kind  fault.Kind
		place bool
	}{
		{full{}, strings.NewReader("clip"), fault.CannotWrite, true},
		{io.Discard, io.MultiReader(strings.NewReader("clip"), iotest.ErrReader(errors.New("torn"))), fault.BadData, false},
	} {
		if err := keep(c.to, "kept", c.in); fault.KindOf(err) != c.kind || strings.Contains(err.Error(), "TMPDIR") != c.place {
			t.Errorf("%v", err)
		}
	}
	var to strings.Builder
	if err := keep(&to, "kept", strings.NewReader("clip")); err != nil || to.String() != "clip" {
		t.Errorf("%q: %v", to.String(), err)
	}
}
