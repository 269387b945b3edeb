package evaluate

import (
	"context"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"retime/pipeline"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/fault"
)

func TestDamagedInput(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "cut.mkv")
	ffmpeg(t, "-i", writeScene(t, 160, 96, 72, 24), "-c:v", "libx264", "-g", "12", clip)
	data, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(clip, data[:len(data)*6/10], 0o600); err != nil {
		t.Fatal(err)
	}
	o := quick(clip)
	o.Dir = t.TempDir()
	r, err := Run(context.Background(), o)
	if fault.KindOf(err) != fault.BadData || err == nil || !strings.Contains(err.Error(), "the report covers") {
		t.Fatalf("error %v, want bad data", err)
	}
	if r == nil || r.Clip.Damage == "" || len(r.Frames) < 15 {
		t.Fatalf("report %+v", r)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, pageName)); err != nil {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	clip := writeScene(t, 64, 48, 5, 24)
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, dataName), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		set  func(*Options)
		kind fault.Kind
		says string
	}{
		{"no input", func(o *Options) { o.Input.File = "" }, fault.Usage, "no input"},
		{"standard input", func(o *Options) { o.Input.File = "-" }, fault.Usage, "name a file"},
		{"missing input", func(o *Options) { o.Input.File = "missing.mp4" }, fault.NoInput, "missing.mp4"},
		{"not a video", func(o *Options) { o.Input.File = "evaluate_test.go" }, fault.BadData, "evaluate_test.go"},
		{"every frame", func(o *Options) { o.Every = 1 }, fault.Usage, "Options.Every 1"},
		{"too short", func(o *Options) { o.MaxFrames = 2 }, fault.Usage, "at least 3"},
		{"from behind the end", func(o *Options) { o.From = big.NewRat(20, 1) }, fault.Usage, "at least 3"},
		{"from behind to", func(o *Options) { o.From, o.To = big.NewRat(2, 1), big.NewRat(1, 1) }, fault.Usage, "not before"},
		{"negative frames", func(o *Options) { o.MaxFrames = -1 }, fault.Usage, "Options.MaxFrames"},
		{"too many worst", func(o *Options) { o.Worst = MaxWorst + 1 }, fault.Usage, "Options.Worst"},
		{"too many regions", func(o *Options) { o.Regions = MaxWorst + 1 }, fault.Usage, "Options.Regions"},
		{"empty command", func(o *Options) { o.Peers = []Peer{{Name: "x", Method: Command, Line: " "}} }, fault.Usage, `peer "x": no command`},
		{"threads", func(o *Options) { o.Threads = -1 }, fault.Usage, "Options.Threads"},
		{"setting", func(o *Options) {
			o.Settings = []Setting{{Name: "a", Convert: pipeline.Options{Synthesis: pipeline.Synthesis{Preset: "magic"}}}}
		}, fault.Usage, `retime "a": Synthesis.Preset magic`},
		{"names", func(o *Options) { o.Peers = []Peer{{Name: "quick", Method: Blend}} }, fault.Usage, `"quick"`},
		{"peer", func(o *Options) { o.Peers = []Peer{{Name: "x", Method: "magic"}} }, fault.Usage, "magic"},
		{"peer's options", func(o *Options) { o.Peers = []Peer{{Name: "x", Method: Minterpolate, Filter: "magic=1"}} }, fault.Usage, `peer "x"`},
		{"report exists", func(o *Options) { o.Dir = full }, fault.CannotWrite, "Options.Overwrite"},
		{"report is a file", func(o *Options) { o.Dir = clip }, fault.CannotWrite, "scene.y4m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := quick(clip)
			c.set(&o)
			_, err := Run(context.Background(), o)
			if err == nil || fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("kind %d: %v\nwant kind %d, %q, one line", fault.KindOf(err), err, c.kind, c.says)
			}
		})
	}
}

func TestOverwrite(t *testing.T) {
	o := quick(writeScene(t, 64, 48, 5, 24))
	o.Dir = filepath.Join(t.TempDir(), "new", "folder")
	mustRun(t, o)
	o.Overwrite = true
	mustRun(t, o)
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("%d files, want the two reports: %v", len(entries), entries)
	}
}

func TestCancel(t *testing.T) {
	for _, after := range []int64{0, 2, 9} {
		ctx, cancel := context.WithCancel(context.Background())
		o := Options{Input: pipeline.Input{File: writeScene(t, 96, 64, 13, 24)}, Worst: 2, Peers: []Peer{{Name: "m", Method: Minterpolate}}}
		o.Dir = filepath.Join(t.TempDir(), "report")
		o.Progress = func(p pipeline.Progress) {
			if p.Frames >= after {
				cancel()
			}
		}
		if after == 0 {
			cancel()
		}
		r, err := Run(ctx, o)
		if r != nil || fault.KindOf(err) != fault.Cancelled {
			t.Errorf("cancelled after %d frames: %v", after, err)
		}
		if _, err := os.Stat(o.Dir); err == nil {
			t.Errorf("cancelled after %d frames, a folder is left behind", after)
		}
		cancel()
	}
}

// failing is a peer that makes some frames and then fails.
type failing struct {
	maker
	calls *int
	at    int // the call that fails
}

func (f failing) make(ctx context.Context, j job) (time.Duration, error) {
	*f.calls++
	if *f.calls != f.at {
		return f.maker.make(ctx, j)
	}
	j.times = j.times[:1]
	if _, err := f.maker.make(ctx, j); err != nil {
		return 0, err
	}
	return 0, errors.New("out of luck")
}

// A peer that fails, early or late, is left out. The other methods get the same results as without
// it.
func TestFailingPeer(t *testing.T) {
	for _, at := range []int{1, 2} {
		o := quick(writeScene(t, 64, 48, 25, 24))
		o.Worst, o.Regions, o.Peers = 2, 2, []Peer{{Name: "first", Method: Blend}, {Name: "second", Method: Blend}, {Name: "third", Method: Nearest}}
		if err := o.settle(); err != nil {
			t.Fatal(err)
		}
		methods, err := o.methods()
		if err != nil {
			t.Fatal(err)
		}
		methods[2].maker = failing{methods[2].maker, new(int), at}
		var last pipeline.Progress
		o.Progress = func(p pipeline.Progress) { last = p }
		c, err := scan(t.Context(), &o)
		if err != nil {
			t.Fatal(err)
		}
		e, err := newEvaluation(&o, c, methods)
		if err != nil {
			t.Fatal(err)
		}
		defer e.close()
		if err := errors.Join(e.timeAll(t.Context()), e.tryAll(t.Context())); err != nil {
			t.Fatalf("failing at call %d: %v", at, err)
		}
		r := e.report(time.Unix(0, 0))
		if len(r.Methods) != 3 || r.Methods[1].Name != "first" || r.Methods[2].Name != "third" || len(r.Failed) != 1 || r.Failed[0] != (report.Failure{Name: "second", Error: "out of luck"}) {
			t.Fatalf("failing at call %d: %+v, failed %+v", at, r.Methods, r.Failed)
		}
		for _, x := range r.Pictures.Worst {
			if len(x.Views) != 3 {
				t.Errorf("failing at call %d: %d views", at, len(x.Views))
			}
		}
		for i, p := range r.Pictures.Regions {
			if len(p.Made) != 3 || len(r.Regions[i].PSNRY) != 3 {
				t.Errorf("failing at call %d: region %d by %d methods", at, i, len(p.Made))
			}
		}
		if len(r.Pictures.Regions) != 2 || len(r.Pictures.Worst) == 0 || last.Frames != last.Total {
			t.Errorf("failing at call %d: %d exhibits, progress %+v", at, len(r.Pictures.Worst), last)
		}
		var page strings.Builder
		if err := r.WriteHTML(&page); err != nil || !strings.Contains(page.String(), "second is left out") {
			t.Errorf("failing at call %d: the page does not say so: %v", at, err)
		}
	}
}

// Interlaced input is refused, as a conversion refuses it, unless Deinterlace says what its frames are.
func TestInterlacedInput(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "fields.mkv")
	ffmpeg(t, "-i", writeScene(t, 64, 48, 12, 50), "-vf", "tinterlace=interleave_top,setfield=tff", "-c:v", "ffv1", clip)
	o := quick(clip)
	if _, err := Run(context.Background(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "Input.Deinterlace") {
		t.Errorf("%v", err)
	}
	for how, want := range map[pipeline.Deinterlace]int{pipeline.IgnoreFields: 2, pipeline.EachField: 5} {
		o.Input.Deinterlace = how
		r, err := Run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Frames) != want {
			t.Errorf("%s: %d frames held out, want %d", how, len(r.Frames), want)
		}
	}
}
