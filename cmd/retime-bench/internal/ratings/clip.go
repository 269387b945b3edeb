package ratings

import (
	"context"
	"errors"
	"image"
	"io"
	"math"
	"math/big"
	"sync"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/media/pixel"
	"retime/warp"
)

// rateClip rates the frames that are made between every second frame of a clip.
func rateClip(ctx context.Context, name string, o *Options) ([]rated, error) {
	stamps, err := heldOut(ctx, name, o.Skip)
	if err != nil {
		return nil, err
	}
	reader, err := open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	s := &study{reader: reader, left: o.Skip, records: map[int64]pipeline.Record{}, sums: map[int64]*sums{}}
	convert := pipeline.Options{
		Input: pipeline.Input{File: name}, Synthesis: pipeline.Synthesis{Preset: o.Preset}, Compute: pipeline.Compute{Threads: o.Threads},
	}
	convert.Hooks.Rate, convert.Hooks.Record = true, s.record
	_, err = pipeline.Convert(ctx, s, s, stamps, convert)
	return s.list, err
}

func open(ctx context.Context, name string) (*media.Reader, error) {
	return pipeline.OpenInput(ctx, pipeline.Options{Input: pipeline.Input{File: name, Deinterlace: pipeline.IgnoreFields}}, pipeline.Span{})
}

// heldOut returns the timestamps of every second frame of a clip that has one on either side.
func heldOut(ctx context.Context, name string, skip int) ([]int64, error) {
	r, err := open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all, held []int64
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, f.PTS)
		f.Release()
	}
	for i := skip + 1; i+1 < len(all); i += 2 {
		held = append(held, all[i])
	}
	return held, nil
}

// study is a source of every second frame and a sink that compares what is made with the others.
type study struct {
	reader *media.Reader
	left   int // frames to skip
	odd    bool
	mu     sync.Mutex
	truth  []*frame.Frame

	next    int64 // number of the next made frame
	records map[int64]pipeline.Record
	sums    map[int64]*sums
	list    []rated
}

// Video describes the clip.
func (s *study) Video() media.Video { return s.reader.Video() }

// Read returns the next frame that is not left out.
func (s *study) Read() (*frame.Frame, error) {
	for {
		f, err := s.reader.Read()
		if err != nil {
			return nil, err
		}
		if s.left > 0 {
			s.left--
			f.Release()
			continue
		}
		if s.odd = !s.odd; s.odd {
			return f, nil
		}
		s.mu.Lock()
		s.truth = append(s.truth, f)
		s.mu.Unlock()
	}
}

// NewFrame returns a frame to fill in.
func (s *study) NewFrame(like *frame.Frame) (*frame.Frame, error) { return pixel.NewFrame(like) }

// WriteFrame compares the next made frame with the truth.
func (s *study) WriteFrame(made *frame.Frame, _, _ *big.Rat) error {
	s.mu.Lock()
	truth := s.truth[0]
	s.truth = s.truth[1:]
	s.mu.Unlock()
	defer truth.Release()
	s.sums[s.next] = newSums(truth, made)
	s.rate(s.next)
	s.next++
	return nil
}

// record takes what is known of a made frame.
func (s *study) record(r pipeline.Record) {
	s.records[r.Frame] = r
	s.rate(r.Frame)
}

// rate adds a frame to the list once it has been compared and recorded.
func (s *study) rate(k int64) {
	r, recorded := s.records[k]
	e := s.sums[k]
	if !recorded || e == nil {
		return
	}
	delete(s.records, k)
	delete(s.sums, k)
	if w := r.Worst; w != nil {
		v := rated{frame: k, score: w.Score, box: image.Rect(w.Box[0], w.Box[1], w.Box[0]+w.Box[2], w.Box[1]+w.Box[3])}
		v.inside = e.rms(v.box)
		v.at, v.error = e.worst(w.Box[3])
		s.list = append(s.list, v)
	}
}

// sums are the sums of squared differences above and to the left.
type sums frame.Image[uint64]

func newSums(truth, made *frame.Frame) *sums {
	view := frame.Wrap(made.Format, made.Width, made.Height, made.Planes, nil)
	view.Transfer, view.FullRange = truth.Transfer, truth.FullRange
	a, b := warp.Luma(truth), warp.Luma(view)
	m := frame.NewImage[uint64](a.Width+1, a.Height+1)
	for y := range a.Height {
		p, q, above, out := a.Row(y), b.Row(y), m.Row(y), m.Row(y+1)
		var line uint64
		for x, v := range p {
			d := int(v) - int(q[x])
			line += uint64(d * d)
			out[x+1] = above[x+1] + line
		}
	}
	return (*sums)(&m)
}

func (s *sums) rms(r image.Rectangle) float64 {
	m := (*frame.Image[uint64])(s)
	sum := m.Row(r.Max.Y)[r.Max.X] - m.Row(r.Min.Y)[r.Max.X] - m.Row(r.Max.Y)[r.Min.X] + m.Row(r.Min.Y)[r.Min.X]
	return math.Sqrt(float64(sum) / float64(r.Dx()*r.Dy()))
}

// worst returns the square of a side where the error is largest.
func (s *sums) worst(side int) (at image.Rectangle, rms float64) {
	for y := 0; y+side < s.Height; y++ {
		for x := 0; x+side < s.Width; x++ {
			r := image.Rect(x, y, x+side, y+side)
			if e := s.rms(r); e > rms {
				at, rms = r, e
			}
		}
	}
	return at, rms
}
