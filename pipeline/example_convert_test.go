package pipeline_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"math/big"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/media"
)

var gray = frame.Format{Name: "gray", Depth: 8, Planes: 1}

// animation is a Source: it draws a ball that moves to the right by 8 pixels per frame.
type animation struct{ next, frames int64 }

// Video gives the size of the frames and the unit of their timestamps.
func (*animation) Video() media.Video {
	return media.Video{Format: gray, Width: 128, Height: 64, TimeBase: big.NewRat(1, 50), Start: new(big.Rat)}
}

// Read draws a frame, which belongs to the caller.
func (a *animation) Read() (*frame.Frame, error) {
	if a.next == a.frames {
		return nil, io.EOF
	}
	f := frame.New(gray, 128, 64)
	luma := frame.Samples[uint8](f.Planes[0])
	for y := range luma.Height {
		row := luma.Row(y)
		for x := range row {
			dx, dy := float64(x)-float64(40+8*a.next), float64(y-32)
			row[x] = uint8(200 * math.Exp(-(dx*dx+dy*dy)/150))
		}
	}
	f.PTS, f.Duration = 2*a.next, 2 // 25 frames per second
	a.next++
	return f, nil
}

// tracker is a Sink: it finds the ball in each frame.
type tracker struct{}

// NewFrame returns a frame in memory that nobody else needs.
func (tracker) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

// WriteFrame would call f.Retain to keep f.
func (tracker) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	luma := frame.Samples[uint8](f.Planes[0])
	sum, moment := 0, 0
	for y := range luma.Height {
		for x, v := range luma.Row(y) {
			sum += int(v)
			moment += x * int(v)
		}
	}
	fmt.Printf("the ball is at %.0f\n", float64(moment)/float64(sum))
	return nil
}

// An animation of 25 frames per second, of which no file exists, gets a frame between every
// two.
func ExampleConvert() {
	source := &animation{frames: 4}
	timestamps := []int64{0, 1, 2, 3, 4, 5, 6}
	report, err := pipeline.Convert(context.Background(), source, tracker{}, timestamps, pipeline.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Made, "frames made")
	// Output:
	// the ball is at 40
	// the ball is at 44
	// the ball is at 48
	// the ball is at 52
	// the ball is at 56
	// the ball is at 60
	// the ball is at 64
	// 3 frames made
}
