package media

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/frame"
)

// decode returns the next frame whose time is later than the last one's.
func (r *Reader) decode() (*astiav.Frame, error) {
	if r.ended {
		return nil, r.end()
	}
	f := astiav.AllocFrame()
	for failed := 0; ; {
		if err := r.ctx.Err(); err != nil || r.ended {
			f.Free()
			return nil, cmp.Or(err, r.end())
		}
		err := r.decoder.ReceiveFrame(f)
		switch {
		case err == nil:
			if f, err = download(f); err != nil {
				return nil, r.bad(err)
			}
			if r.settleTime(f) {
				return f, nil
			}
			f.Unref()
		case errors.Is(err, astiav.ErrEof):
			r.ended = true
			f.Free()
			return nil, r.end()
		case errors.Is(err, astiav.ErrEagain):
			r.feed()
		default:
			r.damage.Packets++
			r.log.Debug("frame could not be decoded", "input", r.name, "error", err)
			if failed++; r.draining && failed == maxReadErrors {
				r.ended = true
			}
		}
	}
}

// settleTime gives f its time and length; false drops it.
func (r *Reader) settleTime(f *astiav.Frame) bool {
	t, d := frameTime(f), r.lengthOf(f)
	if t == noTimestamp {
		if t = r.endTime; r.step > 0 {
			t = r.lastPTS + r.step
		}
	}
	if r.lastPTS != noTimestamp && r.leaps(t-r.endTime) {
		t = r.endTime
	}
	if r.lastPTS != noTimestamp && t <= r.lastPTS {
		if r.late++; r.late == 1 {
			r.log.Warn("frames are dropped whose timestamps do not advance", "input", r.name, "first", t)
		}
		return false
	}
	if frameDamaged(f) {
		r.damage.Frames++
	}
	f.SetPts(t)
	if r.lastPTS != noTimestamp {
		r.step = t - r.lastPTS
	}
	r.lastPTS, r.endTime = t, t+d
	return true
}

// In microseconds: how long a picture may stand before its follower's timestamp
// counts as damage, where the input states its length and the follower lies within,
// where it does not or is damaged already, and behind the stated end.
const (
	longestStill   = 3600e6
	longestUnknown = 600e6
	longestBehind  = 10e6
)

// leaps says whether no picture can come so long after the last one's end.
func (r *Reader) leaps(gap int64) bool {
	tb := r.stream.TimeBase()
	limit, end := int64(longestUnknown), duration(r.input)
	if behind := microseconds(r.endTime+gap, tb)/2 - (startTime(r.input)+end)/2; end > 0 && behind > longestBehind/2 {
		limit = longestBehind
	} else if end > 0 && r.Damage() == (Damage{}) {
		limit = longestStill
	}
	if microseconds(gap, tb) <= limit {
		return false
	}
	if !r.leapt {
		r.leapt = true
		r.log.Warn("a timestamp lies too far ahead; its picture follows the last one", "input", r.name,
			"after", r.position(), "by", fmt.Sprintf("%.0f s", float64(microseconds(gap, tb))/1e6))
	}
	return true
}

// decoderOf returns the decoder for a stream's pictures, nil where there is none. Of
// VP8 and VP9 with an alpha channel, FFmpeg's own decoders leave that out.
func decoderOf(s *astiav.Stream) *astiav.Codec {
	id := s.CodecParameters().CodecID()
	name := map[astiav.CodecID]string{astiav.CodecIDVp8: "libvpx", astiav.CodecIDVp9: "libvpx-vp9"}[id]
	if name != "" && streamTag(s, "alpha_mode") == "1" {
		if c := astiav.FindDecoderByName(name); c != nil {
			return c
		}
	}
	return astiav.FindDecoder(id)
}

// lengthOf is how long f is shown, in the stream's time base.
func (r *Reader) lengthOf(f *astiav.Frame) int64 {
	if d := frameDuration(f); d > 0 && microseconds(d, r.stream.TimeBase()) <= longestUnknown {
		return d
	}
	return r.nominalDuration()
}

func (r *Reader) nominalDuration() int64 {
	rate, tb := rat(r.stream.AvgFrameRate()), rat(r.stream.TimeBase())
	if rate == nil || tb == nil {
		return 1
	}
	d := new(big.Rat).Mul(rate, tb)
	n, _ := new(big.Rat).Inv(d).Float64()
	return max(1, int64(n+0.5))
}

// wrap makes a frame of f, which it takes over.
func (r *Reader) wrap(f *astiav.Frame) (*frame.Frame, error) {
	if !r.changed && (f.Width() != r.video.Width || f.Height() != r.video.Height || f.PixelFormat().Name() != r.video.Source) {
		r.changed = true
		r.log.Warn("the stream changes; its frames are converted to what it began with", "input", r.name,
			"from", fmt.Sprintf("%dx%d %s", r.video.Width, r.video.Height, r.video.Source),
			"to", fmt.Sprintf("%dx%d %s", f.Width(), f.Height(), f.PixelFormat()))
	}
	if a := f.SampleAspectRatio(); !r.reshaped && a.Num() > 0 && r.aspect.Num() > 0 && a.Num()*r.aspect.Den() != a.Den()*r.aspect.Num() {
		r.reshaped = true
		r.log.Warn("the shape of pixels changes; all are written as they began", "input", r.name, "from", r.aspect, "to", a)
	}
	damaged := frameDamaged(f)
	out, err := r.planes.wrap(f, f.Pts(), r.lengthOf(f))
	if err != nil {
		return nil, r.bad(err)
	}
	out.Damaged = damaged
	return out, nil
}
