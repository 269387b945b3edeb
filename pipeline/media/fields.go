package media

import (
	"errors"
	"io"
	"math/big"
	"strconv"

	"retime/frame"
	"retime/pipeline/fault"
)

// FieldMode says what becomes of interlaced pictures.
type FieldMode string

// What becomes of them.
const (
	// KeepFields takes pictures as they are.
	KeepFields FieldMode = ""
	// EachField makes a picture of each field, at twice the rate.
	EachField FieldMode = "field"
	// EachFrame makes a picture of each pair of fields.
	EachFrame FieldMode = "frame"
	// Telecine finds the film's frames in 3:2 pulldown and drops the repeats.
	Telecine FieldMode = "telecine"
)

// fieldFilter makes progressive pictures of a reader's.
type fieldFilter struct {
	next   func() (*frame.Frame, error)
	filter *Filter
	like   *frame.Frame // how the last picture is described; nil before the first
	ratio  *big.Rat     // of a made picture's length to the source's, in their time bases
	end    error        // why there are no more, once the filter is told so
}

// newFieldFilter changes v to what the filter's pictures are.
func newFieldFilter(how FieldMode, v *Video, threads int, next func() (*frame.Frame, error)) (*fieldFilter, error) {
	var graph string
	rate := big.NewRat(1, 1)
	switch how {
	case EachField:
		graph, rate = "[in0]copy,bwdif=mode=send_field:parity=auto[out]", big.NewRat(2, 1)
	case EachFrame:
		graph = "[in0]copy,bwdif=mode=send_frame:parity=auto[out]"
	case Telecine:
		// What stays combed is deinterlaced before the repeats are told apart.
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
		return nil, fault.New(fault.Usage, "FFmpeg's filters for Input.Deinterlace %s take %s, not %s", how, got, v.Format.Name)
	}
	ratio := new(big.Rat).Quo(v.TimeBase, filter.TimeBase())
	ticks := func(t int64) int64 {
		q := new(big.Rat).Mul(big.NewRat(t, 1), ratio)
		return new(big.Int).Div(q.Num(), q.Denom()).Int64()
	}
	v.FirstPTS, v.StreamPTS, v.TimeBase = ticks(v.FirstPTS), ticks(v.StreamPTS), filter.TimeBase()
	for _, r := range []**big.Rat{&v.Rate, &v.Average} {
		if *r != nil {
			*r = new(big.Rat).Mul(*r, rate)
		}
	}
	frames := new(big.Rat).Mul(big.NewRat(v.Frames, 1), rate)
	v.Frames = new(big.Int).Div(frames.Num(), frames.Denom()).Int64()
	return &fieldFilter{next: next, filter: filter, ratio: ratio.Quo(ratio, rate)}, nil
}

// read returns the next picture, as Reader.Read does.
func (f *fieldFilter) read() (*frame.Frame, error) {
	for {
		out, err := f.filter.Receive()
		switch {
		case err == nil:
			out.Transfer, out.FullRange, out.Duration = f.like.Transfer, f.like.FullRange, f.like.Duration
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
		f.end = err // behind what the filter still holds
		return f.filter.End(0)
	}
	defer in.Release()
	length := new(big.Rat).Mul(big.NewRat(in.Duration, 1), f.ratio)
	f.like = &frame.Frame{
		Transfer: in.Transfer, FullRange: in.FullRange,
		Duration: max(1, new(big.Int).Div(length.Num(), length.Denom()).Int64()),
	}
	return f.filter.Send(0, in, in.PTS)
}

// probedFrames is how many frames are looked at for interlacing.
const probedFrames = 60

// fieldProbe looks at frames that are not called interlaced for signs that they
// are. What it finds is a guess.
type fieldProbe struct {
	filter      *Filter
	fed, looked int
	combed      int // of the frames looked at
	repeated    int // of them, with a field that is the last one's
	progressive int
}

// newFieldProbe returns nil if FFmpeg cannot look at such frames.
func newFieldProbe(v Video, threads int) *fieldProbe {
	if v.Height < 32 || v.Width < 32 {
		return nil
	}
	// idet reads beyond rows of another length, which frames have once the stream changes.
	filter, err := NewFilter("[in0]copy,idet[out]", 1, v, threads)
	if err != nil {
		return nil
	}
	if filter.sampleFormat() != v.Format.Name {
		filter.Close()
		return nil
	}
	return &fieldProbe{filter: filter}
}

// look takes the next frame and says whether it wants more.
func (p *fieldProbe) look(f *frame.Frame) bool {
	if p.filter.Send(0, f, f.PTS) != nil {
		return false
	}
	p.fed++
	for {
		out, err := p.filter.Receive()
		if err != nil {
			return p.fed < probedFrames && errors.Is(err, ErrMore)
		}
		p.looked++
		p.combed = noted(out, "lavfi.idet.multiple.tff") + noted(out, "lavfi.idet.multiple.bff")
		p.progressive = noted(out, "lavfi.idet.multiple.progressive")
		p.repeated = noted(out, "lavfi.idet.repeated.top") + noted(out, "lavfi.idet.repeated.bottom")
		out.Release()
	}
}

func noted(f *frame.Frame, key string) int {
	text, _ := Metadata(f, key)
	v, _ := strconv.ParseFloat(text, 64)
	return int(v)
}

// verdict says what the frames look like.
func (p *fieldProbe) verdict() (interlaced, telecined bool) {
	const enough = 12
	switch {
	case p.combed < enough:
		return false, false
	case 4*p.repeated >= p.looked:
		return false, true // 3:2 pulldown repeats a field in two frames of five
	}
	return p.combed > p.progressive, false
}
