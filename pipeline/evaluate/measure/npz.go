package measure

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"retime/internal/npy"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
)

// array is a NumPy array, in C order.
type array struct {
	shape  []int
	values []float32
}

// Bounds on the bytes of a file and on the numbers in all its arrays.
const (
	mostBytes   = 1 << 28
	mostNumbers = 1 << 24
)

// readNPZ reads the named arrays of 32-bit floats from a file that NumPy's savez wrote. Errors are
// of kind fault.NoInput or fault.BadData.
func readNPZ(file string, names []string) (map[string]array, error) {
	f, err := plainfile.Open(file, mostBytes)
	if err != nil {
		return nil, fault.New(fault.NoInput, "%w", err)
	}
	defer f.Close()
	z, err := zip.NewReader(f, f.Size())
	if err != nil {
		return nil, fault.New(fault.BadData, "%s: %w", file, err)
	}
	arrays, left := map[string]array{}, mostNumbers
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if _, twice := arrays[name]; twice || !slices.Contains(names, name) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, fault.New(fault.BadData, "%s: %s: %w", file, f.Name, err)
		}
		a, err := readNPY(r, left)
		r.Close()
		if err != nil {
			return nil, fault.New(fault.BadData, "%s: %s: %w", file, f.Name, err)
		}
		arrays[name] = a
		left -= len(a.values)
	}
	return arrays, nil
}

// readNPY reads an array of up to most numbers.
func readNPY(r io.Reader, most int) (a array, err error) {
	h, err := npy.ReadHeader(r)
	if err != nil {
		return a, err
	}
	if h.Type != "<f4" || h.Fortran {
		return a, fmt.Errorf("have %v: want type \"<f4\" (32-bit floats) in C order", h)
	}
	count := 1
	for _, d := range h.Shape {
		if d < 1 || d > most/count {
			return a, fmt.Errorf("shape %v is out of range", h.Shape)
		}
		count *= d
	}
	a.shape = h.Shape
	data := make([]byte, 4*count)
	if _, err := io.ReadFull(r, data); err != nil {
		return a, err
	}
	a.values = make([]float32, count)
	for i := range a.values {
		a.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return a, nil
}
