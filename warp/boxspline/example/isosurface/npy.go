package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"retime/internal/npy"
)

// volume is an array of values; x varies fastest.
type volume struct {
	size   [3]int // along x, y and z
	values []float64
}

// maxValues bounds the size of a volume.
const maxValues = 1 << 30

// readNPY reads a three-dimensional .npy array of 8-bit or 16-bit unsigned integers or of floats.
// The last index is x.
func readNPY(name string) (volume, error) {
	var v volume
	data, err := os.ReadFile(name)
	if err != nil {
		return v, err
	}
	elements := bytes.NewBuffer(data)
	h, err := npy.ReadHeader(elements)
	if err != nil {
		return v, fmt.Errorf("read %q: %w", name, err)
	}
	if len(h.Shape) != 3 || h.Fortran {
		return v, fmt.Errorf("read %q: have %v: want a three-dimensional array in C order", name, h)
	}
	n := 1
	for i, size := range h.Shape {
		if size < 1 || size > maxValues/n {
			return v, fmt.Errorf("read %q: a volume of the shape %v is empty or too large", name, h.Shape)
		}
		v.size[2-i] = size
		n *= size
	}
	bytesEach := map[string]int{"<f4": 4, "<f8": 8, "|u1": 1, "<u2": 2}[h.Type]
	if bytesEach == 0 {
		return v, fmt.Errorf("read %q: values of type %s: want <f4, <f8, |u1 or <u2", name, h.Type)
	}
	if data = elements.Bytes(); len(data) < n*bytesEach {
		return v, fmt.Errorf("read %q: %d bytes of values, want %d", name, len(data), n*bytesEach)
	}
	v.values = make([]float64, n)
	for i := range v.values {
		b := data[i*bytesEach:]
		switch h.Type {
		case "<f4":
			v.values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case "<f8":
			v.values[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case "|u1":
			v.values[i] = float64(b[0])
		case "<u2":
			v.values[i] = float64(binary.LittleEndian.Uint16(b))
		}
	}
	return v, nil
}
