package edits

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
)

func at(k int64) float64 { return float64(k) / 24 }

// An edit that makes a line longer than a conversion reads is refused.
func TestRegionsOfALongLine(t *testing.T) {
	r := pipeline.Region{Method: pipeline.Nearest}
	for i := range 1024 {
		r.Outline = append(r.Outline, [2]float64{float64(i) / 7, float64(i%5) / 3})
	}
	s, n := State{}, 0
	for {
		next, err := s.AddRegion(7, 7, r, at)
		if err != nil {
			if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "longer than") {
				t.Error(err)
			}
			break
		}
		s = next
		n++
	}
	if n < 16 || len(s.Decisions()[0].Regions) != n {
		t.Errorf("%d of %d regions", len(s.Decisions()[0].Regions), n)
	}
}

// Names of fields that a conversion does not read stay as they are, whatever their characters.
func TestNamesOfFields(t *testing.T) {
	dir := t.TempDir()
	files := Files{Decisions: filepath.Join(dir, "d"), Mask: filepath.Join(dir, "m.png"), Curve: filepath.Join(dir, "c")}
	if err := os.WriteFile(files.Decisions, []byte(`{"frame":1,"method":"blend","\u0001\\\"\u200b":2}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(files)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(s State) (State, error) { return s.SetMethod(1, 1, pipeline.Nearest, at) }
	if err := s.Do(edit, nil); err != nil {
		t.Fatal(err)
	}
	if now, _ := s.State(); now.Decisions()[0].Method != pipeline.Nearest {
		t.Error("the edit is lost")
	}
	again, err := Open(files)
	if err != nil {
		t.Fatal(err)
	}
	if now, _ := again.State(); now.lines[1]["\x01\\\"\u200b"] == nil {
		t.Errorf("the field is lost: %s", now.decisionsFile())
	}
}
