package gpu

import (
	"fmt"
	"math"
	"unsafe"

	"retime/cuda"
	"retime/frame"
	"retime/warp/bspline"
)

// AddressMode is a rule for continuing a texture beyond its edges.
type AddressMode int

// The comments show how the texels abcde continue.
const (
	AddressClamp  AddressMode = iota // aaa|abcde|eee
	AddressBorder                    // 000|abcde|000
	AddressWrap                      // cde|abcde|abc
	AddressMirror                    // cba|abcde|edc
)

var addressNames = [...]string{"clamp", "border", "wrap", "mirror"}

// String returns "clamp", "border", "wrap" or "mirror".
func (a AddressMode) String() string {
	if a < 0 || int(a) >= len(addressNames) {
		return fmt.Sprintf("AddressMode(%d)", int(a))
	}
	return addressNames[a]
}

// Texel is the type of a texture's values.
type Texel int

// The texel types that the study compares.
const (
	TexelFloat     Texel = iota // one float32
	TexelFractions              // four of 16 bits, from 0 to 1
)

// Bytes returns the size of a texel in bytes.
func (t Texel) Bytes() int {
	if t == TexelFractions {
		return 8
	}
	return 4
}

// TextureLayout describes the contents of a texture and how kernels read it.
type TextureLayout struct {
	Width, Height int
	Depth         int // layers of a volume; 0 for a picture
	Texel         Texel
	Address       AddressMode
	Linear        bool // interpolates between texels, with 8-bit fractions; otherwise reads the nearest
	Normalized    bool // coordinates run from 0 to 1; wrap and mirror need it
}

// Driver is a cuda.Driver with textures.
type Driver interface {
	cuda.Driver
	// NewTexture copies l.Height rows of texels of each layer, stride bytes apart in host memory,
	// to a texture. It returns the texture and the object that kernels take.
	NewTexture(l TextureLayout, texels unsafe.Pointer, stride int) (texture any, object uint64, err error)
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

// Texture is a picture in texture memory.
type Texture struct {
	layout TextureLayout
	driver Driver
	handle any
	object uint64
}

// NewTexture copies img to a texture that continues as address says. If linear is set, kernels
// interpolate between its texels; otherwise they read the nearest.
func NewTexture(d *Device, img frame.Image[float32], address AddressMode, linear bool) (*Texture, error) {
	if int(address) >= len(addressNames) || address < 0 {
		return nil, fmt.Errorf("address mode %d: want clamp, border, wrap or mirror", int(address))
	}
	return newTexture(d.driver, TextureLayout{
		Width: img.Width, Height: img.Height, Address: address, Linear: linear,
		Normalized: address == AddressWrap || address == AddressMirror,
	}, unsafe.Pointer(unsafe.SliceData(img.Pix)), img.Stride)
}

func newTexture(d Driver, l TextureLayout, texels unsafe.Pointer, stride int) (*Texture, error) {
	if l.Width*l.Height == 0 {
		return nil, fmt.Errorf("texture of %dx%d is empty", l.Width, l.Height)
	}
	t := &Texture{layout: l, driver: d}
	var err error
	t.handle, t.object, err = d.NewTexture(l, texels, stride*l.Texel.Bytes())
	if err != nil {
		return nil, fmt.Errorf("texture of %dx%d: %w", l.Width, l.Height, err)
	}
	return t, nil
}

// Close frees the texture. No stream may still use it.
func (t *Texture) Close() error { return t.driver.DestroyTexture(t.handle) }

// LookUp is a method of computing a value from a texture.
type LookUp int

// LookUpPairs and LookUpPairsByTable read a texture of a cubic B-spline's un-normalised
// coefficients linearly, four times (Ruijters, ter Haar Romeny and Suetens, equation
// 9). LookUpCubic and LookUpCatmullRom read the nearest texel sixteen times.
const (
	LookUpOnce         LookUp = iota // the texture's own nearest or linear value
	LookUpPairs                      // with weights computed on the fly
	LookUpPairsByTable               // with weights from a table of 128 entries of 16 bits
	LookUpCubic                      // of a cubic B-spline's coefficients
	LookUpCatmullRom                 // of samples
)

// TextureSampler transforms pictures by look-ups in textures. Its values differ from a
// Spline's: coordinates are float32, and fractions of linear look-ups have 8 bits.
type TextureSampler struct {
	kernels [LookUpCatmullRom + 1]*cuda.Kernel
	table   *Texture
}

// NewTextureSampler returns a sampler, or an error if the device cannot load the
// kernels or the table of weights.
func NewTextureSampler(d *Device) (*TextureSampler, error) {
	p := new(TextureSampler)
	if err := d.Kernels("texture", map[string]**cuda.Kernel{
		"look_up": &p.kernels[LookUpOnce], "pairs": &p.kernels[LookUpPairs], "pairs_with_table": &p.kernels[LookUpPairsByTable],
		"cubic": &p.kernels[LookUpCubic], "catmull_rom": &p.kernels[LookUpCatmullRom],
	}); err != nil {
		return nil, err
	}
	table := weightTable()
	layout := TextureLayout{Width: len(table), Height: 1, Texel: TexelFractions, Linear: true}
	var err error
	p.table, err = newTexture(d.driver, layout, unsafe.Pointer(unsafe.SliceData(table)), len(table))
	return p, err
}

// weightTable returns the look-up texture of Sigg and Hadwiger: for each of 128
// fractions, the weight of the first pair of coefficients and the positions in the
// first and second pair.
func weightTable() [][4]uint16 {
	table := make([][4]uint16, 128)
	for i := range table {
		var w [4]float64
		bspline.Weights(bspline.Cubic, (float64(i)+0.5)/float64(len(table)), w[:])
		for j, v := range []float64{(w[0] + w[1]) / 6, w[1] / (w[0] + w[1]), w[3] / (w[2] + w[3])} {
			table[i][j] = uint16(math.Round(v * math.MaxUint16))
		}
	}
	return table
}

// Close frees the sampler's memory. No stream may still use it.
func (p *TextureSampler) Close() error { return p.table.Close() }

// Warp queues dst(x, y) = the value of t at tr's position for (x, y). tr must be affine. t must be
// linear for look-ups in pairs, and nearest for look-ups of sixteen texels.
func (p *TextureSampler) Warp(s *cuda.Stream, dst cuda.Image[float32], t *Texture, by LookUp, tr bspline.Projective) error {
	if by < 0 || by > LookUpCatmullRom {
		return fmt.Errorf("look-up %d is out of range", int(by))
	}
	m := tr.Inverse()
	if m[2] != [3]float64{0, 0, 1} {
		return fmt.Errorf("look-ups in textures: the transform is not affine")
	}
	if pairs := by == LookUpPairs || by == LookUpPairsByTable; by != LookUpOnce && pairs != t.layout.Linear {
		return fmt.Errorf("look-ups in textures: pairs need a linear texture, and sixteen look-ups one that is not")
	}
	if dst.Width*dst.Height == 0 {
		return nil
	}
	scaleX, scaleY := float32(1), float32(1)
	if t.layout.Normalized {
		scaleX, scaleY = 1/float32(t.layout.Width), 1/float32(t.layout.Height)
	}
	block := cuda.Dim{X: 32, Y: 8, Z: 1}
	return s.Launch(p.kernels[by], cuda.Cover(dst.Width, dst.Height, block), block, 0,
		cuda.Long(int64(t.object)), cuda.Float(scaleX), cuda.Float(scaleY), cuda.Long(int64(p.table.object)),
		cuda.Double(m[0][0]), cuda.Double(m[0][1]), cuda.Double(m[0][2]), cuda.Double(m[1][0]), cuda.Double(m[1][1]), cuda.Double(m[1][2]),
		dst.Arg(), cuda.Int(dst.Stride), cuda.Int(dst.Width), cuda.Int(dst.Height))
}
