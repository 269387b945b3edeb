package review

import (
	"context"
	"net/http"

	"retime/cmd/internal/review/edits"
	"retime/pipeline"
	"retime/pipeline/fault"
)

// editRequest is one step of a person's work.
type editRequest struct {
	Do      string           `json:"do"`
	First   int64            `json:"first"`
	Last    int64            `json:"last"`
	Method  pipeline.Method  `json:"method"`
	Cut     *bool            `json:"cut"`
	Outline [][2]float64     `json:"outline"`
	Arrows  [][4]float64     `json:"arrows"`
	Still   bool             `json:"still"`
	Keys    []edits.Keyframe `json:"keys"`
	Value   string           `json:"value"`
}

// maxEdited bounds how many frames an edit decides about.
const maxEdited = 1 << 16

// serveEdit makes an edit, saves it and tells all tabs.
func (c *session) serveEdit(w http.ResponseWriter, r *http.Request) error {
	var e editRequest
	if err := readRequest(r, &e); err != nil {
		return err
	}
	if err := c.edit(r.Context(), &e); err != nil {
		c.noticeFiles()
		return err
	}
	c.noticeFiles()
	s := c.state()
	c.server.hub.send(c.index, "state", s)
	answer(w, http.StatusOK, s)
	return nil
}

func (c *session) edit(ctx context.Context, e *editRequest) (err error) {
	defer func() {
		if err == nil {
			c.server.stirred.Store(true)
		}
	}()
	switch e.Do {
	case "undo":
		return c.store.Undo(c.accept)
	case "redo":
		return c.store.Redo(c.accept)
	case "reload":
		return c.store.Reload(c.accept)
	}
	change, err := c.change(ctx, e)
	if err != nil {
		return err
	}
	return c.store.Do(change, c.accept)
}

// change returns what an edit makes of a state.
func (c *session) change(ctx context.Context, e *editRequest) (func(edits.State) (edits.State, error), error) {
	switch e.Do {
	case "method", "cut", "region", "motion", "clear", "preset of", "shutter of": // they are about frames
		if total := c.maker.Plan().Total; e.First < 0 || e.Last < e.First || e.Last >= total {
			return nil, fault.New(fault.Usage, "frames %d to %d: the output has frames 0 to %d", e.First, e.Last, total-1)
		}
		if e.Last-e.First >= maxEdited {
			return nil, fault.New(fault.Usage, "%d frames are too many for one decision; at most %d", e.Last-e.First+1, maxEdited)
		}
	}
	video := c.maker.Video()
	switch e.Do {
	case "method":
		return func(s edits.State) (edits.State, error) { return s.SetMethod(e.First, e.Last, e.Method, c.at) }, nil
	case "cut":
		return func(s edits.State) (edits.State, error) { return s.SetCut(e.First, e.Cut, c.at) }, nil
	case "region":
		g := pipeline.Region{Method: e.Method, Outline: e.Outline}
		return func(s edits.State) (edits.State, error) { return s.SetRegion(e.First, e.Last, g, c.at) }, nil
	case "motion":
		list, err := c.intervals(ctx, e.First, e.Last)
		g := pipeline.Region{Method: pipeline.DrawnMotion, Outline: e.Outline, Arrows: e.Arrows}
		return func(s edits.State) (edits.State, error) { return s.SetMotion(list, g, c.at) }, err
	case "preset of":
		return func(s edits.State) (edits.State, error) {
			return s.SetPresetOf(e.First, e.Last, pipeline.Preset(e.Value), c.at)
		}, nil
	case "shutter of":
		return func(s edits.State) (edits.State, error) {
			return s.SetShutterOf(e.First, e.Last, e.Value, c.at)
		}, nil
	case "clear":
		return func(s edits.State) (edits.State, error) { return s.Clear(e.First, e.Last), nil }, nil
	case "mask":
		return func(s edits.State) (edits.State, error) {
			return s.PaintMask(video.Width, video.Height, e.Outline, e.Still)
		}, nil
	case "curve":
		return func(s edits.State) (edits.State, error) { return s.SetCurve(e.Keys) }, nil
	case "preset":
		return func(s edits.State) (edits.State, error) { return s.SetPreset(pipeline.Preset(e.Value)) }, nil
	case "shutter":
		return func(s edits.State) (edits.State, error) { return s.SetShutter(e.Value) }, nil
	}
	return nil, fault.New(fault.Usage, "there is no edit %.40q", e.Do)
}

// maxIntervals bounds how many intervals a drawn motion goes through in one edit.
const maxIntervals = 1000

// intervals returns the first and the last frames of the intervals of the source in which the frames
// from first to last lie, but for those that show a source frame. First must lie in one.
func (c *session) intervals(ctx context.Context, first, last int64) (list [][2]int64, err error) {
	for k := first; k <= last && len(list) < maxIntervals; k++ {
		from, to, err := c.maker.Between(ctx, k)
		if len(list) > 0 && fault.KindOf(err) == fault.Usage {
			continue
		} else if err != nil {
			return nil, err
		}
		list = append(list, [2]int64{from, to})
		k = to
	}
	return list, nil
}
