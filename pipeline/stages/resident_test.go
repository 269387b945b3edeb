//go:build unix

package stages_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/media/pixel"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
)

// copyDriver counts the copies to and from the device.
type copyDriver struct {
	*kernels.Late
	mu   sync.Mutex
	up   map[[2]int]int // number of images by bytes of a row, and rows
	down int            // bytes
}

func (d *copyDriver) CopyToDevice(stream any, dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	d.mu.Lock()
	d.up[[2]int{width, height}]++
	d.mu.Unlock()
	return d.Late.CopyToDevice(stream, dst, dstStride, src, srcStride, width, height)
}

func (d *copyDriver) CopyToHost(stream any, dst unsafe.Pointer, dstStride int, src uintptr, srcStride, width, height int) error {
	d.mu.Lock()
	d.down += width * height
	d.mu.Unlock()
	return d.Late.CopyToHost(stream, dst, dstStride, src, srcStride, width, height)
}

// The planes of a source frame go to the device once, and neither guides nor flows go there
// or come back: only finished frames, their counters and the sums that tell cuts do. Where a device
// takes over from another, it estimates what flow it needs, and gets what pictures.
func TestFlowStaysOnTheDevice(t *testing.T) {
	const width, height, frames, multiple = 74, 50, 10, 3
	clip := writeScene(t, width, height, frames, 24, 1)
	for _, c := range []struct {
		preset             pipeline.Preset
		devices, takeovers int
	}{{pipeline.Fast, 1, 0}, {pipeline.Balanced, 1, 0}, {pipeline.Best, 1, 0}, {pipeline.Balanced, 2, 2}} {
		o := settled(t, pipeline.Options{
			Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("3"), Multiple: true}},
			Synthesis: pipeline.Synthesis{Preset: c.preset}, Compute: pipeline.Compute{Threads: 4},
		})
		var counts []*copyDriver
		var drivers []cuda.Driver
		for i := range c.devices {
			counts = append(counts, &copyDriver{Late: kernels.NewLate(uint64(3 + i)), up: map[[2]int]int{}})
			drivers = append(drivers, counts[i])
		}
		s := emulated(t, o, drivers...)
		got, err := throughSynthesizer(t, clip, o, s)
		s.Close()
		must(t, err)
		if list := got.differences(onProcessor(t, clip, o)); len(list) > 0 {
			t.Errorf("%+v: frames %v differ", c, list)
		}
		var luma, chroma, down int
		for _, d := range counts {
			luma += d.up[[2]int{width, height}]
			chroma += d.up[[2]int{width / 2, height / 2}]
			down += d.down
		}
		// A device needs up to four pictures for an interval.
		if chroma != 2*luma || luma < frames || luma > frames+4*c.takeovers {
			t.Errorf("%+v: %d planes of luma and %d of chroma were uploaded, for %d frames", c, luma, chroma, frames)
		}
		const made, intervals = (frames - 1) * (multiple - 1), frames - 1
		most := made*(width*height*3/2+16*8) + (intervals+2*c.takeovers)*12*8
		if down > most {
			t.Errorf("%+v: %d bytes came back, want %d at most", c, down, most)
		}
	}
}

// decodedSource has a device's memory hold the pictures of a source, as if the device had
// decoded them. The emulator's memory is the host's.
type decodedSource struct {
	pipeline.Source
	memory *cuda.Mirror
	pool   pixel.Pool
}

func (s *decodedSource) Read() (*frame.Frame, error) {
	f, err := s.Source.Read()
	if err != nil {
		return nil, err
	}
	defer f.Release()
	out, err := s.pool.NewFrame(f)
	if err != nil {
		return nil, err
	}
	out.PTS, out.Duration = f.PTS, f.Duration
	u, v := f.Planes[1], f.Planes[2]
	pairs := make([]byte, 2*u.Width*u.Height)
	for y := range u.Height {
		for x := range u.Width {
			pairs[2*(y*u.Width+x)], pairs[2*(y*u.Width+x)+1] = u.Pix[y*u.Stride+x], v.Pix[y*v.Stride+x]
		}
	}
	at := func(pix []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(pix))) }
	luma := f.Planes[0]
	err = s.memory.Import(out, frame.Surface{
		Width: f.Width, Height: f.Height, Bytes: 1,
		Luma: frame.SurfacePlane{Address: at(luma.Pix), Stride: luma.Stride}, Chroma: frame.SurfacePlane{Address: at(pairs), Stride: 2 * u.Width},
	})
	runtime.KeepAlive(pairs)
	return out, err
}

// lentDriver is a driver that another device closes.
type lentDriver struct{ cuda.Driver }

func (lentDriver) Close() error { return nil }

// Pictures that were decoded on the device are not uploaded, and frames are those of other
// pictures.
func TestDecodedPicturesStayOnTheDevice(t *testing.T) {
	const width, height = 74, 50
	clip := writeScene(t, width, height, 10, 24, 1)
	for _, preset := range []pipeline.Preset{pipeline.Fast, pipeline.Balanced, pipeline.Best} {
		o := settled(t, pipeline.Options{
			Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("2"), Multiple: true}},
			Synthesis: pipeline.Synthesis{Preset: preset}, Compute: pipeline.Compute{Threads: 4},
		})
		d := &closedDriver{Late: kernels.NewLate(5)}
		counted := &copyDriver{Late: d.Late, up: map[[2]int]int{}}
		m, err := cuda.NewMirror(cuda.NewDevice(d))
		must(t, err)
		reader, err := media.Open(t.Context(), clip, media.ReaderOptions{})
		must(t, err)
		source := &decodedSource{Source: reader, memory: m, pool: pixel.Pool{Memory: m}}
		plan, err := o.Plan(reader.Video())
		must(t, err)
		s := emulated(t, o, lentDriver{counted})
		got := &collectingSink{memory: s.Memory()}
		recorded := *o
		recorded.Hooks.Record = func(r pipeline.Record) { got.records = append(got.records, r) }
		must(t, recorded.Line(plan, got, s).Run(t.Context(), source, &plan.Passes[0], stages.Whole()))
		s.Close()
		source.pool.Close()
		reader.Close()
		must(t, m.Close())
		if !d.closed || d.err != nil {
			t.Errorf("%s: the decoder's device is closed: %v, %v", preset, d.closed, d.err)
		}
		if list := got.differences(onProcessor(t, clip, o)); len(list) > 0 {
			t.Errorf("%s: frames %v differ", preset, list)
		}
		if n := counted.up[[2]int{width, height}] + counted.up[[2]int{width / 2, height / 2}]; n > 0 {
			t.Errorf("%s: %d planes were uploaded", preset, n)
		}
	}
}

// Wherever a device fails for good, the frames are those of the CPU, also those for which
// flow lay on the device.
func TestDevicesFailForGood(t *testing.T) {
	clip := writeScene(t, 72, 50, 6, 24, 1)
	o := settled(t, pipeline.Options{
		Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("2"), Multiple: true}},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Balanced}, Compute: pipeline.Compute{Threads: 2},
	})
	want, remade := onProcessor(t, clip, o), int64(0)
	for _, devices := range []int{1, 2} {
		for _, after := range []int32{1, 150, 400} { // calls of the first device
			var drivers []cuda.Driver
			for i := range devices {
				drivers = append(drivers, kernels.NewLate(uint64(i)))
			}
			s := emulated(t, o, drivers...)
			var calls atomic.Int32
			first := drivers[0].(*kernels.Late)
			first.Fail = func(string) error {
				if calls.Add(1) > after {
					return errBroken
				}
				return nil
			}
			got, err := throughSynthesizer(t, clip, o, s)
			remade += s.Summary().Remade
			s.Close()
			must(t, err)
			if list := got.differences(want); len(list) > 0 {
				t.Errorf("%d devices, of which one fails after %d calls: frames %v differ", devices, after, list)
			}
		}
	}
	if remade == 0 {
		t.Error("no frame was made again")
	}
}

// Ranges of the output, which have flow before and behind them estimated, too, are the same
// on devices.
func TestDevicesMakeRanges(t *testing.T) {
	clip := writeScene(t, 72, 50, 10, 24, 1)
	o := settled(t, pipeline.Options{
		Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("5/2"), Multiple: true}},
		Compute: pipeline.Compute{Threads: 2},
	})
	whole := onProcessor(t, clip, o)
	for _, r := range []stages.Range{{First: 0, End: 7}, {First: 7, End: 8}, {First: 8, End: 25}} {
		s := emulated(t, o, kernels.NewLate(1), kernels.NewLate(2))
		got, err := rangeThrough(t, clip, o, s, r)
		s.Close()
		must(t, err)
		want := &collectingSink{frames: whole.frames[r.First:min(r.End, int64(len(whole.frames)))], records: whole.records[r.First:min(r.End, int64(len(whole.frames)))]}
		if list := got.differences(want); len(list) > 0 {
			t.Errorf("frames %d to %d: %v differ", r.First, r.End-1, list)
		}
	}
}

// The flow of an interval is estimated on the device that makes its frames.
func TestFlowLiesWhereFramesAreMade(t *testing.T) {
	s := synth.NewDevices(fading().SynthParams(), &fakeDevice{t: t, fail: never}, &fakeDevice{t: t, fail: never})
	defer s.Close()
	var devices []int
	for range 9 {
		devices = append(devices, s.Assign(2, 1).Device())
	}
	if !slices.Equal(devices, []int{1, 1, 1, 1, 0, 0, 0, 0, 1}) {
		t.Errorf("devices %v", devices)
	}
	if next := s.Assign(0, 1).Device(); next != 1 {
		t.Errorf("an interval without frames: device %d", next)
	}
}
