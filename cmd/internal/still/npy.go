package still

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"retime/internal/npy"
)

func decodeNPY(data []byte) (*Picture, error) {
	raster := bytes.NewBuffer(data)
	h, err := npy.ReadHeader(raster)
	if err != nil {
		return nil, err
	}
	data = raster.Bytes()
	order := binary.ByteOrder(binary.LittleEndian)
	if strings.HasPrefix(h.Type, ">") {
		order = binary.BigEndian
	}
	bits := 32
	switch h.Type {
	case "<f4", ">f4":
	case "<f8", ">f8":
		bits = 64
	default:
		return nil, fmt.Errorf("elements of type %q: want float32 or float64; save the array's astype(\"float32\")", h.Type)
	}
	if len(h.Shape) != 2 {
		return nil, fmt.Errorf("%d dimensions: want two, height and width; save one channel at a time", len(h.Shape))
	}
	if h.Fortran {
		return nil, errors.New("array in Fortran order: save its ascontiguousarray")
	}
	width, height := h.Shape[1], h.Shape[0]
	if err := checkSize(width, height, 1); err != nil {
		return nil, err
	}
	if have := len(data) / (bits / 8); have < width*height {
		return nil, truncated(have, width*height)
	}
	p := newPicture(width, height, 1)
	p.FloatBits = bits
	pix := p.Channels[0].Pix
	for i := range pix {
		if bits == 32 {
			pix[i] = float64(math.Float32frombits(order.Uint32(data[4*i:])))
		} else {
			pix[i] = math.Float64frombits(order.Uint64(data[8*i:]))
		}
	}
	return p, nil
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
	const fixed, align = len(npy.Magic) + 4, 64
	header += strings.Repeat(" ", align-1-(fixed+len(header))%align) + "\n"
	bw := bufio.NewWriter(w)
	_, _ = bw.WriteString(npy.Magic + "\x01\x00") // Flush returns the error
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
