package review

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/http"
	memory "runtime/debug"
	"strings"
	"sync"

	"retime/cmd/internal/review/frames"
	"retime/flow"
	"retime/internal/heap"
	"retime/pipeline"
	"retime/pipeline/debug"
	"retime/pipeline/fault"
)

// dissections keeps the drawings of the frames that were asked about last.
type dissections struct {
	busy chan struct{} // holds an element while a frame is dissected: one at a time

	mu      sync.Mutex
	kept    []*dissection
	version int // rises with each edit
}

func newDissections() dissections { return dissections{busy: make(chan struct{}, 1)} }

// dissection describes how a frame was made.
type dissection struct {
	frame    int64
	drawings []drawing
	arrows   []arrow
	grid     [2]int // size of the maps among the drawings, which may have legends below
}

// drawing is a PNG file, a small part of the picture's size.
type drawing struct {
	Name  string `json:"name"`
	About string `json:"about"`
	png   []byte
}

// arrow is the motion at a place of the first source frame, to the second one, in pixels.
type arrow struct {
	X  int     `json:"x"`
	Y  int     `json:"y"`
	DX float64 `json:"dx"`
	DY float64 `json:"dy"`
}

// maxDissections bounds the memory that drawings take.
const maxDissections = 3

func (d *dissections) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept = nil
	d.version++
}

// known returns the dissection of frame k, nil if there is none, and the version.
func (d *dissections) known(k int64) (*dissection, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range d.kept {
		if v.frame == k {
			return v, d.version
		}
	}
	return nil, d.version
}

// keep keeps a dissection, unless an edit has come since a version.
func (d *dissections) keep(v *dissection, version int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if version != d.version {
		return
	}
	if d.kept = append(d.kept, v); len(d.kept) > maxDissections {
		d.kept = d.kept[1:]
	}
}

// of returns how frame k is made. Edits need not wait for it.
func (d *dissections) of(ctx context.Context, c *session, k int64) (*dissection, error) {
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	kept, version := d.known(k)
	if kept != nil {
		return kept, nil
	}
	o := c.maker.Conversion()
	way, _ := c.maker.Way(k)
	o.Compute.Backend, o.Synthesis.Preset = pipeline.CPU, way.Preset
	defer c.maker.Hold()()
	memory.FreeOSMemory() // or else what other frames left behind would lie beside what this takes
	heap.Trim()
	found, err := debug.Dissect(ctx, o, frames.Moment(c.maker.Plan(), k))
	if err != nil {
		return nil, err
	}
	defer found.Release()
	v := &dissection{frame: k, arrows: arrows(found), grid: [2]int{found.Confidence.Width, found.Confidence.Height}}
	drawn, err := debug.Draw(found)
	if err != nil {
		return nil, err
	}
	for _, p := range drawn {
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, p.Picture); err != nil {
			return nil, err
		}
		v.drawings = append(v.drawings, drawing{p.Name, p.About, b.Bytes()})
	}
	d.keep(v, version)
	return v, nil
}

// arrowsAcross is how many arrows stand beside each other.
const arrowsAcross = 32

func arrows(d *debug.Dissection) (list []arrow) {
	if len(d.Interval.Flows) == 0 {
		return nil
	}
	f := d.Interval.Flows[0].Forward
	scale := 1 << d.Interval.Level
	step := max(f.Width/arrowsAcross, 4)
	for y := step / 2; y < f.Height; y += step {
		for x := step / 2; x < f.Width; x += step {
			if v := f.Row(y)[x]; v.Known() {
				length := float64(scale) / flow.One
				list = append(list, arrow{x * scale, y * scale, float64(v.X) * length, float64(v.Y) * length})
			}
		}
	}
	return list
}

// serveWhy answers how a frame was made.
func (c *session) serveWhy(w http.ResponseWriter, r *http.Request) error {
	k, err := number(r, "frame", c.maker.Plan().Total-1)
	if err != nil {
		return err
	}
	s, err := c.maker.Frame(r.Context(), frames.Final, k)
	if err != nil {
		return err
	}
	s.Frame.Release()
	said := struct {
		Sentence string          `json:"sentence"`
		Record   pipeline.Record `json:"record"`
		Drawings []drawing       `json:"drawings"`
		Arrows   []arrow         `json:"arrows"`
		Grid     [2]int          `json:"grid"`
	}{Sentence: c.sentence(s.Record), Record: s.Record, Drawings: []drawing{}, Arrows: []arrow{}}
	if s.Record.Phase != 0 && s.Record.Phase != 1 {
		d, err := c.why.of(r.Context(), c, k)
		switch {
		case fault.KindOf(err) == fault.Usage && err != nil: // nothing is made there
		case err != nil:
			return err
		default:
			said.Drawings, said.Arrows, said.Grid = d.drawings, d.arrows, d.grid
		}
	}
	answer(w, http.StatusOK, said)
	return nil
}

// serveDrawing sends a drawing of how a frame was made. Its name is looked up among those that
// there are; no file is opened.
func (c *session) serveDrawing(w http.ResponseWriter, r *http.Request) error {
	k, err := number(r, "frame", c.maker.Plan().Total-1)
	if err != nil {
		return err
	}
	d, err := c.why.of(r.Context(), c, k)
	if err != nil {
		return err
	}
	for _, v := range d.drawings {
		if v.Name == r.FormValue("name") {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(v.png) // the tab is gone if it fails
			return nil
		}
	}
	return fault.New(fault.Usage, "there is no such drawing")
}

// sentence says in words what happened.
func (c *session) sentence(r pipeline.Record) string {
	o := c.maker.Conversion()
	now, _ := c.store.State()
	var wish pipeline.Decision
	for _, d := range now.Decisions() {
		if d.Frame == r.Frame {
			wish = d
		}
	}
	var b strings.Builder
	way, moments := c.maker.Way(r.Frame)
	between := ""
	if len(r.Sources) > 1 {
		between = fmt.Sprintf(" between source frames %d and %d", r.Sources[0], r.Sources[1])
	}
	threshold, blend, nearest := *o.Synthesis.SceneThreshold, *o.Synthesis.BlendBelow, *o.Synthesis.NearestBelow
	switch {
	case r.Method == pipeline.Exposed:
		fmt.Fprintf(&b, "The mean of %d moments while the shutter is open; the least trusted has a confidence of %.2f.", moments, r.Confidence)
	case r.Method == pipeline.FromSource && r.Phase == 0:
		fmt.Fprintf(&b, "Source frame %d, as the camera shot it.", r.Sources[0])
	case wish.Method != "" && r.Method == wish.Method:
		fmt.Fprintf(&b, "You decided: %s%s.", wish.Method, between)
		if r.Method == pipeline.Interpolated || r.Method == pipeline.Blended {
			fmt.Fprintf(&b, " Confidence %.2f.", r.Confidence)
		}
	case r.Cut && r.CutScore >= threshold:
		fmt.Fprintf(&b, "A cut was seen here%s: score %.2f, threshold %.2f. The nearer source frame is shown.", between, r.CutScore, threshold)
	case r.Cut:
		fmt.Fprintf(&b, "A cut was decided here%s; its score is %.2f, below the threshold of %.2f. The nearer source frame is shown.", between, r.CutScore, threshold)
	case r.Method == pipeline.Nearest:
		fmt.Fprintf(&b, "The motion%s cannot be trusted: the confidence is below %.2f. The nearer source frame is shown.", between, nearest)
	case r.Method == pipeline.Blended:
		fmt.Fprintf(&b, "Made along the motion%s, and cross-faded where it cannot be trusted: confidence %.2f is below %.2f.", between, r.Confidence, blend)
	default:
		fmt.Fprintf(&b, "Made along the motion%s, %.0f %% of the way. Confidence %.2f.", between, 100*r.Phase, r.Confidence)
	}
	if r.Method == pipeline.Interpolated || r.Method == pipeline.Blended {
		fmt.Fprintf(&b, " The source frames differ by %.1f grey levels along the motion; %.1f %% of the picture is not reached by it.", r.Error, r.Holes)
		if r.CutScore >= threshold && !r.Cut {
			fmt.Fprintf(&b, " The cut score is %.2f, but you decided that there is no cut.", r.CutScore)
		} else if r.CutScore > threshold/2 {
			fmt.Fprintf(&b, " The cut score is %.2f; a cut needs %.2f.", r.CutScore, threshold)
		}
	}
	if wish.Preset != "" {
		fmt.Fprintf(&b, " You decided on the preset %s.", way.Preset)
	}
	if n := len(wish.Regions); n > 0 {
		fmt.Fprintf(&b, " You decided about %s of it.", plural(n, "region"))
	}
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
