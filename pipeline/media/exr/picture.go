package exr

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"math/big"
	"slices"
	"strings"

	"retime/frame"
)

// ErrUnsupported is wrapped by errors about pictures that Decode and Encode do not take: deep data, channels
// with fewer samples than pixels, or any if the program was built without OpenEXR.
var ErrUnsupported = errors.New("not supported")

// ErrMisread is wrapped by errors about pictures that FFmpeg's decoder leaves black or makes noise of, often without a word.
var ErrMisread = errors.New("FFmpeg's decoder misreads it")

// Part is one of the pictures of a file.
type Part struct {
	Name    string          // empty if it has none, as in most files of one part
	Window  image.Rectangle // the data window: what is stored, and half-open
	Display image.Rectangle
	Deep    bool
	Planes  []Plane // in the file's order
	// Cryptomatte are the layers whose channels hold ids, as Cryptomatte's attributes name them.
	Cryptomatte []string
	afterB44A   bool // compressed by DWA, or in a later way, which few decoders read
	tiled       bool
	aspect      float32 // of a pixel
}

// Plane is a channel of a part, and its samples line by line. Bits holds them from Decode on: those of a
// half in the lower 16.
type Plane struct {
	Name    string
	Type    Type
	Sampled image.Point // pixels to a sample, 1 by 1 for most
	Bits    []uint32
}

// b44a is the last compression that every decoder reads. DWA and those of OpenEXR 3.4 and later come after it.
const b44a = 7

// Uint is the type of whole numbers, such as ids, of 32 bits.
const Uint Type = 0

// size is the bytes of a sample.
func (t Type) size() int {
	if t == Half {
		return 2
	}
	return 4
}

// Value returns sample i as a number, of which whole numbers above 2^24 lose bits.
func (p *Plane) Value(i int) float32 {
	switch p.Type {
	case Half:
		return frame.HalfValue(uint16(p.Bits[i]))
	case Uint:
		return float32(p.Bits[i])
	}
	return math.Float32frombits(p.Bits[i])
}

// Set sets sample i of halves or floats.
func (p *Plane) Set(i int, v float32) {
	if p.Type == Half {
		p.Bits[i] = uint32(frame.HalfBits(v))
	} else {
		p.Bits[i] = math.Float32bits(v)
	}
}

// Parts reads the headers of a file's parts.
func Parts(file []byte) (parts []Part, err error) {
	r := reader{file}
	list, flags, err := r.headers()
	if err != nil {
		return nil, err
	}
	for _, attributes := range list {
		p, err := partOf(attributes)
		if err != nil {
			return nil, err
		}
		p.tiled, p.Deep = flags.kind(attributes)
		parts = append(parts, p)
	}
	return parts, nil
}

// partOf returns the part that attributes describe.
func partOf(attributes []attribute) (p Part, err error) {
	for _, a := range attributes {
		switch a.name {
		case "name":
			p.Name = string(a.value)
		case "channels":
			p.Planes = planesOf(a.value)
		case "dataWindow":
			p.Window = window(a.value)
		case "displayWindow":
			p.Display = window(a.value)
		case "compression":
			p.afterB44A = len(a.value) == 1 && a.value[0] > b44a
		case "pixelAspectRatio":
			if len(a.value) == 4 {
				p.aspect = math.Float32frombits(binary.LittleEndian.Uint32(a.value))
			}
		}
		if strings.HasPrefix(a.name, "cryptomatte/") && strings.HasSuffix(a.name, "/name") {
			p.Cryptomatte = append(p.Cryptomatte, string(a.value))
		}
	}
	if p.Window.Empty() || p.Display.Empty() || len(p.Planes) == 0 {
		return p, fmt.Errorf("%w: no channels, or no windows", ErrFormat)
	}
	if !Fits(p.Window) {
		return p, fmt.Errorf("%w: %dx%d pixels; at most %d are taken", ErrUnsupported, p.Window.Dx(), p.Window.Dy(), largestArea)
	}
	return p, nil
}

// The most pixels of a part, and samples of all parts.
const (
	largestArea = 1 << 26
	mostSamples = 1 << 30
)

// Fits reports whether a window has no more pixels than a part may have.
func Fits(w image.Rectangle) bool {
	return w.Dx() <= largestSide && w.Dy() <= largestSide && w.Dx()*w.Dy() <= largestArea
}

// window returns the pixels of a box, which names the last ones; empty for what is none.
func window(box []byte) image.Rectangle {
	if len(box) != 16 {
		return image.Rectangle{}
	}
	at := func(i int) int { return int(int32(binary.LittleEndian.Uint32(box[4*i:]))) }
	r := image.Rectangle{Min: image.Pt(at(0), at(1)), Max: image.Pt(at(2)+1, at(3)+1)}
	if r.Dx() < 1 || r.Dy() < 1 || r.Dx() > largestSide || r.Dy() > largestSide {
		return image.Rectangle{}
	}
	return r
}

// planesOf returns the channels of a list, as far as it is one.
func planesOf(list []byte) (planes []Plane) {
	const rest = 16 // bytes of a channel after its name: the type, a flag, three bytes of nothing, and the sampling
	for len(list) > 1 {
		name, after, ok := bytes.Cut(list, []byte{0})
		if !ok || len(after) < rest {
			break
		}
		at := func(i int) uint32 { return binary.LittleEndian.Uint32(after[i:]) }
		planes = append(planes, Plane{Name: string(name), Type: Type(at(0)), Sampled: image.Pt(int(at(8)), int(at(12)))})
		list = after[rest:]
	}
	return planes
}

// Supported returns an error that wraps ErrUnsupported if Decode does not take such parts. Deep ones
// among flat ones are left out.
func Supported(parts []Part) error {
	if Version() == "" {
		return fmt.Errorf("%w: this program was built without OpenEXR", ErrUnsupported)
	}
	if !slices.ContainsFunc(parts, func(p Part) bool { return !p.Deep }) {
		return fmt.Errorf("%w: deep data", ErrUnsupported)
	}
	samples := 0
	for _, p := range parts {
		if !p.Deep {
			samples += len(p.Planes) * p.Window.Dx() * p.Window.Dy()
		}
		if samples > mostSamples {
			return fmt.Errorf("%w: more than %d samples", ErrUnsupported, mostSamples)
		}
		if !slices.IsSortedFunc(p.Planes, func(c, d Plane) int { return strings.Compare(c.Name, d.Name) }) {
			return fmt.Errorf("%w: channels out of order", ErrUnsupported)
		}
		for _, c := range p.Planes {
			if c.Sampled != image.Pt(1, 1) && !p.Deep {
				return fmt.Errorf("%w: channel %q has fewer samples than pixels", ErrUnsupported, c.Name)
			}
			if c.Type < Uint || c.Type > Float {
				return fmt.Errorf("%w: channel %q has samples of type %d", ErrUnsupported, c.Name, c.Type)
			}
		}
	}
	return nil
}

// Decode returns the parts of a file, with the samples of those that are not deep. Further threads share in
// the work; 0 for none.
func Decode(file []byte, threads int) ([]Part, error) {
	parts, err := Parts(file)
	if err == nil {
		err = Supported(parts)
	}
	if err != nil {
		return nil, fmt.Errorf("exr: %w", err)
	}
	for i := range parts {
		p := &parts[i]
		if p.Deep {
			continue
		}
		if err := p.decode(file, i, threads); err != nil {
			return nil, fmt.Errorf("exr: %w", err)
		}
	}
	return parts, nil
}

// decode sets the samples of part i of a file.
func (p *Part) decode(file []byte, i, threads int) error {
	raw := make([]byte, p.bytes())
	if err := decode(file, i, raw, threads); err != nil {
		return fmt.Errorf("part %d: %w", i, err)
	}
	p.unpack(raw)
	return nil
}

// CheckColour returns an error if the first of a file's parts has no colour, nor brightness, that decoders show.
func CheckColour(parts []Part) error {
	p := &parts[0]
	switch {
	case p.Deep:
		return fmt.Errorf("%w: deep data in the first part", ErrUnsupported)
	case len(p.colour()) == 0:
		var names []string
		for _, c := range p.Planes {
			names = append(names, c.Name)
		}
		return fmt.Errorf("%w: the first part has neither R, G and B nor Y; it has %s", ErrUnsupported, strings.Join(names, ", "))
	}
	return nil
}

// colour returns the planes of colour, or brightness, and alpha, by the names in Colour. The names may be in lower case if none
// are as they are there, as decoders have it. It returns none without R, G and B, or Y.
func (p *Part) colour() map[string]*Plane {
	for _, spelling := range []func(string) string{strings.Clone, strings.ToLower} {
		planes := map[string]*Plane{}
		for _, name := range Colour {
			if i := slices.IndexFunc(p.Planes, func(c Plane) bool { return c.Name == spelling(name) }); i >= 0 {
				planes[name] = &p.Planes[i]
			}
		}
		if planes["Y"] != nil || planes["R"] != nil && planes["G"] != nil && planes["B"] != nil {
			return planes
		}
	}
	return nil
}

// Decodable returns a file with the colour and alpha of a file's first part in a form that every decoder reads, if the file is
// of a kind that few do: compressed in a way such as DWA, of several parts, or with halves and floats in its colour; and the file
// itself otherwise. Further threads share in the work; 0 for none. The error wraps ErrUnsupported if the colour has whole numbers, or
// as Decode's does, and ErrMisread if the file itself is no substitute.
func Decodable(file []byte, threads int) ([]byte, error) {
	parts, err := Parts(file)
	if err != nil {
		return nil, err
	}
	p := &parts[0]
	colour := p.colour()
	types := map[Type]bool{}
	for _, c := range colour {
		types[c.Type] = true
	}
	sparse := slices.ContainsFunc(p.Planes, func(c Plane) bool { return c.Sampled != image.Pt(1, 1) })
	if len(parts) == 1 && !p.afterB44A && !sparse && len(types) < 2 {
		return file, nil
	}
	for name, c := range colour {
		if err == nil && c.Type == Uint {
			err = fmt.Errorf("%w: channel %q has whole numbers", ErrUnsupported, name)
		}
	}
	if err == nil {
		err = Supported(parts[:1])
	}
	if err == nil {
		err = p.decode(file, 0, threads)
	}
	if err != nil {
		if why := misread(parts); why != nil {
			err = fmt.Errorf("%w: %w", why, err)
		}
		return nil, fmt.Errorf("exr: %w", err)
	}
	kind := Half
	if types[Float] {
		kind = Float
	}
	var channels []Channel
	for name, c := range colour {
		channels = append(channels, Channel{name, kind, func(x, y int) float32 { return c.Value(y*p.Window.Dx() + x) }})
	}
	var out bytes.Buffer
	err = writeFrame(&out, frameOf{p.Window, p.Display, cmp.Or(p.aspect, 1), true}, channels)
	return out.Bytes(), err
}

// misread says what FFmpeg's decoder misreads of the first part; nil if it reads that, or refuses it.
func misread(parts []Part) error {
	p := &parts[0]
	switch {
	case len(parts) > 1 && p.tiled:
		return fmt.Errorf("%w: tiles in the first of several parts", ErrMisread)
	case p.afterB44A && slices.ContainsFunc(p.Planes, func(c Plane) bool { return c.Type != Half || len(c.Name) != 1 || !strings.Contains("RGBA", c.Name) }):
		return fmt.Errorf("%w: DWA, or a later compression, of more than R, G, B and A in halves", ErrMisread)
	}
	return nil
}

// Encode returns a file of parts that are not deep. Everything but their data windows and samples is that of
// the parts of the same numbers in the file model: channels, compression and attributes. It has lines from
// top to bottom, where model may have tiles. threads is as for Decode.
func Encode(model []byte, parts []Part, threads int) ([]byte, error) {
	var b bundle
	for i := range parts {
		if p := &parts[i]; !p.Deep {
			b.add(i, p)
		}
	}
	if len(b.which) == 0 {
		return nil, fmt.Errorf("exr: %w: no part but deep ones", ErrUnsupported)
	}
	file, err := b.encode(model, threads)
	if err != nil {
		return nil, fmt.Errorf("exr: %w", err)
	}
	return file, nil
}

// bundle is what the encoder takes: parts by their numbers, with their samples in one piece of memory.
type bundle struct {
	which   []int32
	windows []int32 // four for each part, with the last pixels
	offsets []uint64
	samples []byte
}

func (b *bundle) add(number int, p *Part) {
	w := p.Window
	b.which = append(b.which, int32(number))
	b.windows = append(b.windows, int32(w.Min.X), int32(w.Min.Y), int32(w.Max.X-1), int32(w.Max.Y-1))
	b.offsets = append(b.offsets, uint64(len(b.samples)))
	b.samples = p.pack(b.samples)
}

// bytes is what the part's samples take.
func (p *Part) bytes() (n int) {
	for _, c := range p.Planes {
		n += c.Type.size() * p.Window.Dx() * p.Window.Dy()
	}
	return n
}

func (p *Part) unpack(raw []byte) {
	for i := range p.Planes {
		c := &p.Planes[i]
		c.Bits = make([]uint32, p.Window.Dx()*p.Window.Dy())
		for k := range c.Bits {
			if c.Type == Half {
				c.Bits[k] = uint32(binary.NativeEndian.Uint16(raw[2*k:]))
			} else {
				c.Bits[k] = binary.NativeEndian.Uint32(raw[4*k:])
			}
		}
		raw = raw[c.Type.size()*len(c.Bits):]
	}
}

func (p *Part) pack(to []byte) []byte {
	to = slices.Grow(to, p.bytes())
	for _, c := range p.Planes {
		for _, bits := range c.Bits {
			if c.Type == Half {
				to = binary.NativeEndian.AppendUint16(to, uint16(bits))
			} else {
				to = binary.NativeEndian.AppendUint32(to, bits)
			}
		}
	}
	return to
}

// SetRate sets the frame rate that the parts of a file state to rate, in place. Files that state none
// stay as they are.
func SetRate(file []byte, rate *big.Rat) {
	if rate == nil || !rate.Num().IsInt64() || rate.Num().Int64() > math.MaxInt32 || rate.Denom().Int64() > math.MaxInt32 {
		return
	}
	r := reader{file}
	_, _, _ = r.headers() // up to where they are damaged
	headers := file[:len(file)-len(r.rest)]
	mark := []byte("framesPerSecond\x00rational\x00\x08\x00\x00\x00")
	for {
		i := bytes.Index(headers, mark)
		if i < 0 || len(headers) < i+len(mark)+8 {
			return
		}
		headers = headers[i+len(mark):]
		binary.LittleEndian.PutUint32(headers, uint32(rate.Num().Int64()))
		binary.LittleEndian.PutUint32(headers[4:], uint32(rate.Denom().Int64()))
	}
}
