package evaluate

import (
	"fmt"
	"math/big"

	"retime/frame"
	"retime/pipeline/media"
)

// answer is the video that a command makes for a job, at the clip's rate. It must reach the last
// kept frame and may have a few frames more.
type answer struct {
	job     job
	video   media.Video
	frames  int64         // frames wanted, up to the last kept one
	came    int64         // frames received so far, of those wanted
	convert *media.Filter // to the clip's format; nil if the video has it
	pick    picker
	source  int64 // time of the newest frame of job's source
}

func newAnswer(j job, own media.Video, frames int64) (*answer, error) {
	v := j.source.Video()
	if own.Width != v.Width || own.Height != v.Height {
		return nil, fmt.Errorf("its pictures are %dx%d, and the clip's are %dx%d", own.Width, own.Height, v.Width, v.Height)
	}
	a := &answer{job: j, video: own, frames: frames, source: j.clip.frames[0].stamp - 1}
	a.pick = picker{times: j.times, put: a.put}
	if own.Format.Name == v.Format.Name {
		return a, nil
	}
	var err error
	a.convert, err = media.NewFilter("[in0]format="+v.Format.Name+"[out]", 1, own, j.clip.o.Threads)
	return a, err
}

func (a *answer) close() {
	if a.convert != nil {
		a.convert.Close()
	}
	a.pick.close()
}

// whole reports whether all wanted frames have been received.
func (a *answer) whole() bool { return len(a.pick.times) == 0 }

// take processes the next frame of the video and takes over f.
func (a *answer) take(f *frame.Frame) error {
	at := ticks(a.video, f.PTS-a.video.FirstPTS) // seconds
	n := new(big.Rat).Mul(at, a.job.clip.rate)   // frames
	switch extra := int64(padding+1) * int64(a.job.clip.o.Every); {
	case n.Cmp(big.NewRat(2*a.frames-1, 2)) < 0:
		a.came++
	case n.Cmp(big.NewRat(a.frames+extra, 1)) > 0:
		f.Release()
		return fmt.Errorf("its video goes on for more than %d frames after the last source frame; want %d frames at %s frames per second",
			extra, a.frames, a.job.clip.rate.RatString())
	}
	if a.convert != nil {
		defer f.Release()
		if err := a.convert.Send(0, f, f.PTS); err != nil {
			return err
		}
		var err error
		if f, err = a.convert.Receive(); err != nil {
			return err
		}
	}
	at.Quo(at, a.job.source.Video().TimeBase)
	return a.pick.take(f, at.Add(at, big.NewRat(a.job.clip.frames[0].stamp, 1)))
}

// put writes f, whose time is at, as the frame for time t.
func (a *answer) put(f *frame.Frame, at *big.Rat, t int64) error {
	off := new(big.Rat).Sub(at, big.NewRat(t, 1))
	off.Mul(off, a.job.source.Video().TimeBase).Mul(off, a.job.clip.rate)
	if off.Abs(off).Cmp(farthest) > 0 {
		return a.missing(t)
	}
	for a.source <= t {
		kept, err := a.job.source.Read()
		if err != nil {
			return err
		}
		a.source = kept.PTS
		kept.Release()
	}
	return a.job.sink.WriteFrame(f, nil, nil)
}

// farthest is how far a frame may be from the time for which it is wanted, in frames: half a frame,
// and some more for the rounding of containers' times.
var farthest = big.NewRat(6, 10)

func (a *answer) missing(t int64) error {
	s, _ := ticks(a.job.source.Video(), t-a.job.clip.frames[0].stamp).Float64()
	return fmt.Errorf("it wrote no frame for %.3f s; want %d frames at %s frames per second", s, a.frames, a.job.clip.rate.RatString())
}

// end checks that the video, which has ended, was complete.
func (a *answer) end() error {
	for len(a.pick.times) > 0 {
		if a.pick.last == nil {
			return a.missing(a.pick.times[0])
		}
		if err := a.put(a.pick.last, a.pick.at, a.pick.times[0]); err != nil {
			return err
		}
		a.pick.times = a.pick.times[1:]
	}
	if a.job.clip.grid && a.came != a.frames {
		return fmt.Errorf("it wrote %d frames up to the last source frame; want %d at %s frames per second", a.came, a.frames, a.job.clip.rate.RatString())
	}
	return nil
}
