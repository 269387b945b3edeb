package media

import (
	"errors"
	"fmt"
	"log/slog"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
	"retime/pipeline/media/pixel"
)

// Surfaces is memory for frames of pictures that NVIDIA's decoder has left on the device. One
// goroutine at a time calls Import, Check and Close.
type Surfaces interface {
	frame.Memory
	// Queue returns the stream, a CUstream, on which the decoder must work.
	Queue() uintptr
	// Import sets the samples of dst, which lies in the memory and has the size of src. When
	// it returns, nothing reads src any more. It may keep what tells other code where dst's
	// samples lie on the device.
	Import(dst *frame.Frame, src frame.Surface) error
	// Check returns an error if the device has failed.
	Check() error
	// Close lets go of the device once the memory of all frames is freed.
	Close() error
}

// fetched is a decoded picture in main memory.
type fetched struct {
	*astiav.Frame
	memory  frame.Memory // that the samples lie in; nil if FFmpeg has allocated them
	damaged bool         // set by the decoder
}

// memoryOf returns the memory that f, which was made of p, lies in; nil if it does not matter.
func (p *fetched) memoryOf(f *frame.Frame) frame.Memory {
	if unsafe.Pointer(unsafe.SliceData(f.Planes[0].Pix)) != av.PlaneData(p.Frame, 0) {
		return nil // f is a converted copy
	}
	return p.memory
}

// fetcher brings decoded pictures to main memory.
type fetcher interface {
	// fetch takes f over.
	fetch(f *astiav.Frame) (*fetched, error)
	close()
}

// checker is a fetcher that can tell whether the device has failed.
type checker interface {
	fetcher
	// check returns an error if the device has failed.
	check() error
}

// downloads copies pictures that are on a device.
type downloads struct{}

func (downloads) fetch(f *astiav.Frame) (*fetched, error) {
	if !av.OnDevice(f) {
		return &fetched{Frame: f}, nil
	}
	defer f.Free()
	out := astiav.AllocFrame()
	err := f.TransferHardwareData(out)
	if err == nil {
		err = av.CopyFrameProps(out, f)
	}
	if err != nil {
		out.Free()
		return nil, fmt.Errorf("download a picture from the device: %w", err)
	}
	return &fetched{Frame: out}, nil
}

func (downloads) close() {}

// newFetcher returns the fetcher for pictures that NVIDIA's decoder leaves on the device.
// Their semi-planar format is the decoder's own choice, so they are brought as planes.
func newFetcher(decoder *astiav.CodecContext, opt *ReaderOptions) fetcher {
	d := planarDownloads{decoder: decoder}
	if opt.CUDA.Surfaces == nil {
		return d
	}
	surfaces, err := opt.CUDA.Surfaces()
	if err != nil {
		opt.Log.Debug("decoded pictures go through main memory", "because", err)
		return d
	}
	av.UseStream(decoder, surfaces.Queue())
	return &imports{planarDownloads: d, surfaces: surfaces, pool: pixel.Pool{Memory: surfaces}, log: opt.Log}
}

// planarDownloads copies pictures from a device and separates their planes.
type planarDownloads struct {
	downloads
	decoder *astiav.CodecContext
}

func (d planarDownloads) fetch(f *astiav.Frame) (*fetched, error) {
	if !av.OnDevice(f) {
		return d.downloads.fetch(f)
	}
	p, err := d.downloads.fetch(f)
	if err != nil {
		return nil, err
	}
	if twin, ok := separated[p.PixelFormat()]; ok {
		p.Frame, err = pixel.Separate(p.Frame, twin, pixel.ColourOf(p.Frame, av.CoderColour(d.decoder)))
	}
	return p, err
}

// imports has Surfaces bring the pictures, or downloads them after that has failed.
type imports struct {
	planarDownloads
	surfaces Surfaces
	pool     pixel.Pool
	failed   bool
	log      *slog.Logger
}

func (m *imports) fetch(f *astiav.Frame) (*fetched, error) {
	if !m.failed && av.OnDevice(f) {
		if twin, ok := separated[av.DeviceFormat(f)]; ok {
			p, err := m.take(f, twin)
			if err == nil {
				f.Free()
				return p, nil
			}
			if broken := m.check(); broken != nil {
				f.Free()
				return nil, broken
			}
			m.failed = true
			m.log.Warn("decoded pictures go through main memory from here on", "because", err)
		}
	}
	return m.planarDownloads.fetch(f)
}

// separated maps the formats of pictures that a frame.Surface describes to planar ones.
var separated = map[astiav.PixelFormat]astiav.PixelFormat{
	astiav.PixelFormatNv12:   astiav.PixelFormatYuv420P,
	astiav.PixelFormatP010Le: astiav.PixelFormatYuv420P10Le,
	astiav.PixelFormatP016Le: astiav.PixelFormatYuv420P16Le,
}

// take returns the picture of f in a planar format.
func (m *imports) take(f *astiav.Frame, twin astiav.PixelFormat) (*fetched, error) {
	planar, _ := pixel.PlanarFormat(twin)
	out, memory, err := m.pool.NewPicture(f.Width(), f.Height(), twin)
	if err != nil {
		return nil, err
	}
	p := &fetched{Frame: out, memory: memory}
	if err := m.fill(p, f, planar); err != nil {
		out.Free()
		return nil, err
	}
	return p, nil
}

func (m *imports) fill(p *fetched, f *astiav.Frame, planar frame.Format) error {
	planes, ok := pixel.Planes(p.Frame, planar)
	if !ok || p.memory == nil {
		return errors.New("there is no more memory that the device shares")
	}
	dst := frame.Wrap(planar, f.Width(), f.Height(), planes, nil)
	plane := func(i int) frame.SurfacePlane {
		return frame.SurfacePlane{Address: uintptr(av.PlaneData(f, i)), Stride: av.PlaneStride(f, i)}
	}
	src := frame.Surface{Width: f.Width(), Height: f.Height(), Bytes: planar.Bytes(), Luma: plane(0), Chroma: plane(1)}
	if err := m.surfaces.Import(dst, src); err != nil {
		return err
	}
	return av.CopyFrameProps(p.Frame, f)
}

func (m *imports) check() error { return m.surfaces.Check() }

func (m *imports) close() {
	m.pool.Close()
	_ = m.surfaces.Close() // nothing depends on it
}
