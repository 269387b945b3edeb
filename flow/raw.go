package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// A raw file holds canonical fields of one size as they are in the memory of the machine that wrote
// it: the tag; four 32-bit words with the version of the format, the number of fields, their width
// and their height; the vectors of the fields row by row; a CRC-32C of everything before it. All
// but the tag has the machine's byte order, which the version word reveals.
const (
	rawTag     = "FLOW"
	rawVersion = 2
	rawHeader  = len(rawTag) + 4*4

	// rawChunk is the number of vectors that ReadFields reads before it checks them, few enough to
	// be still in the cache.
	rawChunk = 1 << 14
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteFields writes one or more canonical fields of one size in the format that ReadFields reads.
// It returns an error for a vector beyond the fields' Limit, such as Unknown.
func WriteFields(w io.Writer, fields ...Field) error {
	if err := writeFields(w, fields); err != nil {
		return fmt.Errorf("flow: write fields: %w", err)
	}
	return nil
}

func writeFields(w io.Writer, fields []Field) error {
	if len(fields) == 0 {
		return errors.New("none are given")
	}
	width, height := fields[0].Width, fields[0].Height
	for _, f := range fields {
		if f.Width != width || f.Height != height {
			return fmt.Errorf("sizes %dx%d and %dx%d differ", f.Width, f.Height, width, height)
		}
	}
	header, err := newRawHeader(len(fields), width, height)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	sum := crc32.Checksum(header, castagnoli)
	for _, f := range fields {
		rows, limit := f.Image, f.Limit()
		if f.Stride == width { // one long row
			rows.Width, rows.Height = width*height, 1
		}
		for y := range rows.Height {
			for part := range slices.Chunk(rows.Row(y), rawChunk) {
				if !within(part, limit) {
					return fmt.Errorf("%dx%d: a vector beyond ±%d/%d", width, height, limit, One)
				}
				sum = crc32.Update(sum, castagnoli, rawBytes(part))
				if _, err := w.Write(rawBytes(part)); err != nil {
					return err
				}
			}
		}
	}
	_, err = w.Write(binary.NativeEndian.AppendUint32(nil, sum))
	return err
}

// ReadFields reads n fields of width by height that WriteFields wrote, up to the end of r, into new
// memory that the fields share. It returns an error for anything else: a changed byte, a file from
// a machine with another byte order, a vector beyond the fields' Limit, data after the end. If the
// file is cut short, the error wraps io.ErrUnexpectedEOF.
func ReadFields(r io.Reader, n, width, height int) ([]Field, error) {
	fields, err := readFields(r, n, width, height)
	if err != nil {
		return nil, fmt.Errorf("flow: read fields: %w", err)
	}
	return fields, nil
}

func readFields(r io.Reader, n, width, height int) ([]Field, error) {
	want, err := newRawHeader(n, width, height)
	if err != nil {
		return nil, err
	}
	header := make([]byte, rawHeader)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, fmt.Errorf("header: %w", noEOF(err))
	}
	if err := compareRaw(header, want); err != nil {
		return nil, err
	}
	size := width * height
	all, fields := make([]Vec, n*size), make([]Field, n)
	for i := range fields {
		f := &fields[i]
		f.Width, f.Height, f.Stride = width, height, width
		f.Pix = all[i*size : (i+1)*size : (i+1)*size]
	}
	limit, sum := fields[0].Limit(), crc32.Checksum(header, castagnoli)
	for at := 0; at < len(all); at += rawChunk {
		part := all[at:min(at+rawChunk, len(all))]
		if _, err := io.ReadFull(r, rawBytes(part)); err != nil {
			return nil, fmt.Errorf("%d of %dx%d: after vector %d: %w", n, width, height, at, noEOF(err))
		}
		if !within(part, limit) {
			return nil, fmt.Errorf("%d of %dx%d: after vector %d: one beyond ±%d/%d", n, width, height, at, limit, One)
		}
		sum = crc32.Update(sum, castagnoli, rawBytes(part))
	}
	if _, err := io.ReadFull(r, header[:crc32.Size]); err != nil {
		return nil, fmt.Errorf("%d of %dx%d: checksum: %w", n, width, height, noEOF(err))
	}
	if want := binary.NativeEndian.Uint32(header); sum != want {
		return nil, fmt.Errorf("%d of %dx%d: checksum %08x, want %08x", n, width, height, sum, want)
	}
	if _, err := io.ReadFull(r, header[:1]); err == nil {
		return nil, fmt.Errorf("%d of %dx%d: something follows them", n, width, height)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return fields, nil
}

func newRawHeader(n, width, height int) ([]byte, error) {
	if n < 1 || width < 1 || height < 1 {
		return nil, fmt.Errorf("%d of %dx%d", n, width, height)
	}
	h := append(make([]byte, 0, rawHeader), rawTag...)
	for _, v := range [...]int{rawVersion, n, width, height} {
		h = binary.NativeEndian.AppendUint32(h, uint32(v))
	}
	return h, nil
}

// compareRaw returns an error that names the first difference between a header and the expected
// one.
func compareRaw(header, want []byte) error {
	if tag := header[:len(rawTag)]; string(tag) != rawTag {
		return fmt.Errorf("starts with %q, not %q: no fields", tag, rawTag)
	}
	var got, wanted [4]uint32
	for i := range got {
		got[i] = binary.NativeEndian.Uint32(header[len(rawTag)+4*i:])
		wanted[i] = binary.NativeEndian.Uint32(want[len(rawTag)+4*i:])
	}
	switch {
	case got[0] == rawVersion<<24:
		return errors.New("from a machine with another byte order")
	case got[0] != rawVersion:
		return fmt.Errorf("version %d of the format, want %d", got[0], rawVersion)
	case got != wanted:
		return fmt.Errorf("%d of %dx%d, want %d of %dx%d", got[1], got[2], got[3], wanted[1], wanted[2], wanted[3])
	}
	return nil
}

// rawBytes returns the memory of v.
func rawBytes(v []Vec) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(Vec{})))
}

// within reports whether all components are within ±limit, which must be positive.
func within(v []Vec, limit int32) bool {
	if short(rawBytes(v), bits.Len32(uint32(limit))-1) {
		return true
	}
	most := uint32(0)
	for _, u := range v {
		most = max(most, uint32(u.X+limit), uint32(u.Y+limit))
	}
	return most <= uint32(2*limit)
}

// short reports whether all components of vectors are from -2^n to 2^n-1, that is, whether all bits
// from n up are equal. That takes half the time of comparing each component.
func short(vectors []byte, n int) bool {
	var a, b, c, d uint64
	for ; len(vectors) >= 32; vectors = vectors[32:] {
		a |= steps(vectors)
		b |= steps(vectors[8:])
		c |= steps(vectors[16:])
		d |= steps(vectors[24:])
	}
	for ; len(vectors) >= 8; vectors = vectors[8:] {
		a |= steps(vectors)
	}
	above := uint64(math.MaxUint32) &^ (1<<(n+1) - 1)
	return (a|b|c|d)&(above|above<<32) == 0
}

// steps returns a word in which bit k is set if bits k and k-1 of the vector differ.
func steps(vector []byte) uint64 {
	both := binary.NativeEndian.Uint64(vector)
	return both ^ both<<1
}
