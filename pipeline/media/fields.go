package media

import (
	"errors"
	"io"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/timeline/rational"
)

// FieldMode says what to do with interlaced pictures.
type FieldMode string

// The choices for interlaced pictures.
const (
	// KeepFields leaves pictures as they are.
	KeepFields FieldMode = ""
	// EachField makes a picture of each field, which doubles the rate.
	EachField FieldMode = "field"
	// EachFrame makes a picture of each pair of fields and keeps the rate.
	EachFrame FieldMode = "frame"
	// Telecine restores the film's frames from 3:2 pulldown and drops the repeated ones.
	Telecine FieldMode = "telecine"
)

// TopFieldFirst reports how a Reader's frame is marked: as interlaced, and with the top field first.
func TopFieldFirst(f *frame.Frame) (top, interlaced bool) {
	native, ok := f.Native.(*astiav.Frame)
	if !ok {
		return false, false
	}
	order := av.FrameFieldOrder(native)
	return order == av.TopFirst, order != av.Progressive
}

// Interlace has the encoders of r's pictures code fields, the top or the bottom one first, as if the first picture were
// marked so. It is for input of which later pictures are marked, or, if all is set, none, although all are interlaced.
// Call it before an encoder is opened.
func (r *Reader) Interlace(topFirst, all bool) {
	r.source.Fields, r.source.Video.Interlaced, r.source.allFields = av.BottomFirst, true, all
	if topFirst {
		r.source.Fields = av.TopFirst
	}
}

// FieldMarks corrects how decoders mark the pictures of a stream: if these cannot say themselves that they are interlaced,
// the container says it for all.
type FieldMarks struct {
	silent, misread bool          // the pictures cannot say it; what their decoder marks is something else
	stated          av.FieldOrder // by the container
}

// NewFieldMarks returns the marks for the pictures of a stream.
func NewFieldMarks(p *astiav.CodecParameters) FieldMarks {
	m := FieldMarks{stated: av.StatedFieldOrder(p)}
	switch id := p.CodecID(); id {
	case astiav.CodecIDDvvideo, astiav.CodecIDProres, astiav.CodecIDDnxhd:
	case astiav.CodecIDPng, animatedPNG:
		m.misread = true // as interlaced are marked those whose pixels come in the order of Adam7
	case astiav.CodecIDFfv1:
		m.silent = len(p.ExtraData()) == 0 // before version 3 (RFC 9043, 4.6.3)
	default:
		m.silent = av.IsIntraOnly(id) || id == cineForm
	}
	return m
}

var cineForm, animatedPNG = av.CodecNamed("cfhd"), av.CodecNamed("apng")

// Correct corrects the marks of a decoded picture.
func (m FieldMarks) Correct(f *astiav.Frame) {
	if m.misread || m.silent && av.FrameFieldOrder(f) == av.Progressive {
		av.SetFrameFieldOrder(f, m.stated)
	}
}

// SingleFieldsError returns the fault.Usage error that refuses an input whose frames are single fields, by its name.
func SingleFieldsError(input string) error {
	return fault.New(fault.Usage, "input %q is interlaced HEVC, of which FFmpeg makes a picture for each field: Input.Deinterlace off takes these pictures as they are", input)
}

// fieldFilter makes progressive pictures of a reader's interlaced ones.
type fieldFilter struct {
	next   func() (*frame.Frame, error)
	filter *Filter
	like   *frame.Frame // properties of the last picture; nil before the first
	ratio  *big.Rat     // ticks that a new picture lasts per tick of the source's picture
	begin  *int64       // time of the first new picture; nil if the filter tells it
	shift  int64        // from the filter's times
	end    error        // the error that ended the input, once the filter knows of the end
}

// newFieldFilter returns the filter for a mode and updates v for the filter's pictures.
func newFieldFilter(how FieldMode, v *Video, threads int, next func() (*frame.Frame, error)) (*fieldFilter, error) {
	var graph string
	rate := big.NewRat(1, 1)
	switch how {
	case EachField:
		graph, rate = "[in0]copy,bwdif=mode=send_field:parity=auto[out]", big.NewRat(2, 1)
	case EachFrame:
		graph = "[in0]copy,bwdif=mode=send_frame:parity=auto[out]"
	case Telecine:
		// Deinterlace the pictures that are still combed before decimate looks for
		// repeats.
		graph, rate = "[in0]copy,fieldmatch=order=auto:combmatch=full,bwdif=mode=send_frame:deint=interlaced,decimate[out]", big.NewRat(4, 5)
	default:
		return nil, fault.New(fault.Usage, "Input.Deinterlace %s: choose field, frame or off", how)
	}
	filter, err := NewFilter(graph, 1, *v, threads)
	if err != nil {
		return nil, err
	}
	if got := filter.sampleFormat(); got != v.Format.Name {
		filter.Close()
		return nil, fault.New(fault.Usage, "FFmpeg's filters for %s take %s, not %s", fault.Words("Input.Deinterlace "+how), got, v.Format.Name)
	}
	ratio := new(big.Rat).Quo(v.TimeBase, filter.TimeBase())
	ticks := func(t int64) int64 {
		return rational.Floor(new(big.Rat).Mul(big.NewRat(t, 1), ratio))
	}
	v.FirstPTS, v.StreamPTS, v.TimeBase = ticks(v.FirstPTS), ticks(v.StreamPTS), filter.TimeBase()
	for _, r := range []**big.Rat{&v.Rate, &v.Average} {
		if *r != nil {
			*r = new(big.Rat).Mul(*r, rate)
		}
	}
	if v.Grid = denser(v.Grid, rate); how == Telecine {
		v.Grid = nil
	}
	v.Frames = rational.Floor(new(big.Rat).Mul(big.NewRat(v.Frames, 1), rate))
	v.Interlaced = false
	f := &fieldFilter{next: next, filter: filter, ratio: ratio.Quo(ratio, rate)}
	if how == Telecine {
		f.begin = &v.FirstPTS
	}
	return f, nil
}

// read returns the next picture; see Reader.Read.
func (f *fieldFilter) read() (*frame.Frame, error) {
	for {
		out, err := f.filter.Receive()
		switch {
		case err == nil:
			if f.begin != nil { // a frame of film begins with its repeat, which decimate may have dropped
				f.shift, f.begin = *f.begin-out.PTS, nil
			}
			out.PTS += f.shift
			out.ShowLightAs(f.like)
			out.Duration = f.like.Duration
			return out, nil
		case errors.Is(err, io.EOF) && f.end != nil:
			return nil, f.end
		case !errors.Is(err, ErrMore):
			return nil, err
		}
		if err := f.feed(); err != nil {
			return nil, err
		}
	}
}

func (f *fieldFilter) feed() error {
	if f.end != nil {
		return f.end
	}
	in, err := f.next()
	if err != nil {
		f.end = err // returned after the pictures that the filter still holds
		return f.filter.End(0)
	}
	defer in.Release()
	f.like = &frame.Frame{Duration: max(1, rational.Floor(new(big.Rat).Mul(big.NewRat(in.Duration, 1), f.ratio)))}
	f.like.ShowLightAs(in)
	return f.filter.Send(0, in, in.PTS)
}
