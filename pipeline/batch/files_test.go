package batch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// The batch replaces no file that it did not write, neither an output's companions nor an output
// that appears while the clip is made.
func TestFilesOfOthersAreKept(t *testing.T) {
	f := newFixture(t, "a", "b")
	for i := range f.Jobs {
		j := &f.Jobs[i]
		j.Writes = []string{j.Input + ".side"}
		j.Convert = func(_ context.Context, r Resources) (*pipeline.Report, error) {
			f.runs.Add(1)
			if exists := stampOf(j.Writes[0]).exists(); r.Overwrite != exists {
				t.Errorf("%s: files are overwritten: %v, though one is there: %v", j.Input, r.Overwrite, exists)
			}
			f.write(filepath.Base(j.Writes[0]), "ours")
			return nil, fault.New(fault.BadData, "damaged")
		}
	}
	_, _ = f.run(t.Context(), 2, Summary{Failed: 2})
	f.Jobs[0].Writes = append(f.Jobs[0].Writes, "/dev/null")
	f.Resume = true
	f.write("b.side", "precious")
	s, _ := f.run(t.Context(), 1, Summary{Failed: 2})
	if err := s.Outcomes[1].Err; fault.KindOf(err) != fault.CannotWrite || !strings.Contains(err.Error(), f.path("b.side")) {
		t.Error(err)
	}
	for _, j := range f.Jobs {
		if err := os.Remove(j.Writes[0]); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = f.run(t.Context(), 2, Summary{Failed: 2})
}
