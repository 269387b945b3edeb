package still

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// The .npy format (NumPy Enhancement Proposal 1): a magic string, a version, the
// length of a header, and the header, which is a Python dictionary in text:
// the type of the elements, their order, and the shape of the array.

const npyMagic = "\x93NUMPY"

// npyHeader is the content of a header.
type npyHeader struct {
	descr   string
	fortran bool
	shape   []int
}

func decodeNPY(data []byte) (*Picture, error) {
	header, raster, err := splitNPY(data)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	h, err := parseNPY(header)
	if err != nil {
		return nil, fmt.Errorf("header %.80q: %w", header, err)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if strings.HasPrefix(h.descr, ">") {
		order = binary.BigEndian
	}
	bits := 32
	switch h.descr {
	case "<f4", ">f4":
	case "<f8", ">f8":
		bits = 64
	default:
		return nil, fmt.Errorf("elements of type %q: want float32 or float64; save the array's astype(\"float32\")", h.descr)
	}
	if len(h.shape) != 2 {
		return nil, fmt.Errorf("%d dimensions: want two, height and width; save one channel at a time", len(h.shape))
	}
	if h.fortran {
		return nil, errors.New("array in Fortran order: save its ascontiguousarray")
	}
	width, height := h.shape[1], h.shape[0]
	if err := checkSize(width, height, 1); err != nil {
		return nil, err
	}
	if have := len(raster) / (bits / 8); have < width*height {
		return nil, truncated(have, width*height)
	}
	p := newPicture(width, height, 1)
	p.FloatBits = bits
	pix := p.Channels[0].Pix
	for i := range pix {
		if bits == 32 {
			pix[i] = float64(math.Float32frombits(order.Uint32(raster[4*i:])))
		} else {
			pix[i] = math.Float64frombits(order.Uint64(raster[8*i:]))
		}
	}
	return p, nil
}

// splitNPY returns the header of an .npy file and the bytes behind it.
func splitNPY(data []byte) (header string, rest []byte, err error) {
	const fixed = len(npyMagic) + 2 // including the version
	if len(data) < fixed {
		return "", nil, io.ErrUnexpectedEOF
	}
	version, rest := data[len(npyMagic)], data[fixed:]
	size := 4
	if version == 1 {
		size = 2
	}
	if version < 1 || version > 3 {
		return "", nil, fmt.Errorf("version %d: want 1 to 3", version)
	}
	if len(rest) < size {
		return "", nil, io.ErrUnexpectedEOF
	}
	var length uint64
	for i := size - 1; i >= 0; i-- {
		length = length<<8 | uint64(rest[i])
	}
	rest = rest[size:]
	if length > uint64(len(rest)) {
		return "", nil, io.ErrUnexpectedEOF
	}
	return string(rest[:length]), rest[length:], nil
}

// parseNPY parses the dictionary in a header.
func parseNPY(text string) (h npyHeader, err error) {
	d := pyDict{text}
	if err := d.want("{"); err != nil {
		return h, err
	}
	seen := map[string]bool{}
	for !d.accept("}") {
		key, err := d.str()
		if err != nil {
			return h, fmt.Errorf("key: %w", err)
		}
		if err := d.want(":"); err != nil {
			return h, err
		}
		switch key {
		case "descr":
			h.descr, err = d.str()
		case "fortran_order":
			h.fortran, err = d.boolean()
		case "shape":
			h.shape, err = d.tuple()
		default:
			err = errors.New("unknown key")
		}
		if err == nil && seen[key] {
			err = errors.New("given twice")
		}
		if err != nil {
			return h, fmt.Errorf("%q: %w", key, err)
		}
		seen[key] = true
		if !d.accept(",") {
			if err := d.want("}"); err != nil {
				return h, err
			}
			break
		}
	}
	if strings.TrimSpace(d.rest) != "" {
		return h, fmt.Errorf("%.20q follows the dictionary", d.rest)
	}
	if len(seen) != 3 {
		return h, errors.New("want descr, fortran_order and shape")
	}
	return h, nil
}

// pyDict reads the tokens of a Python dictionary and skips white space.
type pyDict struct{ rest string }

// accept skips token if it comes next.
func (d *pyDict) accept(token string) bool {
	d.rest = strings.TrimLeft(d.rest, " \t\r\n")
	rest, ok := strings.CutPrefix(d.rest, token)
	if ok {
		d.rest = rest
	}
	return ok
}

func (d *pyDict) want(token string) error {
	if !d.accept(token) {
		return fmt.Errorf("want %q before %.20q", token, d.rest)
	}
	return nil
}

func (d *pyDict) str() (string, error) {
	for _, quote := range []string{"'", `"`} {
		if d.accept(quote) {
			s, rest, ok := strings.Cut(d.rest, quote)
			if !ok || strings.Contains(s, `\`) {
				break
			}
			d.rest = rest
			return s, nil
		}
	}
	return "", fmt.Errorf("want a plain string before %.20q", d.rest)
}

func (d *pyDict) boolean() (bool, error) {
	switch {
	case d.accept("True"):
		return true, nil
	case d.accept("False"):
		return false, nil
	}
	return false, fmt.Errorf("want True or False before %.20q", d.rest)
}

// tuple reads whole numbers below 2^31.
func (d *pyDict) tuple() (values []int, err error) {
	if err := d.want("("); err != nil {
		return nil, err
	}
	for !d.accept(")") {
		d.accept("") // to skip white space
		n := len(d.rest) - len(strings.TrimLeft(d.rest, "0123456789"))
		v, err := strconv.ParseUint(d.rest[:n], 10, 31)
		if err != nil {
			return nil, fmt.Errorf("want a whole number below 2^31 before %.20q", d.rest)
		}
		d.rest = strings.TrimPrefix(d.rest[n:], "L") // Python 2 wrote such suffixes
		values = append(values, int(v))
		if !d.accept(",") {
			return values, d.want(")")
		}
	}
	return values, nil
}

// encodeNPY writes version 1.0, little-endian, with float64 samples if p has such and
// float32 samples otherwise.
func encodeNPY(w io.Writer, p *Picture) error {
	bits := 32
	if p.Max == 0 {
		bits = p.FloatBits
	}
	if err := p.checkFinite(bits); err != nil {
		return err
	}
	width, height := p.Size()
	header := fmt.Sprintf("{'descr': '<f%d', 'fortran_order': False, 'shape': (%d, %d), }", bits/8, height, width)
	// Spaces and a newline align the samples to 64 bytes.
	const fixed, align = len(npyMagic) + 4, 64
	header += strings.Repeat(" ", align-1-(fixed+len(header))%align) + "\n"
	bw := bufio.NewWriter(w)
	_, _ = bw.WriteString(npyMagic + "\x01\x00") // Flush returns the error
	_, _ = bw.Write([]byte{byte(len(header)), byte(len(header) >> 8)})
	_, _ = bw.WriteString(header)
	var b [8]byte
	for y := range height {
		for _, v := range p.Channels[0].Row(y) {
			if bits == 32 {
				binary.LittleEndian.PutUint32(b[:], math.Float32bits(float32(v)))
			} else {
				binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
			}
			_, _ = bw.Write(b[:bits/8])
		}
	}
	return bw.Flush()
}
