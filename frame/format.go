package frame

import "fmt"

// Format describes a planar sample format. A format of more than eight bits stores each
// sample in the least significant bits of a 16-bit word of the machine's byte order.
type Format struct {
	Name  string // FFmpeg's name, such as "yuv420p10le"
	Depth int    // significant bits per sample, 8 to 16
	// Planes counts the planes: 1 gray, 2 gray and alpha, 3 colour, 4 colour
	// and alpha. Alpha is always the last.
	Planes int
	// ChromaX and ChromaY are log2 of the subsampling of planes 1 and 2.
	ChromaX, ChromaY int
	// RGB is set if the planes are green, blue and red, in FFmpeg's order, rather than
	// luma and chroma.
	RGB bool
}

// Bytes returns the size of a stored sample in bytes, 1 or 2.
func (f Format) Bytes() int {
	if f.Depth > 8 {
		return 2
	}
	return 1
}

// Max returns the largest sample value.
func (f Format) Max() int { return 1<<f.Depth - 1 }

// Alpha reports whether the last plane is an alpha channel.
func (f Format) Alpha() bool { return f.Planes == 2 || f.Planes == 4 }

// Subsampling returns log2 of the horizontal and vertical subsampling of plane i.
func (f Format) Subsampling(i int) (sx, sy int) {
	if f.Planes >= 3 && (i == 1 || i == 2) {
		return f.ChromaX, f.ChromaY
	}
	return 0, 0
}

// PlaneSize returns the size in samples of plane i of a picture of width by height. It
// rounds odd sizes up, as FFmpeg does.
func (f Format) PlaneSize(i, width, height int) (w, h int) {
	sx, sy := f.Subsampling(i)
	return (width + 1<<sx - 1) >> sx, (height + 1<<sy - 1) >> sy
}

func (f Format) String() string {
	return fmt.Sprintf("%s (%d planes, %d bit)", f.Name, f.Planes, f.Depth)
}

// Transfer names the kind of curve that turns samples into light.
type Transfer uint8

// The transfer curves that a frame may have.
const (
	SDR Transfer = iota // a gamma of about two, or none
	PQ                  // SMPTE ST 2084, the perceptual quantiser
	HLG                 // ARIB STD-B67, hybrid log-gamma
)

func (t Transfer) String() string {
	switch t {
	case PQ:
		return "PQ"
	case HLG:
		return "HLG"
	}
	return "SDR"
}
