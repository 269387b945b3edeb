package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
)

// volume is an array of values; x varies fastest.
type volume struct {
	size   [3]int // along x, y and z
	values []float64
}

var (
	descr   = regexp.MustCompile(`'descr': *'([<|])([fu])([1248])'`)
	fortran = regexp.MustCompile(`'fortran_order': *False`)
	shape   = regexp.MustCompile(`'shape': *\((\d+), *(\d+), *(\d+),? *\)`)
)

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
	if len(data) < 12 || !bytes.HasPrefix(data, []byte("\x93NUMPY")) {
		return v, fmt.Errorf("read %q: not a .npy file", name)
	}
	start, length := 10, int(binary.LittleEndian.Uint16(data[8:]))
	if data[6] > 1 {
		start, length = 12, int(binary.LittleEndian.Uint32(data[8:]))
	}
	if length > len(data)-start {
		return v, fmt.Errorf("read %q: the header is cut off", name)
	}
	header := data[start : start+length]
	d, s := descr.FindSubmatch(header), shape.FindSubmatch(header)
	if d == nil || s == nil || !fortran.Match(header) {
		return v, fmt.Errorf("read %q: %s: want a three-dimensional array in C order, of little-endian floats or of unsigned integers", name, bytes.TrimSpace(header))
	}
	n := 1
	for i := range v.size {
		v.size[2-i], _ = strconv.Atoi(string(s[1+i]))
		if v.size[2-i] < 1 || v.size[2-i] > maxValues/n {
			return v, fmt.Errorf("read %q: a volume of %s by %s by %s values is empty or too large", name, s[1], s[2], s[3])
		}
		n *= v.size[2-i]
	}
	kind, bytesEach := string(d[2])+string(d[3]), int(d[3][0]-'0')
	data = data[start+length:]
	if len(data) < n*bytesEach {
		return v, fmt.Errorf("read %q: %d bytes of values, want %d", name, len(data), n*bytesEach)
	}
	v.values = make([]float64, n)
	for i := range v.values {
		b := data[i*bytesEach:]
		switch kind {
		case "f4":
			v.values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case "f8":
			v.values[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case "u1":
			v.values[i] = float64(b[0])
		case "u2":
			v.values[i] = float64(binary.LittleEndian.Uint16(b))
		default:
			return v, fmt.Errorf("read %q: values of type %s: want f4, f8, u1 or u2", name, kind)
		}
	}
	return v, nil
}
