package frames

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
)

// clip writes a clip of two scenes with 24 frames a second.
func clip(t *testing.T, frames int) string {
	t.Helper()
	name := cliptest.WriteCut(t, 96, 64, frames)
	encoded := strings.TrimSuffix(name, ".y4m") + ".mkv"
	o := pipeline.Options{
		Input:  pipeline.Input{File: name},
		Output: pipeline.Output{File: encoded, VideoOptions: map[string]string{"g": "7"}},
	}
	if _, err := pipeline.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	return encoded
}

// converted returns the digests and the records of a conversion's frames.
func converted(t *testing.T, o pipeline.Options) (digests []pipeline.Digest, records []pipeline.Record) {
	t.Helper()
	o.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "whole.nut"), VideoCodec: "ffv1", NoVerify: true}
	o.Hooks.Digest = func(_ int64, d pipeline.Digest) { digests = append(digests, d) }
	o.Hooks.Rate = true
	o.Hooks.Record = func(r pipeline.Record) { records = append(records, r) }
	if _, err := pipeline.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	return digests, records
}

func rate(t *testing.T, s string) pipeline.Rate {
	t.Helper()
	r, err := timeline.ParseRate(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func decisions(t *testing.T, text string) []pipeline.Decision {
	t.Helper()
	list, err := decision.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Frames that are made alone, in any order, are those of the whole conversion, bit for bit.
func TestFramesAreTheConversions(t *testing.T) {
	input := clip(t, 30)
	double := pipeline.Timing{Rate: rate(t, "2x")}
	for name, o := range map[string]pipeline.Options{
		"double":    {Timing: double},
		"fast":      {Timing: double, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}},
		"slower":    {Timing: pipeline.Timing{Rate: rate(t, "7")}},
		"slow":      {Timing: pipeline.Timing{Slow: big.NewRat(5, 2), From: big.NewRat(1, 5), To: big.NewRat(7, 10)}},
		"shutter":   {Timing: pipeline.Timing{Rate: rate(t, "10"), Shutter: big.NewRat(1, 2)}},
		"repeats":   {Timing: double, Synthesis: pipeline.Synthesis{Duplicates: pipeline.RetimeDuplicates}},
		"decisions": {Timing: double, Synthesis: pipeline.Synthesis{Decisions: decisions(t, `{"frame":5,"method":"nearest"}`+"\n"+`{"frame":9,"cut":true}`+"\n"+`{"frame":15,"method":"blend"}`)}},
		"drawn":     {Timing: double, Synthesis: pipeline.Synthesis{Decisions: decisions(t, `{"frame":5,"regions":[{"method":"motion","outline":[[20,10],[60,12],[40,50]],"arrows":[[30,20,45,30]]}]}`)}},
		"ways": {Timing: double, Synthesis: pipeline.Synthesis{Decisions: decisions(t, `{"frame":5,"preset":"best"}`+"\n"+`{"frame":6,"preset":"fast","method":"blend"}`+"\n"+
			`{"frame":7,"preset":"fast"}`+"\n"+`{"frame":8,"shutter":180}`+"\n"+`{"frame":9,"shutter":180,"cut":true}`+"\n"+`{"frame":10,"method":"nearest"}`+"\n"+`{"frame":30,"shutter":360,"preset":"best"}`)}},
		"no shutter": {Timing: pipeline.Timing{Rate: rate(t, "10"), Shutter: big.NewRat(1, 2)}, Synthesis: pipeline.Synthesis{Decisions: decisions(t, `{"frame":5,"shutter":0,"method":"nearest"}`)}},
		"curve": {Timing: pipeline.Timing{Curve: []curve.Keyframe{
			{Source: big.NewRat(0, 1), Speed: big.NewRat(1, 1), Shape: curve.Smooth}, {Source: big.NewRat(1, 1), Speed: big.NewRat(1, 3), Shape: curve.Linear},
		}}},
		"reverse": {Timing: pipeline.Timing{Curve: []curve.Keyframe{
			{Source: big.NewRat(0, 1), Output: big.NewRat(0, 1), Shape: curve.Linear}, {Source: big.NewRat(1, 1), Output: big.NewRat(1, 1), Shape: curve.Smooth},
			{Source: big.NewRat(1, 4), Output: big.NewRat(2, 1), Shape: curve.Linear}, {Source: big.NewRat(1, 2), Output: big.NewRat(3, 1), Shape: curve.Linear},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Input.File = input
			want, records := converted(t, o)
			m, err := Open(context.Background(), Options{Conversion: o, CacheBytes: 8 * 96 * 64 * 3})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if got := m.Plan().Total; got != int64(len(want)) {
				t.Fatalf("%d frames are planned, %d converted", got, len(want))
			}
			order := rand.New(rand.NewPCG(1, 2)).Perm(len(want))
			for _, k := range order {
				s, err := m.Frame(context.Background(), Final, int64(k))
				if err != nil {
					t.Fatalf("frame %d: %v", k, err)
				}
				if s.Digest != want[k] {
					t.Errorf("frame %d differs from the conversion's", k)
				}
				if w := records[k]; s.Record.Method != w.Method || s.Record.Confidence != w.Confidence || s.Record.Phase != w.Phase || s.Record.Frame != w.Frame || s.Record.Cut != w.Cut {
					t.Errorf("frame %d: record %+v, of the conversion %+v", k, s.Record, w)
				}
				s.Frame.Release()
			}
		})
	}
}

// An edit shows in the frames that it changes, and the others stay.
func TestUse(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: clip(t, 30)}, Timing: pipeline.Timing{Rate: rate(t, "2x")}}
	before, _ := converted(t, o)
	m, err := Open(context.Background(), Options{Conversion: o, CacheBytes: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	digest := func(v View, k int64) pipeline.Digest {
		t.Helper()
		s, err := m.Frame(context.Background(), v, k)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Frame.Release()
		return s.Digest
	}
	if digest(Final, 7) != before[7] {
		t.Error("frame 7 differs before the edit")
	}
	o.Synthesis.Decisions = decisions(t, `{"frame":7,"method":"nearest"}`)
	if err := m.Use(context.Background(), o, func(k int64) bool { return k == 7 }); err != nil {
		t.Fatal(err)
	}
	after, _ := converted(t, o)
	if after[7] == before[7] {
		t.Fatal("the decision changes nothing")
	}
	for _, k := range []int64{7, 8, 9, 6} {
		if digest(Final, k) != after[k] {
			t.Errorf("frame %d differs after the edit", k)
		}
	}
	if digest(Source, 7) != after[7] || digest(Blend, 7) == before[7] || digest(Fast, 9) == digest(Blend, 9) {
		t.Error("the views are not what they say")
	}
	if digest(Minterpolate, 9) != (pipeline.Digest{}) {
		t.Error("a frame of FFmpeg's has a digest of the conversion")
	}
}

// Whoever waits for a frame that an edit does away with gets an error, and does not keep the
// worker busy.
func TestUseOfFewerFrames(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: clip(t, 12)}, Timing: pipeline.Timing{Rate: rate(t, "2x")}}
	m, err := Open(context.Background(), Options{Conversion: o, CacheBytes: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r := &request{key: key{Final, m.Plan().Total - 1}, ctx: context.Background(), done: make(chan result, 1)}
	source := m.now.window
	source.mu.Lock() // the worker can make nothing now
	m.mu.Lock()
	m.waiting = append(m.waiting, r)
	m.mu.Unlock()
	o.Timing.Rate = rate(t, "1x")
	err = m.Use(context.Background(), o, func(int64) bool { return true })
	source.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if got := <-r.done; fault.KindOf(got.err) != fault.Usage {
		t.Errorf("frame %d: %v", r.frame, got.err)
	}
}

// A request that is given up does not keep the next one waiting, and does no harm.
func TestCancel(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: clip(t, 30)}, Timing: pipeline.Timing{Rate: rate(t, "2x")}}
	m, err := Open(context.Background(), Options{Conversion: o, CacheBytes: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var wait sync.WaitGroup
	for k := range int64(40) {
		ctx, cancel := context.WithCancel(context.Background())
		wait.Add(1)
		go func() {
			defer wait.Done()
			if s, err := m.Frame(ctx, Final, k); err == nil {
				s.Frame.Release()
			}
		}()
		cancel()
	}
	wait.Wait()
	s, err := m.Frame(context.Background(), Final, 21)
	if err != nil {
		t.Fatal(err)
	}
	s.Frame.Release()
	if _, err := m.Frame(context.Background(), Final, m.Plan().Total); err == nil {
		t.Error("a frame behind the end was made")
	}
}

// While nobody waits, all frames are rated; the ratings are the records of the preset fast.
func TestRatings(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: clip(t, 30)}, Timing: pipeline.Timing{Rate: rate(t, "2x")}}
	ratings := make(chan Rating, 1000)
	m, err := Open(context.Background(), Options{Conversion: o, CacheBytes: 1 << 24, Rated: func(r Rating) { ratings <- r }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Pause(false)
	o.Synthesis.Preset = pipeline.Fast
	_, want := converted(t, o)
	got := map[int64]Rating{}
	for len(got) < len(want) {
		r := <-ratings
		got[r.Frame] = r
	}
	for k, w := range want {
		g := got[int64(k)].Record
		g.Sources, w.Sources = nil, nil
		a, _ := json.Marshal(g)
		b, _ := json.Marshal(w)
		if string(a) != string(b) {
			t.Errorf("frame %d: %s, converted %s", k, a, b)
		}
	}
}

// Once all frames are rated, the ten lowest are rated again, each once, as they will be rendered.
func TestLowestAreRatedAsRendered(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: clip(t, 30)}, Timing: pipeline.Timing{Rate: rate(t, "2x")}}
	ratings := make(chan Rating, 1000)
	m, err := Open(context.Background(), Options{Conversion: o, CacheBytes: 1 << 24, Rated: func(r Rating) { ratings <- r }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, want := converted(t, o)
	scores, final := map[int64]float64{}, map[int64]bool{}
	for len(final) < 10 {
		r := <-ratings
		switch {
		case r.View == Final && final[r.Frame]:
			t.Fatalf("frame %d is rated again and again", r.Frame)
		case r.View == Final:
			final[r.Frame] = true
			if r.Worst == nil || want[r.Frame].Worst == nil || *r.Worst != *want[r.Frame].Worst {
				t.Errorf("frame %d: %+v, converted %+v", r.Frame, r.Worst, want[r.Frame].Worst)
			}
		case len(final) > 0:
			t.Errorf("frame %d is rated after the lowest", r.Frame)
		case r.Worst != nil:
			scores[r.Frame] = r.Worst.Score
		}
	}
	highest := 0.0
	for k := range final {
		highest = max(highest, scores[k])
	}
	for k, v := range scores {
		if !final[k] && v < highest {
			t.Errorf("frame %d, %f, is not rated again, but one of %f", k, v, highest)
		}
	}
}

// A lone bright pixel is a speck, an edge and a plain are none.
func TestSpecks(t *testing.T) {
	g := frame.NewImage[uint8](16, 16)
	for y := range 16 {
		for x := 8; x < 16; x++ {
			g.Row(y)[x] = 200
		}
	}
	if n := specks(g); n != 0 {
		t.Errorf("%d specks on an edge", n)
	}
	g.Row(5)[3], g.Row(9)[12] = 40, 150
	if n := specks(g); n != 2 {
		t.Errorf("%d specks, want 2", n)
	}
}

// The filter gets about the pictures' own rate, however many frames the output has, and a frame of
// its falls on the time, or near it just behind the first picture.
func TestPeerRate(t *testing.T) {
	period := big.NewRat(1, 24)
	for _, c := range []struct {
		way *big.Rat
		off float64 // frames
	}{
		{big.NewRat(1, 1_000_000), 0.5}, {big.NewRat(1, 1_000), 0.5}, {big.NewRat(1, 384), 0}, {big.NewRat(1, 48), 0}, {big.NewRat(5, 72), 0}, {big.NewRat(7, 24), 0},
		{big.NewRat(123_457, 1_000_000), 1e-3}, {big.NewRat(1_000_000_007, 4_000_000_009), 1e-3},
	} {
		rate := peerRate(c.way, period)
		frames, _ := new(big.Rat).Mul(rate, c.way).Float64()
		if math.Abs(frames-math.Round(frames)) > c.off || rate.Cmp(big.NewRat(16*24, 1)) > 0 || c.way.Cmp(period) > 0 && rate.Cmp(big.NewRat(36, 1)) > 0 {
			t.Errorf("%s s behind: rate %s, frame %v", c.way, rate, frames)
		}
	}
}

// A frame of the filter can be given up, and the worker goes on.
func TestPeerIsGivenUp(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: clip(t, 12)}, Timing: pipeline.Timing{Slow: big.NewRat(1000, 1)}}
	m, err := Open(context.Background(), Options{Conversion: o, CacheBytes: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	shot, err := m.Frame(context.Background(), Source, 3000)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Frame.Release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	at := Moment(m.Plan(), 5500)
	if f, err := minterpolate(ctx, m.setup(), []*frame.Frame{shot.Frame}, at); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", f, err)
	}
	made, err := m.Frame(context.Background(), Minterpolate, 5500)
	if err != nil {
		t.Fatal(err)
	}
	made.Frame.Release()
}

// What the user stopped stays stopped after somebody else has kept the worker for a while.
func TestHold(t *testing.T) {
	o := pipeline.Options{Input: pipeline.Input{File: clip(t, 12)}, Timing: pipeline.Timing{Rate: rate(t, "2x")}}
	m, err := Open(context.Background(), Options{Conversion: o, CacheBytes: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Hold()(); !m.Rates() {
		t.Error("a rendering stops the rating")
	}
	m.Pause(true)
	if m.Hold()(); m.Rates() {
		t.Error("a rendering lets the rating go on")
	}
}

// A job makes frames of one way, and so the frames behind the playhead up to those of another way.
func TestJobBehindIsOfOneWay(t *testing.T) {
	const total = 10
	ways, err := decision.NewWays(decision.Way{Preset: pipeline.Balanced, Shutter: "0"}, decisions(t, `{"frame":6,"preset":"best"}`))
	if err != nil {
		t.Fatal(err)
	}
	m := &Maker{ctx: t.Context(), cache: newCache(1 << 20), now: &setup{plan: &timeline.Plan{Total: total}, ways: ways}, head: key{Final, total - 1}}
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 4, 4)
	defer f.Release()
	for _, want := range [][2]int64{{7, 9}, {6, 7}, {5, 6}} {
		j, _ := m.choose()
		if j == nil {
			t.Fatalf("nothing is made, want frames from %d on", want[0])
		}
		j.cancel()
		if j.end != want[1] || j.next > want[0] || ways.Of(j.next) != ways.Of(want[0]) || m.now.alike(j.next, j.end) != j.end {
			t.Errorf("frames from %d to before %d are made in one job, want %d", j.next, j.end, want)
		}
		for k := want[0]; k < want[1]; k++ {
			m.cache.put(key{Final, k}, Shot{Frame: f})
		}
	}
}
