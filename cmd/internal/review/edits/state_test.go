package edits

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
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
		r.Outline = slices.Clone(r.Outline)
		r.Outline[0][0] = float64(n)
		next, err := s.SetRegion(7, 7, r, at)
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

// A region is known by its outline: it changes its way in its place, and goes without a trace.
func TestRegionsByOutline(t *testing.T) {
	one := pipeline.Region{Method: pipeline.Nearest, Outline: [][2]float64{{0, 0}, {8, 0}, {8, 8}}}
	two := pipeline.Region{Method: pipeline.Blended, Outline: [][2]float64{{1, 0}, {8, 0}, {8, 8}}}
	var s State
	set := func(first, last int64, r pipeline.Region) {
		t.Helper()
		next, err := s.SetRegion(first, last, r, at)
		if err != nil {
			t.Fatal(err)
		}
		s = next
	}
	set(3, 5, one)
	set(4, 4, two)
	one.Method = pipeline.FromSource
	set(4, 5, one)
	d := s.Decisions()
	if len(d) != 3 || d[0].Regions[0].Method != pipeline.Nearest || d[1].Regions[0].Method != pipeline.FromSource || d[1].Regions[1].Method != pipeline.Blended || len(d[2].Regions) != 1 {
		t.Fatalf("%+v", d)
	}
	one.Method, one.Arrows = pipeline.DrawnMotion, [][4]float64{{1, 1, 2, 2}}
	set(5, 5, one)
	one.Arrows = append(one.Arrows, [4]float64{3, 3, 4, 4})
	set(5, 5, one)
	if r := s.Decisions()[2].Regions; len(r) != 1 || len(r[0].Arrows) != 2 {
		t.Errorf("a region with another arrow is %+v", r)
	}
	one.Method, two.Method = "", ""
	set(3, 5, one)
	if d := s.Decisions(); len(d) != 1 || d[0].Frame != 4 || len(d[0].Regions) != 1 {
		t.Fatalf("%+v", d)
	}
	set(0, 9, two)
	if s.Decided() != 0 {
		t.Errorf("%+v", s.Decisions())
	}
}

// A drawn motion goes on through intervals, or to where the thing is drawn next; drawn again, it takes its
// own place, and leaves another thing's alone.
func TestMotionThroughIntervals(t *testing.T) {
	intervals := [][2]int64{{1, 2}, {4, 5}, {7, 8}}
	thing := func(x float64, arrows ...[4]float64) pipeline.Region {
		return pipeline.Region{Method: pipeline.DrawnMotion, Outline: [][2]float64{{x, 0}, {x + 10, 0}, {x + 10, 10}, {x, 10}}, Arrows: arrows}
	}
	var s State
	set := func(intervals [][2]int64, r pipeline.Region) {
		t.Helper()
		next, err := s.SetMotion(intervals, r, at)
		if err != nil {
			t.Fatal(err)
		}
		s = next
	}
	arrows := func(frame int64) (list [][4]float64) {
		for _, d := range s.Decisions() {
			for _, r := range d.Regions {
				if d.Frame == frame {
					list = append(list, r.Arrows[0])
				}
			}
		}
		return list
	}
	want := func(what string, frame int64, list ...[4]float64) {
		t.Helper()
		if got := arrows(frame); !slices.Equal(got, list) {
			t.Errorf("%s: frame %d has arrows %v, want %v", what, frame, got, list)
		}
	}
	other := [4]float64{0, 5, 0, 6}
	set(intervals[1:2], thing(-40, other))
	set(intervals[:2], thing(0, [4]float64{5, 5, 9, 5}))
	want("on", 2, [4]float64{5, 5, 9, 5})
	want("on", 4, other, [4]float64{9, 5, 13, 5})
	want("on", 7)
	set(intervals[2:], thing(20, [4]float64{25, 5, 26, 5}))
	set(intervals, thing(1, [4]float64{5, 5, 9, 5}))
	want("until", 1, [4]float64{5, 5, 9, 5})
	want("until", 5, other, [4]float64{9, 5, 25, 5})
	want("until", 8, [4]float64{25, 5, 26, 5})
	if _, err := s.SetMotion(intervals, thing(0), at); fault.KindOf(err) != fault.BadData {
		t.Errorf("no arrow: %v", err)
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

// An edit whose file is there, though its directory could not be put on disk, is made: the store
// does not take its own file for somebody else's.
func TestFilesThatMayBeUndone(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Files{Decisions: filepath.Join(dir, "d"), Mask: filepath.Join(dir, "m.png"), Curve: filepath.Join(dir, "c")})
	if err != nil {
		t.Fatal(err)
	}
	s.replace = func(name string, text []byte) error {
		return errors.Join(os.WriteFile(name, text, 0o600), atomicfile.ErrNotOnDisk)
	}
	for k := range int64(2) {
		if err := s.Do(func(s State) (State, error) { return s.SetMethod(k, k, pipeline.Nearest, at) }, nil); err != nil {
			t.Fatal(err)
		}
	}
	if now, n := s.State(); n != 2 || len(now.Decisions()) != 2 {
		t.Errorf("%d edits, %d decisions; want 2 and 2", n, len(now.Decisions()))
	}
}

// If one of several files cannot be written, none is changed, and the next edit is made.
func TestAllFilesOrNone(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	files := Files{Decisions: filepath.Join(dir, "d"), Mask: filepath.Join(dir, "m.png"), Curve: filepath.Join(other, "c")}
	theirs := `{ "frame": 1, "method": "blend" }` + "\n\n"
	if err := os.WriteFile(files.Decisions, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	both := func(s State) (State, error) {
		s, err := s.SetMethod(2, 2, pipeline.Nearest, at)
		if err != nil {
			return s, err
		}
		return s.SetCurve([]Keyframe{{Source: "0", Speed: "100%"}, {Source: "end", Speed: "50%"}})
	}
	if err := s.Do(both, nil); fault.KindOf(err) != fault.CannotWrite {
		t.Errorf("a curve in no directory: %v", err)
	}
	if b, err := os.ReadFile(files.Decisions); err != nil || string(b) != theirs {
		t.Errorf("%v; the decisions are %s", err, b)
	}
	if now, version := s.State(); now.Curve != "" || len(now.Decisions()) != 1 || version != 0 {
		t.Errorf("after edit %d, %d decisions, curve %q", version, len(now.Decisions()), now.Curve)
	}
	if err := s.Do(func(s State) (State, error) { return s.SetMethod(2, 2, pipeline.Nearest, at) }, nil); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(both, nil); err != nil {
		t.Error(err)
	}
}

// A Store tells its state while an edit is asked about and saved.
func TestEditsHoldNoReaderUp(t *testing.T) {
	s, err := Open(Files{Curve: filepath.Join(t.TempDir(), "curve")})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	free := func(State, State) error {
		asked++
		if !s.mu.TryLock() {
			return errors.New("an edit holds the lock of the state")
		}
		s.mu.Unlock()
		return nil
	}
	edit := func(now State) (State, error) {
		now.Shutter = "180"
		return now, nil
	}
	if err := errors.Join(s.Do(edit, free), s.Undo(free), s.Redo(free), s.Reload(free)); err != nil || asked != 4 {
		t.Errorf("%d edits: %v", asked, err)
	}
}

// A preset and a shutter of a range stand in its lines, and go again.
func TestPresetAndShutterOfARange(t *testing.T) {
	s, err := State{}.SetMethod(2, 2, pipeline.Nearest, at)
	if err != nil {
		t.Fatal(err)
	}
	steps := []func(s State) (State, error){
		func(s State) (State, error) { return s.SetPresetOf(1, 3, pipeline.Best, at) },
		func(s State) (State, error) { return s.SetShutterOf(3, 4, "172.8", at) },
		func(s State) (State, error) { return s.SetPresetOf(1, 3, "", at) },
		func(s State) (State, error) { return s.SetShutterOf(3, 4, "", at) },
	}
	want := []string{"1: best ,2:nearest best ,3: best ,", "1: best ,2:nearest best ,3: best 172.8,4:  172.8,", "2:nearest  ,3:  172.8,4:  172.8,", "2:nearest  ,"}
	for i, step := range steps {
		if s, err = step(s); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, d := range s.Decisions() {
			fmt.Fprintf(&got, "%d:%s %s %s,", d.Frame, d.Method, d.Preset, d.Shutter)
		}
		if got.String() != want[i] {
			t.Errorf("step %d: %s, want %s", i, got.String(), want[i])
		}
	}
	for _, bad := range []string{"361", "-1", "1e1", "1/2", "wide", " 5"} {
		if _, err := s.SetShutterOf(1, 2, bad, at); fault.KindOf(err) != fault.BadData {
			t.Errorf("shutter %q: %v", bad, err)
		}
	}
	if _, err := s.SetPresetOf(1, 2, "slow", at); fault.KindOf(err) != fault.BadData {
		t.Errorf("preset slow: %v", err)
	}
}

// Files that are links stay links, and what they lead to holds the edits.
func TestLinkedFiles(t *testing.T) {
	dir, far := t.TempDir(), t.TempDir()
	link, file := filepath.Join(dir, "d"), filepath.Join(far, "decisions")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Files{Decisions: link})
	if err != nil {
		t.Fatal(err)
	}
	set := func(s State) (State, error) { return s.SetMethod(0, 1, pipeline.Nearest, at) }
	clear := func(s State) (State, error) { return s.Clear(0, 1), nil }
	for i, edit := range []func(State) (State, error){set, clear, set} {
		if err := s.Do(edit, nil); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("edit %d: no link any more: %v", i, err)
		}
		if _, err := os.Stat(file); (err == nil) != (i != 1) {
			t.Errorf("edit %d: %v", i, err)
		}
	}
}

// Of several stores of the same files, none loses what another has saved.
func TestStoresShareFiles(t *testing.T) {
	files := Files{Decisions: filepath.Join(t.TempDir(), "d")}
	const stores, each = 4, 40
	var group sync.WaitGroup
	for n := range int64(stores) {
		s, err := Open(files)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			for k := n * each; k < (n+1)*each; {
				err := s.Do(func(s State) (State, error) { return s.SetMethod(k, k, pipeline.Nearest, at) }, nil)
				switch {
				case err == nil:
					k++
				case !errors.Is(err, ErrElsewhere):
					t.Error(err)
					return
				default:
					if err := s.Reload(nil); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	s, err := Open(files)
	if err != nil {
		t.Fatal(err)
	}
	if now, _ := s.State(); len(now.Decisions()) != stores*each {
		t.Errorf("%d decisions are left of %d that were saved", len(now.Decisions()), stores*each)
	}
}
