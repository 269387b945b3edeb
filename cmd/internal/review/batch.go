package review

import (
	"cmp"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"time"
)

// listed is a clip in the list.
type listed struct {
	Index   int      `json:"index"`
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Problem string   `json:"problem"`
	Frames  int64    `json:"frames"`
	Rated   int      `json:"rated"`
	Worst   []rating `json:"worst"`
	Lowest  float64  `json:"lowest"` // rating; 1 if nothing is doubtful
	Decided int      `json:"decided"`
	Version int64    `json:"version"` // changes with each edit
}

// shownWorst is how many places of a clip the list shows.
const shownWorst = 4

// list describes the clips, those with the worst places first.
func (s *Server) list() []listed {
	s.mu.Lock()
	list := make([]listed, len(s.options.Clips))
	for i, c := range s.options.Clips {
		list[i] = listed{Index: i, Name: filepath.Base(c.Conversion.Input.File), State: c.State, Problem: c.Problem, Lowest: math.MaxInt, Worst: []rating{}}
	}
	for i := range s.entries {
		l, r := &list[i], &s.entries[i].ratings
		if store := s.entries[i].store; store != nil {
			now, version := store.State()
			l.Decided, l.Version = now.Decided(), version
		}
		if l.Frames, _ = r.size(); l.Frames == 0 {
			continue // it could not be opened
		}
		l.Rated, l.Lowest = len(r.list()), 1
		if worst := r.worst(shownWorst); len(worst) > 0 {
			l.Worst, l.Lowest = worst, worst[0].Score
		}
	}
	s.mu.Unlock()
	slices.SortStableFunc(list, func(a, b listed) int { return cmp.Compare(a.Lowest, b.Lowest) })
	return list
}

func (s *Server) serveHome(w http.ResponseWriter, r *http.Request) {
	if s.repairs != nil {
		if err := s.repairs.servePage(w, r); err != nil {
			s.refuse(w, r, err)
		}
		return
	}
	if s.options.Batch == "" {
		http.Redirect(w, r, "/"+s.token+"/clip/0/", http.StatusSeeOther)
		return
	}
	if err := show(w, "batch.html", struct {
		Title string
		Clips []listed
	}{s.options.Batch, s.list()}); err != nil {
		s.refuse(w, r, err)
	}
}

func (s *Server) serveClips(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, s.list())
}

// scoutTime is how long a clip of a batch is rated before the next one's turn.
const scoutTime = 8 * time.Second

// scout rates the clips of a batch in turn while none is watched, so that the list can show the
// worst first. It closes what nobody watches. Once all are rated, it waits until a clip was
// watched, edited or left.
func (s *Server) scout() {
	idle := 0 // clips in a row of which nothing was left to rate
	for n := 0; s.ctx.Err() == nil; {
		switch {
		case s.hub.watching(anyClip) || s.inSeries():
			idle = 0
			s.sleep(time.Second)
		case s.stirred.Swap(false):
			idle = 0
		case idle > len(s.options.Clips):
			s.sleep(time.Second / 4)
		default:
			idle++
			if s.rateFor(n, scoutTime) {
				idle = 0
			}
			s.hub.send(listTab, "clips", s.list())
			s.closeUnwatched()
			n = (n + 1) % len(s.options.Clips)
		}
	}
}

// rated returns how many frames of a clip are rated, and whether that is all.
func (s *Server) rated(n int) (frames int, all bool) {
	r := &s.entries[n].ratings
	total, _ := r.size()
	frames = len(r.list())
	return frames, total > 0 && int64(frames) >= total
}

// rateFor rates a clip for some time, but a frame at least, or until it is rated. It reports
// whether any frame was rated, or is left for the next turn.
func (s *Server) rateFor(n int, most time.Duration) bool {
	before, all := s.rated(n) // a session begins to rate at once
	if all {
		return false
	}
	c, err := s.session(n)
	if err != nil {
		s.mu.Lock()
		s.options.Clips[n].Problem = cmp.Or(s.options.Clips[n].Problem, s.options.Message(err))
		s.mu.Unlock()
		return false
	}
	for end := time.Now().Add(most); (time.Now().Before(end) || len(c.ratings.list()) == before) && !s.hub.watching(anyClip) && c.maker.Unrated(); {
		if !s.sleep(time.Second / 4) {
			break
		}
	}
	return c.maker.Unrated() || len(c.ratings.list()) > before
}

// sleep returns false if the server ends meanwhile.
func (s *Server) sleep(d time.Duration) bool {
	select {
	case <-s.ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// closeUnwatched closes the clips that no tab shows and that are not rendered.
func (s *Server) closeUnwatched() {
	for _, c := range s.open() {
		e := &s.entries[c.index]
		s.mu.Lock()
		unused := e.session == c && c.users == 0 && !s.hub.watching(c.index) && !c.rendering()
		if unused {
			e.session = nil
		}
		s.mu.Unlock()
		if unused {
			c.close()
		}
	}
}
