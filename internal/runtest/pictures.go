package runtest

import (
	"io"
	"math/big"

	"retime/frame"
	"retime/pipeline/media"
)

// MemorySink counts frames.
type MemorySink struct{ Frames int }

// NewFrame implements pipeline.Sink.
func (s *MemorySink) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

// WriteFrame implements pipeline.Sink.
func (s *MemorySink) WriteFrame(*frame.Frame, *big.Rat, *big.Rat) error {
	s.Frames++
	return nil
}

// RampSource delivers gray frames whose samples all equal their timestamp.
type RampSource struct{ Times []int64 }

// Video implements pipeline.Source.
func (s *RampSource) Video() media.Video {
	return media.Video{Width: 16, Height: 16, TimeBase: big.NewRat(1, 100), Start: new(big.Rat), FirstPTS: s.Times[0]}
}

// Read implements pipeline.Source.
func (s *RampSource) Read() (*frame.Frame, error) {
	if len(s.Times) == 0 {
		return nil, io.EOF
	}
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 16, 16)
	for i := range f.Planes[0].Pix {
		f.Planes[0].Pix[i] = uint8(s.Times[0])
	}
	f.PTS, f.Duration = s.Times[0], 1
	s.Times = s.Times[1:]
	return f, nil
}

// ValueSink keeps the first sample of each frame.
type ValueSink struct {
	MemorySink
	Values []int
}

// WriteFrame implements pipeline.Sink.
func (s *ValueSink) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	s.Values = append(s.Values, int(f.Planes[0].Pix[0]))
	return nil
}
