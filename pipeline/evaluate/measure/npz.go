package measure

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

var shapeOfArray = regexp.MustCompile(`'shape': \(([0-9, ]*)\)`)

// readNPY reads an array of up to most numbers in NumPy's format, version 1 to 3.
func readNPY(r io.Reader, most int) (a array, err error) {
	var begin [8]byte // the signature and the version
	if _, err := io.ReadFull(r, begin[:]); err != nil || string(begin[:6]) != "\x93NUMPY" {
		return a, errors.New("not a NumPy array")
	}
	size := make([]byte, 4)
	if begin[6] == 1 {
		size = size[:2]
	}
	if _, err := io.ReadFull(r, size); err != nil {
		return a, err
	}
	n := binary.LittleEndian.Uint32(append(size, 0, 0)[:4])
	if n > 1<<16 {
		return a, fmt.Errorf("a header of %d bytes", n)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return a, err
	}
	shape := shapeOfArray.FindSubmatch(header)
	if shape == nil || !bytes.Contains(header, []byte("'descr': '<f4'")) || !bytes.Contains(header, []byte("'fortran_order': False")) {
		return a, fmt.Errorf("want 32-bit floats in C's order, have %s", bytes.TrimSpace(header))
	}
	count := 1
	for text := range strings.SplitSeq(string(shape[1]), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue // after the last one
		}
		d, err := strconv.Atoi(text)
		if err != nil || d < 1 || d > most/count {
			return a, fmt.Errorf("shape (%s) is out of range", shape[1])
		}
		a.shape, count = append(a.shape, d), count*d
	}
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
