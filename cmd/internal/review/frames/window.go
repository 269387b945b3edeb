package frames

import (
	"context"
	"errors"
	"io"
	"math/big"
	"slices"
	"sync"

	"retime/frame"
	"retime/internal/heap"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// window keeps the source's pictures around a place, and the decoder that made them, so that a
// step decodes one picture and does not seek.
type window struct {
	clip  *pipeline.Clip // the first one of the input; its own reader is closed
	clock *timeline.Clock
	video media.Video // of the whole source
	room  int         // how many pictures a stretch keeps

	mu      sync.Mutex
	origin  *big.Rat // where the conversion begins to read; nil for the start
	stretch *stretch // nil until something is read
}

// stretch holds consecutive pictures and the reader that goes on after them.
type stretch struct {
	reader *media.Reader
	stop   context.CancelFunc
	base   int64 // index of frames[0], counted from the reader's first picture
	first  bool  // the reader began where the conversion begins
	frames []*frame.Frame
	ended  bool // there are no further pictures
}

// windowBytes bounds the pictures that a stretch keeps.
const windowBytes = 64 << 20

// margin is the number of pictures after a frame's own at which reading begins if they come backward: the
// motion before an interval counts.
const margin = 10

func newWindow(clip *pipeline.Clip) *window {
	v := clip.Source.Video()
	size := 0
	for i := range v.Format.Planes {
		x, y := v.Format.Subsampling(i)
		size += (v.Width >> x) * (v.Height >> y) * v.Format.Bytes()
	}
	w := &window{clip: clip, clock: clip.Plan.Clock, video: v, room: min(max(windowBytes/max(size, 1), 2*margin), 256)}
	return w
}

// close ends the decoders and lets go of the pictures.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop()
}

// drop closes the stretch that is there.
func (w *window) drop() {
	if w.stretch != nil {
		w.stretch.close()
		w.stretch = nil
		heap.Trim() // or each jump leaves a little of a decoder's memory behind
	}
}

func (s *stretch) close() {
	s.stop()
	s.reader.Close()
	for _, f := range s.frames {
		f.Release()
	}
	s.frames = nil
}

// begin sets where the conversion starts to read; nil is the source's start.
func (w *window) begin(origin *big.Rat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.origin == origin || w.origin != nil && origin != nil && w.origin.Cmp(origin) == 0 {
		return
	}
	w.origin = origin
	w.drop()
}

// from returns a source that begins with the last picture at or before a time or, for nil, where the
// conversion begins.
func (w *window) from(begin *big.Rat) (*cursor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if begin != nil && (w.origin != nil && begin.Cmp(w.origin) <= 0 || begin.Cmp(w.clock.At(w.video.StreamPTS)) <= 0) {
		begin = nil
	}
	if i, ok := w.holding(begin); ok {
		return w.cursor(i), nil
	}
	if err := w.start(begin); err != nil {
		return nil, err
	}
	return w.cursor(0), nil
}

// holding reports whether the stretch has the last picture at or before a time or, for nil, the
// conversion's first, or will have it soon, and returns the picture's index.
func (w *window) holding(begin *big.Rat) (index int64, ok bool) {
	s := w.stretch
	if s == nil || len(s.frames) == 0 {
		return 0, false
	}
	whole := s.first && s.base == 0
	if begin == nil {
		return 0, whole
	}
	reach := new(big.Rat).Mul(w.clip.Period(), big.NewRat(int64(w.room), 2))
	if reach.Sub(begin, reach).Cmp(w.clock.At(s.frames[len(s.frames)-1].PTS)) > 0 {
		return 0, false
	}
	i, _ := slices.BinarySearchFunc(s.frames, begin, func(f *frame.Frame, t *big.Rat) int {
		if w.clock.At(f.PTS).Cmp(t) > 0 {
			return 1
		}
		return -1
	})
	if i > 0 {
		return s.base + int64(i-1), true
	}
	return 0, whole
}

// start opens a reader from a time on; nil is where the conversion begins to read.
func (w *window) start(from *big.Rat) error {
	w.drop()
	ctx, stop := context.WithCancel(context.Background())
	at := from
	if from == nil {
		at = w.origin
	}
	r, err := w.clip.Reopen(ctx, pipeline.Span{From: at})
	if err != nil {
		stop()
		return err
	}
	if from != nil && !w.clip.SameForm(r) {
		r.Close()
		stop()
		return w.start(nil)
	}
	w.stretch = &stretch{reader: r, stop: stop, first: from == nil}
	return nil
}

// cursor returns a source that begins with picture i of the stretch.
func (w *window) cursor(i int64) *cursor {
	return &cursor{window: w, stretch: w.stretch, next: i, video: w.video, midway: !w.stretch.first || i > 0}
}

// errGone reports that a stretch was closed while a cursor read it.
var errGone = errors.New("the pictures are no longer kept")

// cursor is a pipeline.Source that reads a stretch from one of its pictures on.
type cursor struct {
	window  *window
	stretch *stretch
	next    int64
	midway  bool
	video   media.Video
	seen    func(*frame.Frame) // is called for each picture; may be nil
}

// Video describes the whole source.
func (c *cursor) Video() media.Video { return c.video }

// Read returns the next picture, which the stretch decodes unless it is there.
func (c *cursor) Read() (*frame.Frame, error) {
	f, err := c.read()
	if err == nil && c.seen != nil {
		c.seen(f)
	}
	return f, err
}

func (c *cursor) read() (*frame.Frame, error) {
	w, s := c.window, c.stretch
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.next < s.base || w.stretch != s {
		return nil, errGone
	}
	for c.next >= s.base+int64(len(s.frames)) {
		if s.ended {
			return nil, io.EOF
		}
		f, err := s.reader.Read()
		if err != nil {
			s.ended = errors.Is(err, io.EOF)
			return nil, err
		}
		s.frames = append(s.frames, f)
		if len(s.frames) > w.room {
			s.frames[0].Release()
			s.frames = slices.Delete(s.frames, 0, 1)
			s.base++
		}
	}
	c.next++
	return s.frames[c.next-1-s.base].Retain(), nil
}
