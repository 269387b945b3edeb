// Command libretime is the C library of package interpolate; libretime.h documents it. make
// libretime builds it.
package main

/*
#include <stdlib.h>
#include <string.h>
#define RETIME_TYPES_ONLY
#include "libretime.h"

struct retime_clip { uintptr_t handle; };
struct retime_stream { uintptr_t handle; };

static char *version_room(void) { static char room[64]; return room; }
enum { VERSION_ROOM = 64 };
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"runtime/cgo"
	"sync"
	"unsafe"

	"retime/frame"
	"retime/interpolate"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/synth"
	"retime/warp"
)

func main() {}

// version is set by make libretime.
var version = "unknown"

// cVersion is not from malloc: a leak checker of the host would miss its pointer in Go's memory.
var cVersion = sync.OnceValue(func() *C.char {
	room := C.version_room()
	b := unsafe.Slice((*byte)(unsafe.Pointer(room)), C.VERSION_ROOM)
	b[copy(b[:C.VERSION_ROOM-1], version)] = 0
	return room
})

//export retime_version
func retime_version() *C.char { return cVersion() }

//export retime_api_version
func retime_api_version() C.uint { return C.RETIME_API_VERSION }

//export retime_options_default
func retime_options_default(o *C.retime_options) {
	*o = C.retime_options{version: C.RETIME_API_VERSION, scene_threshold: -1, blend_below: -1, nearest_below: -1}
}

// try calls f and returns its error as a code and a text. A panic is an error of the library, which
// must not end the host.
func try(text *C.char, size C.size_t, f func() error) (code C.int) {
	var err error
	defer func() {
		if p := recover(); p != nil {
			code, err = C.RETIME_INTERNAL, fmt.Errorf("a defect in libretime: %v", p)
		}
		if err != nil && text != nil && size > 0 {
			b := unsafe.Slice((*byte)(unsafe.Pointer(text)), size)
			b[copy(b[:size-1], err.Error())] = 0
		}
	}()
	switch err = f(); {
	case err == nil:
		return C.RETIME_OK
	case errors.Is(err, io.EOF):
		return C.RETIME_END
	case fault.KindOf(err) == fault.Usage:
		return C.RETIME_USAGE
	case fault.KindOf(err) == fault.TryAgain:
		return C.RETIME_MEMORY
	}
	return C.RETIME_INTERNAL
}

// pick returns the value of a number of an enum.
func pick[T any](name string, n C.int, list ...T) (v T, err error) {
	if n < 0 || int(n) >= len(list) {
		return v, fault.New(fault.Usage, "%s %d: want 0 to %d", name, n, len(list)-1)
	}
	return list[n], nil
}

func checkVersion(v C.uint) error {
	if v != C.RETIME_API_VERSION {
		return fault.New(fault.Usage, "a structure of version %d; this library knows version %d", v, C.RETIME_API_VERSION)
	}
	return nil
}

// ratio returns a fraction, nil for 0/0.
func ratio(name string, num, den C.int64_t) (*big.Rat, error) {
	switch {
	case num == 0 && den == 0:
		return nil, nil
	case num <= 0 || den <= 0:
		return nil, fault.New(fault.Usage, "%s %d/%d: want numbers above 0", name, num, den)
	}
	return big.NewRat(int64(num), int64(den)), nil
}

func optionsOf(c *C.retime_options) (o interpolate.Options, err error) {
	if c == nil {
		return o, fault.New(fault.Usage, "no options")
	}
	if err := checkVersion(c.version); err != nil {
		return o, err
	}
	s := &o.Synthesis
	o.Width, o.Height, o.Threads = int(c.width), int(c.height), int(c.threads)
	o.Format = frame.Format{
		Depth: int(c.depth), Planes: int(c.planes), ChromaX: int(c.chroma_x), ChromaY: int(c.chroma_y), RGB: c.rgb != 0,
	}
	o.Light.FullRange = c.full_range != 0
	s.CarryOverlays, s.DropRepeats = c.carry_overlays != 0, c.drop_repeats != 0
	for _, v := range []struct {
		of *C.double
		to **float64
	}{{&c.scene_threshold, &s.SceneThreshold}, {&c.blend_below, &s.BlendBelow}, {&c.nearest_below, &s.NearestBelow}} {
		if !(*v.of < 0) {
			*v.to = new(float64(*v.of))
		}
	}
	if o.Light.Transfer, err = pick("transfer", c.transfer, frame.SDR, frame.PQ, frame.HLG, frame.PQ); err != nil {
		return o, err
	}
	o.Light.Floats = c.transfer == C.RETIME_LIGHT
	if s.Preset, err = pick("preset", c.preset, motion.Balanced, motion.Fast, motion.Best); err != nil {
		return o, err
	}
	if s.Mode, err = pick("mode", c.mode, warp.Project, warp.Splat, warp.Blend, warp.Nearest); err != nil {
		return o, err
	}
	if s.Animation, err = pick("tune", c.tune, false, true); err != nil {
		return o, err
	}
	if o.Backend, err = pick("device", c.device, synth.CPU, synth.Auto, synth.CUDA); err != nil {
		return o, err
	}
	if o.Rate, err = ratio("rate", c.rate_num, c.rate_den); err != nil {
		return o, err
	}
	if o.Timing.Rate, err = ratio("frames per second", c.out_num, c.out_den); err != nil {
		return o, err
	}
	if o.Timing.Slow, err = ratio("slow", c.slow_num, c.slow_den); err != nil {
		return o, err
	}
	if c.times == nil {
		return o, nil
	}
	unit, err := ratio("unit of times", c.time_num, c.time_den)
	if err != nil {
		return o, err
	}
	if unit == nil || c.times_count < 1 {
		return o, fault.New(fault.Usage, "times need a unit, and must be at least one")
	}
	o.Timing.Times = make([]*big.Rat, c.times_count)
	for i, t := range unsafe.Slice(c.times, c.times_count) {
		o.Timing.Times[i] = new(big.Rat).Mul(unit, big.NewRat(int64(t), 1))
	}
	return o, nil
}

// view returns a picture of the caller's as a frame, to be used during the call.
func view(o *interpolate.Options, p *C.retime_picture) (*frame.Frame, error) {
	if p == nil {
		return nil, fault.New(fault.Usage, "no picture")
	}
	if err := checkVersion(p.version); err != nil {
		return nil, err
	}
	planes := make([]frame.Plane, o.Format.Planes)
	size := o.Format.Bytes()
	for i := range planes {
		w, h := o.Format.PlaneSize(i, o.Width, o.Height)
		stride, at := int(p.stride[i]), p.planes[i]
		if at == nil || stride < w*size || stride%size != 0 || uintptr(at)%uintptr(size) != 0 {
			return nil, fault.New(fault.Usage, "plane %d: %d bytes from row to row do not hold rows of %d samples of %d bytes, or the samples are not aligned", i, stride, w, size)
		}
		planes[i] = frame.Plane{Width: w, Height: h, Stride: stride, Pix: unsafe.Slice((*byte)(at), stride*(h-1)+w*size)}
	}
	return frame.Wrap(o.Format, o.Width, o.Height, planes, nil), nil
}

func describe(info *C.retime_info, number int64, i interpolate.Info) {
	if info == nil {
		return
	}
	kinds := map[interpolate.Kind]C.int{
		interpolate.AsShot: C.RETIME_AS_SHOT, interpolate.Made: C.RETIME_MADE, interpolate.Blended: C.RETIME_BLENDED,
		interpolate.Held: C.RETIME_HELD, interpolate.Cut: C.RETIME_CUT,
	}
	first, last := i.Sources[0], i.Sources[len(i.Sources)-1]
	info.kind, info.number = kinds[i.Kind], C.int64_t(number)
	info.sources = [2]C.int64_t{C.int64_t(first), C.int64_t(last)}
	info.phase, info.confidence = C.double(i.Phase), C.double(i.Confidence)
}

// clip is what a retime_clip stands for.
type clip struct {
	*interpolate.Clip
	options interpolate.Options
}

//export retime_clip_open
func retime_clip_open(options *C.retime_options, pictures C.int64_t, text *C.char, size C.size_t) (handle *C.retime_clip) {
	try(text, size, func() error {
		o, err := optionsOf(options)
		if err != nil {
			return err
		}
		c, err := interpolate.NewClip(o, int64(pictures))
		if err != nil {
			return err
		}
		handle = (*C.retime_clip)(C.malloc(C.sizeof_struct_retime_clip))
		handle.handle = C.uintptr_t(cgo.NewHandle(&clip{c, o}))
		return nil
	})
	return handle
}

func clipOf(handle *C.retime_clip) *clip { return cgo.Handle(handle.handle).Value().(*clip) }

//export retime_clip_frames
func retime_clip_frames(handle *C.retime_clip) C.int64_t { return C.int64_t(clipOf(handle).Frames()) }

//export retime_clip_needs
func retime_clip_needs(handle *C.retime_clip, k C.int64_t, first, last *C.int64_t, text *C.char, size C.size_t) C.int {
	return try(text, size, func() error {
		a, b, err := clipOf(handle).Needs(int64(k))
		*first, *last = C.int64_t(a), C.int64_t(b)
		return err
	})
}

//export retime_clip_frame
func retime_clip_frame(handle *C.retime_clip, k C.int64_t, pictures *C.retime_picture, count C.int, dst *C.retime_picture,
	info *C.retime_info, text *C.char, size C.size_t) C.int {
	return try(text, size, func() error {
		c := clipOf(handle)
		first, last, err := c.Needs(int64(k))
		if err != nil {
			return err
		}
		if int64(count) != last-first+1 || pictures == nil {
			return fault.New(fault.Usage, "%d pictures for frame %d; want pictures %d to %d", count, k, first, last)
		}
		list := unsafe.Slice(pictures, count)
		to, err := view(&c.options, dst)
		if err != nil {
			return err
		}
		made, err := c.Make(context.Background(), to, int64(k), func(f *frame.Frame, n int64) error {
			from, err := view(&c.options, &list[n-first])
			if err == nil {
				frame.Copy(f, from)
			}
			return err
		})
		if err == nil {
			describe(info, int64(k), made)
		}
		return err
	})
}

//export retime_clip_close
func retime_clip_close(handle *C.retime_clip) {
	if handle == nil {
		return
	}
	try(nil, 0, func() error {
		clipOf(handle).Close()
		return nil
	})
	cgo.Handle(handle.handle).Delete()
	C.free(unsafe.Pointer(handle))
}

// stream is what a retime_stream stands for.
type stream struct {
	*interpolate.Stream
	options interpolate.Options
}

//export retime_stream_open
func retime_stream_open(options *C.retime_options, text *C.char, size C.size_t) (handle *C.retime_stream) {
	try(text, size, func() error {
		o, err := optionsOf(options)
		if err != nil {
			return err
		}
		s, err := interpolate.NewStream(o)
		if err != nil {
			return err
		}
		handle = (*C.retime_stream)(C.malloc(C.sizeof_struct_retime_stream))
		handle.handle = C.uintptr_t(cgo.NewHandle(&stream{s, o}))
		return nil
	})
	return handle
}

func streamOf(handle *C.retime_stream) *stream {
	return cgo.Handle(handle.handle).Value().(*stream)
}

//export retime_stream_push
func retime_stream_push(handle *C.retime_stream, picture *C.retime_picture, text *C.char, size C.size_t) C.int {
	return try(text, size, func() error {
		s := streamOf(handle)
		from, err := view(&s.options, picture)
		if err != nil {
			return err
		}
		f := s.NewPicture()
		frame.Copy(f, from)
		return s.Push(f)
	})
}

//export retime_stream_finish
func retime_stream_finish(handle *C.retime_stream) { streamOf(handle).Finish() }

//export retime_stream_pull
func retime_stream_pull(handle *C.retime_stream, dst *C.retime_picture, info *C.retime_info, text *C.char, size C.size_t) C.int {
	none := false
	code := try(text, size, func() error {
		s := streamOf(handle)
		to, err := view(&s.options, dst)
		if err != nil {
			return err
		}
		f, err := s.Pull()
		if f == nil {
			none = err == nil
			return err
		}
		defer f.Release()
		frame.Copy(to, f.Frame)
		describe(info, f.Number, f.Info)
		return nil
	})
	if none {
		return C.RETIME_NONE
	}
	return code
}

//export retime_stream_close
func retime_stream_close(handle *C.retime_stream) {
	if handle == nil {
		return
	}
	try(nil, 0, func() error {
		streamOf(handle).Close()
		return nil
	})
	cgo.Handle(handle.handle).Delete()
	C.free(unsafe.Pointer(handle))
}
