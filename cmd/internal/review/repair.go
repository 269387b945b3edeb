package review

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"

	"retime/cmd/internal/review/frames"
	"retime/frame"
	"retime/internal/shell"
	"retime/pipeline/fault"
	"retime/pipeline/restore"
)

// Restoration is what is reviewed in place of clips: the findings in an input.
type Restoration struct {
	Options restore.Options // without Damage; Convert.Output.File is what the command on the page names
	List    string          // file of the findings, as restore reads it; edits are saved there
	Flags   []Flag          // that the command line needs to make the same
}

// repairs is a restoration that is open.
type repairs struct {
	of      *Restoration
	painter frames.Painter

	making  sync.Mutex // held while the preview reads or makes a frame, which takes long
	preview *restore.Preview

	mu    sync.Mutex // for what follows
	store repairStore
}

func openRepairs(ctx context.Context, of *Restoration) (*repairs, error) {
	if _, _, err := readRepairs(of.List); err != nil { // before the input is read, which may take long
		return nil, err
	}
	input, err := restore.OpenPreview(ctx, of.Options)
	if err != nil {
		return nil, err
	}
	r := &repairs{of: of, preview: input, store: repairStore{name: of.List, input: input}}
	if err := r.store.load(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *repairs) close() {
	r.making.Lock()
	defer r.making.Unlock()
	r.preview.Close()
	r.painter.Close()
}

// repairEdit is a change of a finding.
type repairEdit struct {
	Do    string `json:"do"` // accept, reject, kind, method, regions, undo or reload
	Index int    `json:"index"`
	Value string `json:"value"`
}

// repairState is what the page shows.
type repairState struct {
	Version int64          `json:"version"`
	Items   []repairShown  `json:"items"`
	Kinds   []restore.Kind `json:"kinds"`
	Command string         `json:"command"`
	Frames  int64          `json:"frames"` // of the input
	Woven   bool           `json:"woven"`  // the pictures are of two fields each
	Undo    int            `json:"undo"`
}

// repairShown is a finding on the page.
type repairShown struct {
	First    int64             `json:"first"`
	Last     int64             `json:"last"`
	Field    restore.Field     `json:"field,omitempty"`
	Time     float64           `json:"time"`
	Kind     restore.Kind      `json:"kind"`
	Score    float64           `json:"score"`
	Method   string            `json:"method"`
	Insert   int               `json:"insert"`
	Missing  int               `json:"missing"`
	Regions  []*restore.Region `json:"regions,omitempty"`
	Restored bool              `json:"restored"`
	Rejected bool              `json:"rejected"`
}

// do makes an edit.
func (r *repairs) do(e *repairEdit) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store.do(e)
}

// state returns what the page shows.
func (r *repairs) state() (repairState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := repairState{Version: r.store.version, Items: []repairShown{}, Kinds: restore.Kinds(), Command: r.command(), Frames: r.preview.Frames(), Woven: r.preview.Interlaced(), Undo: len(r.store.undo)}
	for _, i := range r.store.items {
		f, err := r.preview.Resolve(i.Finding)
		if err != nil {
			return s, err
		}
		s.Items = append(s.Items, repairShown{
			f.First.Number, f.Last.Number, f.First.Field, f.Time, f.Kind, f.Score, string(f.Method), f.Insert, f.Missing, f.Regions, i.restores(), i.rejected,
		})
	}
	return s, nil
}

// command returns the command line that restores what is accepted.
func (r *repairs) command() string {
	o := &r.of.Options.Convert
	words := []string{"retime", "restore", o.Input.File, "-o", o.Output.File, "--list", r.of.List}
	for _, f := range r.of.Flags {
		if f.Name != "output" && f.Name != "list" {
			words = append(words, f.word())
		}
	}
	return shell.Join(words)
}

// routes adds what answers the page's requests.
func (s *Server) repairRoutes(mux *http.ServeMux) {
	handle := func(pattern string, serve func(*repairs, http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := serve(s.repairs, w, r); err != nil {
				s.refuse(w, r, err)
			}
		})
	}
	handle("GET /repairs", (*repairs).serveState)
	handle("POST /repairs", func(r *repairs, w http.ResponseWriter, q *http.Request) error {
		var e repairEdit
		if err := readRequest(q, &e); err != nil {
			return err
		}
		if err := r.do(&e); err != nil {
			return err
		}
		return r.serveState(w, q)
	})
	handle("GET /picture", (*repairs).servePicture)
}

func (r *repairs) serveState(w http.ResponseWriter, _ *http.Request) error {
	now, err := r.state()
	if err == nil {
		answer(w, http.StatusOK, now)
	}
	return err
}

func (r *repairs) servePage(w http.ResponseWriter, _ *http.Request) error {
	name := r.of.Options.Convert.Input.File
	return show(w, "repair.html", struct{ Title, List string }{filepath.Base(name), r.of.List})
}

// servePicture sends a frame of the input, or one that is made, as a PNG.
func (r *repairs) servePicture(w http.ResponseWriter, q *http.Request) error {
	n, err := number(q, "frame", r.preview.Frames()-1)
	if err != nil {
		return err
	}
	var f *frame.Frame
	switch what := q.FormValue("what"); what {
	case "source":
		f, err = r.source(q, n)
	case "made":
		f, err = r.made(q, n)
	default:
		err = fault.New(fault.Usage, "there is no picture %.40q", what)
	}
	if err != nil {
		return err
	}
	defer f.Release()
	b, err := r.painter.Thumbnail(f, r.preview.Video(), 0)
	if err == nil {
		sendPNG(w, b)
	}
	return err
}

// source reads frame n of the input.
func (r *repairs) source(q *http.Request, n int64) (*frame.Frame, error) {
	r.making.Lock()
	defer r.making.Unlock()
	return r.preview.Source(q.Context(), n)
}

// made makes the frame that stands for frame n, as if the finding of a request were accepted.
func (r *repairs) made(q *http.Request, n int64) (*frame.Frame, error) {
	inserted, err := number(q, "inserted", 10_000)
	if err != nil {
		return nil, err
	}
	damage, err := r.accepted(q)
	if err != nil {
		return nil, err
	}
	r.making.Lock()
	defer r.making.Unlock()
	return r.preview.Frame(q.Context(), damage, n, int(inserted))
}

// accepted returns the findings to restore, and the one that a request names, whether it is accepted yet or not.
func (r *repairs) accepted(q *http.Request) (damage []restore.Finding, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	index, err := number(q, "index", int64(len(r.store.items)-1))
	if err != nil {
		return nil, err
	}
	for k, i := range r.store.items {
		if int64(k) == index && !i.Repaired() {
			i.Insert = i.Missing
		}
		if int64(k) == index || i.restores() {
			damage = append(damage, i.Finding)
		}
	}
	return damage, nil
}
