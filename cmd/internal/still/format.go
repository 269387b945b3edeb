package still

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
)

// format describes a file format.
type format struct {
	name       string
	extensions []string
	// match reports whether a file has this format. head holds its first bytes, at
	// least sniffed of them unless the file is shorter.
	match  func(head string) bool
	decode func(data []byte) (*Picture, error)
	encode func(w io.Writer, p *Picture) error
	// channels lists the numbers of channels that the format can hold.
	channels []int
	// float reports whether samples are written as floating-point numbers.
	float bool
}

// sniffed is the number of bytes that identify a format.
const sniffed = 8

var formats = []format{
	{"PGM", []string{".pgm"}, magic("P2", "P5"), decodePNM, encodePNM, []int{1}, false},
	{"PPM", []string{".ppm"}, magic("P3", "P6"), decodePNM, encodePNM, []int{3}, false},
	{"PNM", []string{".pnm"}, magic(), decodePNM, encodePNM, []int{1, 3}, false},
	{"PNG", []string{".png"}, magic("\x89PNG\r\n\x1a\n"), decodePNG, encodePNG, []int{1, 3, 4}, false},
	{"TIFF", []string{".tif", ".tiff"}, magic("II*\x00", "MM\x00*"), decodeTIFF, encodeTIFF, []int{1, 3, 4}, false},
	{"PFM", []string{".pfm"}, magic("Pf", "PF"), decodePFM, encodePFM, []int{1, 3}, true},
	{"NumPy", []string{".npy"}, magic("\x93NUMPY"), decodeNPY, encodeNPY, []int{1}, true},
}

func magic(prefixes ...string) func(string) bool {
	return func(head string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(head, p) {
				return true
			}
		}
		return false
	}
}

const readable = "PGM, PPM, PNG, TIFF, PFM or .npy"

// formatOf returns the format for a file name's extension.
func formatOf(name string) (*format, error) {
	ext := strings.ToLower(filepath.Ext(name))
	for i, f := range formats {
		for _, e := range f.extensions {
			if e == ext {
				return &formats[i], nil
			}
		}
	}
	return nil, fault.New(fault.Usage, "output %q: its extension names no format: want .pgm, .ppm, .pnm, .png, .tif, .pfm or .npy", name)
}

// Read reads the picture in a file; see [Decode].
func Read(name string) (*Picture, error) {
	f, err := plainfile.Open(name, maxFile)
	if err != nil {
		return nil, fault.New(fault.NoInput, "input %q: %w", name, fault.Plain(err))
	}
	defer f.Close()
	p, err := Decode(f)
	if err != nil {
		return nil, fault.New(fault.KindOf(err), "read %q: %w", name, err)
	}
	return p, nil
}

// maxFile bounds the bytes read from a file: MaxSamples of eight bytes, and a header.
const maxFile = 8*MaxSamples + 1<<20

// Decode reads a picture in the format that its first bytes identify:
//
//   - PGM and PPM (P2, P3, P5, P6) with any maximum up to 65535. Of several
//     pictures in a file it reads the first.
//   - PNG. Fewer than 8 bits, and palettes, become 8 bit; gray with alpha becomes
//     RGB with alpha.
//   - TIFF of 1, 8 and 16 bit, gray, RGB or with a palette. If colour is multiplied
//     by alpha, Decode divides it. Float samples are not supported.
//   - PFM, gray or RGB.
//   - NumPy arrays of float32 or float64 with two dimensions, height and width, in
//     C order.
//
// Samples may be infinite or NaN in the last two. Damaged data, and pictures of more
// than [MaxSamples], are errors of the kind fault.BadData; errors of r are of the kind
// fault.NoInput.
func Decode(r io.Reader) (*Picture, error) {
	br := bufio.NewReader(r)
	head, err := br.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.NoInput, "%w", err)
	}
	for _, f := range formats {
		if !f.match(string(head)) {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(br, maxFile+1))
		if err != nil {
			return nil, fault.New(fault.NoInput, "%w", err)
		}
		if len(data) > maxFile {
			return nil, fault.New(fault.BadData, "more than %d bytes, which no picture that fits has", maxFile)
		}
		p, err := f.decode(data)
		if err != nil {
			return nil, fault.New(fault.BadData, "%s: %w", f.name, err)
		}
		return p, nil
	}
	return nil, fault.New(fault.BadData, "starts with %q: no picture that is known here; want %s", head, readable)
}

// holds returns an error if f cannot hold p.
func (f *format) holds(p *Picture) error {
	fits := false
	for _, n := range f.channels {
		fits = fits || n == len(p.Channels)
	}
	var other string
	switch {
	case p.Max == 0 && !f.float:
		return fmt.Errorf("%s holds no floating-point samples: take .pfm or .npy", f.name)
	case fits:
		return nil
	case f.float && len(p.Channels) == 3:
		other = ".pfm"
	case f.float:
		return fmt.Errorf("%s holds no alpha: take .png or .tif", f.name)
	case len(p.Channels) == 1:
		other = ".pgm"
	case len(p.Channels) == 3:
		other = ".ppm"
	default:
		other = ".png or .tif"
	}
	return fmt.Errorf("%s does not hold %d channels: take %s", f.name, len(p.Channels), other)
}
