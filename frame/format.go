package frame

import "fmt"

// Format describes a planar sample format. Samples of more than eight bits
// are stored in 16-bit words of the machine's byte order, least significant
// bits first.
type Format struct {
	Name  string // FFmpeg's name, such as "yuv420p10le"
	Depth int    // significant bits per sample, 8 to 16
	// Planes counts the planes: 1 gray, 2 gray and alpha, 3 colour, 4 colour
	// and alpha. Alpha is always the last.
	Planes int
	// ChromaX and ChromaY are log2 of the subsampling of planes 1 and 2.
	ChromaX, ChromaY int
	// RGB is set where the planes are G, B, R in FFmpeg's order rather than luma
	// and chroma.
	RGB bool
}

// Bytes is the size of a stored sample.
func (f Format) Bytes() int {
	if f.Depth > 8 {
		return 2
	}
	return 1
}

// Max is the largest sample value.
func (f Format) Max() int { return 1<<f.Depth - 1 }

// Alpha says whether the last plane is an alpha channel.
func (f Format) Alpha() bool { return f.Planes == 2 || f.Planes == 4 }

// Subsampling returns log2 of plane i's horizontal and vertical subsampling.
func (f Format) Subsampling(i int) (sx, sy int) {
	if f.Planes >= 3 && (i == 1 || i == 2) {
		return f.ChromaX, f.ChromaY
	}
	return 0, 0
}

// PlaneSize returns the size in samples of plane i of a width by height picture;
// odd sizes round up, as FFmpeg's do.
func (f Format) PlaneSize(i, width, height int) (w, h int) {
	sx, sy := f.Subsampling(i)
	return (width + 1<<sx - 1) >> sx, (height + 1<<sy - 1) >> sy
}

func (f Format) String() string {
	return fmt.Sprintf("%s (%d planes, %d bit)", f.Name, f.Planes, f.Depth)
}

// Transfer says which kind of curve leads from samples to light.
type Transfer uint8

// The kinds of curves.
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
