package gpu

import (
	"fmt"
	"unsafe"

	"retime/cuda"
)

// TextureLayout describes the contents of a texture, which are floats. Kernels interpolate linearly between its texels, with
// 8-bit fractions, and it continues with its outermost ones.
type TextureLayout struct {
	Width, Height int
	Depth         int // layers of a volume; 0 for a picture
}

// Driver is a cuda.Driver with textures.
type Driver interface {
	cuda.Driver
	// NewTexture copies l.Height rows of texels of each layer, without gaps in host memory, to a texture. It returns
	// the texture and the object that kernels take.
	NewTexture(l TextureLayout, texels unsafe.Pointer) (texture any, object uint64, err error)
	DestroyTexture(texture any) error
}

// Device is a cuda.Device with textures.
type Device struct {
	*cuda.Device
	driver Driver
}

// Open returns the device with the given number, from 0. In a program built without the
// tag cuda, its error is cuda.ErrNotBuilt.
func Open(ordinal int) (*Device, error) {
	driver, err := openDriver(ordinal)
	if err != nil {
		return nil, err
	}
	return NewDevice(driver), nil
}

// NewDevice returns a device over a driver. The device closes the driver.
func NewDevice(d Driver) *Device { return &Device{cuda.NewDevice(d), d} }

// texture is a picture or a volume in texture memory.
type texture struct {
	driver Driver
	handle any
	object uint64
}

// newTexture copies texels without gaps to a texture.
func newTexture(d Driver, l TextureLayout, texels []float32) (*texture, error) {
	t := &texture{driver: d}
	var err error
	t.handle, t.object, err = d.NewTexture(l, unsafe.Pointer(unsafe.SliceData(texels)))
	if err != nil {
		return nil, fmt.Errorf("texture of %dx%d: %w", l.Width, l.Height, err)
	}
	return t, nil
}

// close frees the texture. No stream may still use it.
func (t *texture) close() error { return t.driver.DestroyTexture(t.handle) }
