package review

import (
	"cmp"
	"net/http"
	"slices"
	"sync"

	"retime/cmd/internal/review/frames"
	"retime/pipeline"
	"retime/pipeline/place"
	"retime/pipeline/timeline"
)

// ratings are what is known of the frames.
type ratings struct {
	mu     sync.Mutex
	of     map[int64]rating
	thumbs map[int64][]byte // of doubtful frames
	frames int64            // of the output; 0 until the clip was open
	rate   float64          // frames per second
}

// rating is what is known of a frame, in the order of the page's columns.
type rating struct {
	Frame      int64           `json:"frame"`
	Confidence float64         `json:"confidence"`
	Method     pipeline.Method `json:"method"`
	Cut        bool            `json:"cut,omitempty"`
	Repeated   bool            `json:"repeated,omitempty"`
	Speckle    float64         `json:"speckle,omitempty"` // pixels in a million
	CutScore   float64         `json:"score,omitempty"`
	Fallback   bool            `json:"fallback,omitempty"`
	Score      float64         `json:"rating"`          // confidence of the worst place, of a frame without one that of all
	Final      bool            `json:"final,omitempty"` // rated as it will be rendered, not at the preset fast
	Box        [4]int          `json:"box,omitzero"`    // that place: left, top, width and height in pixels
}

// A frame is doubtful if the confidence of its worst place is below doubtfulBelow, or from doubtfulSpeckle
// isolated pixels in a million on.
const (
	doubtfulBelow   = 0.2
	doubtfulSpeckle = 400
	thumbWidth      = 160
	maxThumbs       = 300
)

func (r rating) doubtful() bool {
	made := r.Method != pipeline.FromSource
	return made && !r.Cut && (r.Score < doubtfulBelow || r.Speckle >= doubtfulSpeckle)
}

// rated notes a frame that was rated in turn.
func (c *session) rated(r frames.Rating) {
	v := newRating(r.Record)
	v.Repeated, v.Speckle, v.Final = r.Repeated, r.Speckle, r.View == frames.Final
	var thumb []byte
	if v.doubtful() {
		thumb, _ = c.painter.Thumbnail(r.Shot.Frame, c.maker.Video(), thumbWidth) // without it, the page asks
	}
	c.ratings.put(v, thumb)
	c.server.hub.add(c.index, v)
}

func newRating(r pipeline.Record) rating {
	v := rating{
		Score: r.Confidence,
		Frame: r.Frame, Confidence: r.Confidence, Method: r.Method, Cut: r.Cut, CutScore: r.CutScore,
		Fallback: !r.Cut && r.Phase != 0 && (r.Method == pipeline.Blended || r.Method == pipeline.Nearest),
	}
	if r.Worst != nil {
		v.Score, v.Box = r.Worst.Score, r.Worst.Box
	}
	return v
}

// begin notes how long the clip is.
func (l *ratings) begin(p *timeline.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frames = p.Total
	l.rate, _ = p.Rate.Float64()
}

// has reports whether a frame is rated.
func (l *ratings) has(k int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.of[k]
	return ok
}

// size returns the number of frames of the output, 0 if that is not known, and their rate.
func (l *ratings) size() (n int64, rate float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frames, l.rate
}

func (l *ratings) put(r rating, thumb []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of, l.thumbs = map[int64]rating{}, map[int64][]byte{}
	}
	l.of[r.Frame] = r
	if thumb != nil && (len(l.thumbs) < maxThumbs || l.thumbs[r.Frame] != nil) {
		l.thumbs[r.Frame] = thumb
	}
}

// refine replaces what a frame's record tells by that of the chosen preset.
func (l *ratings) refine(r pipeline.Record) (rating, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := newRating(r)
	old, ok := l.of[r.Frame]
	v.Repeated, v.Speckle, v.Final = old.Repeated, old.Speckle, true
	if ok {
		l.of[r.Frame] = v
	}
	return v, ok && v != old
}

func (l *ratings) thumb(k int64) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.thumbs[k]
}

func (l *ratings) forget(total int64, changed func(int64) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.of {
		if k >= total || changed(k) {
			delete(l.of, k)
			delete(l.thumbs, k)
		}
	}
}

// list returns all ratings in the order of the frames.
func (l *ratings) list() []rating {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]rating, 0, len(l.of))
	for _, r := range l.of {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b rating) int { return cmp.Compare(a.Frame, b.Frame) })
	return list
}

// The page lists the lowest places, listedPlaces of them however good they are, and up to maxPlaces if more
// are doubtful.
const (
	listedPlaces = 10
	maxPlaces    = 24
)

// lowest returns the frames with the lowest places, one for each place.
func (l *ratings) lowest() []rating {
	made := func(r rating) bool { return r.Method != pipeline.FromSource && !r.Cut }
	return l.places(made, func(n int, r rating) bool { return n < listedPlaces || n < maxPlaces && r.doubtful() })
}

// worst returns the frames with the lowest doubtful places, one for each place.
func (l *ratings) worst(most int) []rating {
	return l.places(rating.doubtful, place.Most[rating](most))
}

// places returns frames that are wanted, the lowest first, one for each place.
func (l *ratings) places(wanted func(rating) bool, more func(int, rating) bool) []rating {
	list := slices.DeleteFunc(l.list(), func(r rating) bool { return !wanted(r) })
	slices.SortStableFunc(list, func(a, b rating) int { return cmp.Compare(a.Score, b.Score) })
	_, rate := l.size()
	return place.Each(list, func(r rating) place.Place {
		return place.Place{Frame: r.Frame, Time: float64(r.Frame) / rate, Box: r.Box}
	}, more)
}

// servePlaces sends the frames of the page's list.
func (c *session) servePlaces(w http.ResponseWriter, _ *http.Request) error {
	list := []int64{}
	for _, r := range c.ratings.lowest() {
		list = append(list, r.Frame)
	}
	answer(w, http.StatusOK, list)
	return nil
}

func (c *session) serveRatings(w http.ResponseWriter, _ *http.Request) error {
	answer(w, http.StatusOK, c.ratings.list())
	return nil
}

// serveRate lets the rating of frames go on, or stops it.
func (c *session) serveRate(_ http.ResponseWriter, r *http.Request) error {
	var ask struct {
		On bool `json:"on"`
	}
	if err := readRequest(r, &ask); err != nil {
		return err
	}
	c.maker.Pause(!ask.On)
	c.tell()
	return nil
}
