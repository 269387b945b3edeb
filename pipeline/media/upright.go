package media

import (
	"encoding/binary"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/pixel"
)

// HoldsRotation reports whether an output called name in a format, empty for the name's
// own, can say how players turn its pictures.
func HoldsRotation(name, format string) bool {
	if format == "" && name != "-" {
		format = muxerOf(name)
	}
	return slices.Contains(container.ISO, format)
}

// newTurn returns the turn that a display matrix asks for. The matrix has nine integers in
// the machine's byte order: it takes x, y to x*m[0]+y*m[3], x*m[1]+y*m[4], in units of
// 1/65536. ok is false if it does not turn by right angles, or at all.
func newTurn(matrix []byte) (t pixel.Turn, ok bool) {
	if len(matrix) < 36 {
		return t, false
	}
	var m [9]int64
	for i := range m {
		m[i] = int64(int32(binary.NativeEndian.Uint32(matrix[4*i:])))
	}
	const small = 1 << 8 // what rounding leaves of 0, of 1<<16
	sign := func(v int64) int {
		switch {
		case v > small:
			return 1
		case v < -small:
			return -1
		}
		return 0
	}
	t = pixel.Turn{XX: sign(m[0]), XY: sign(m[3]), YX: sign(m[1]), YY: sign(m[4])}
	straight := t.XX != 0 && t.YY != 0 && t.XY == 0 && t.YX == 0
	return t, t != pixel.Turn{XX: 1, YY: 1} && (straight || t.Sideways())
}

// upright turns a reader's frames as the source's display matrix says.
type upright struct {
	turn pixel.Turn
	like frame.Frame // format and size of the frames that it returns
	pool pixel.Pool
}

// turnUpright makes the reader turn its pictures and describe them as turned. It changes
// nothing if the source does not ask for it, or if the samples have no place in a turned
// picture; a writer then names what is lost.
func (r *Reader) turnUpright() {
	turn, ok := newTurn(r.source.Side[av.PacketDisplayMatrix])
	if !ok {
		return
	}
	pixels, format, ok := turn.Source(r.source.Pixels)
	if !ok {
		return
	}
	v, s := &r.video, r.source
	if turn.Sideways() {
		v.Width, v.Height = v.Height, v.Width
		if s.Aspect.Num() > 0 {
			s.Aspect = astiav.NewRational(s.Aspect.Den(), s.Aspect.Num())
		}
	}
	v.Format = format
	s.Video, s.Pixels, s.Turned = *v, pixels, true
	s.Streams.Width, s.Streams.Height = v.Width, v.Height
	delete(s.Side, av.PacketDisplayMatrix)
	r.upright = &upright{turn: turn, like: frame.Frame{Format: format, Width: v.Width, Height: v.Height}}
	r.log.Info("the pictures are turned upright, because the output cannot say how to turn them", "input", s.Name)
}

// frame returns f turned. It takes over f.
func (u *upright) frame(f *frame.Frame) (*frame.Frame, error) {
	defer f.Release()
	out, err := u.pool.NewFrame(&u.like)
	if err != nil {
		return nil, err
	}
	if from, ok := f.Native.(*astiav.Frame); ok {
		to := out.Native.(*astiav.Frame)
		if err := av.CopyFrameProps(to, from); err != nil {
			out.Release()
			return nil, err
		}
		for _, kind := range []av.FrameSideKind{av.FrameDisplayMatrix, av.FrameMotionVectors, av.FrameEncodingParams} {
			av.RemoveFrameSideData(to, kind)
		}
	}
	for i := range out.Planes {
		u.turn.Plane(&out.Planes[i], &f.Planes[i], f.Format.Bytes())
	}
	out.PTS, out.Duration, out.Damaged = f.PTS, f.Duration, f.Damaged
	out.ShowLightAs(f)
	return out, nil
}
