package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The .flo format of the Middlebury database (Baker et al., "A Database and Evaluation
// Methodology for Optical Flow", IJCV 2011) is little-endian: the float 202021.25,
// whose bytes read "PIEH", the width and the height as 32-bit integers, then u and v of
// each pixel as 32-bit floats, row by row. A component beyond ±1e9 marks the vector as
// unknown.
const (
	floTag     = "PIEH"
	floHeader  = 12
	floUnknown = 1e10
	// floKnown is the largest magnitude of a known component.
	floKnown = 1e9

	// maxFloSide is the format's limit. maxFloPixels, 16 times 4K, limits a field to 1
	// GiB of memory.
	maxFloSide   = 99999
	maxFloPixels = 1 << 27

	// floChunk is the number of vectors in a read or write.
	floChunk = 1 << 14
)

// ReadFlo reads a Middlebury .flo file and nothing after it. It rounds vectors to 1/256
// pixel and clamps them to the field's Limit, which makes them canonical. Vectors that
// the file marks as unknown, and NaN, become Unknown. A side may have up to 99999
// pixels and the picture up to 2^27. If the file is cut short, the error wraps
// io.ErrUnexpectedEOF. ReadFlo allocates memory only as data arrives.
func ReadFlo(r io.Reader) (Field, error) {
	f, err := readFlo(r)
	if err != nil {
		return Field{}, fmt.Errorf("flow: read .flo: %w", err)
	}
	return f, nil
}

func readFlo(r io.Reader) (Field, error) {
	w, h, err := readFloHeader(r)
	if err != nil {
		return Field{}, err
	}
	f := Field{}
	f.Width, f.Height, f.Stride = w, h, w
	vectors := &floReader{r: r, limit: f.Limit()}
	for n := 0; n < w*h; n = len(f.Pix) {
		f.Pix = append(f.Pix, make([]Vec, min(floChunk, w*h-n))...)
		if err := vectors.read(f.Pix[n:]); err != nil {
			return Field{}, fmt.Errorf("%dx%d: after vector %d: %w", w, h, n, err)
		}
	}
	return f, nil
}

func readFloHeader(r io.Reader) (w, h int, err error) {
	var header [floHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, 0, fmt.Errorf("header: %w", noEOF(err))
	}
	if tag := string(header[:4]); tag != floTag {
		return 0, 0, fmt.Errorf("starts with %q, not %q: not a .flo file, or not little-endian", tag, floTag)
	}
	w = int(int32(binary.LittleEndian.Uint32(header[4:])))
	h = int(int32(binary.LittleEndian.Uint32(header[8:])))
	return w, h, checkFlo(w, h)
}

// floReader reads canonical vectors, up to floChunk at a time.
type floReader struct {
	r       io.Reader
	limit   int32
	bytes   [8 * floChunk]byte
	vectors [floChunk][2]float32
}

func (f *floReader) read(dst []Vec) error {
	raw := f.bytes[:8*len(dst)]
	if _, err := io.ReadFull(f.r, raw); err != nil {
		return noEOF(err)
	}
	vectors, known := f.vectors[:len(dst)], true
	for i := range vectors {
		both := binary.LittleEndian.Uint64(raw[8*i:])
		x, y := math.Float32frombits(uint32(both)), math.Float32frombits(uint32(both>>32))
		vectors[i] = [2]float32{x, y}
		known = known && knownFlo(x) && knownFlo(y)
	}
	Quantize(dst, vectors, One, f.limit)
	if known {
		return nil
	}
	for i, v := range vectors {
		if !knownFlo(v[0]) || !knownFlo(v[1]) {
			dst[i] = Unknown
		}
	}
	return nil
}

// knownFlo returns false for NaN.
func knownFlo(v float32) bool { return v >= -floKnown && v <= floKnown }

func checkFlo(w, h int) error {
	if w < 1 || h < 1 || w > maxFloSide || h > maxFloSide || int64(w)*int64(h) > maxFloPixels {
		return fmt.Errorf("size %dx%d is not within 1x1 to %d in a side and %d pixels", w, h, maxFloSide, maxFloPixels)
	}
	return nil
}

// noEOF turns io.EOF into io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// WriteFlo writes f as a Middlebury .flo file. Components of up to 65536 pixels are
// exact in the file; Unknown is 1e10 there.
func WriteFlo(w io.Writer, f Field) error {
	if err := writeFlo(w, f); err != nil {
		return fmt.Errorf("flow: write .flo: %w", err)
	}
	return nil
}

func writeFlo(w io.Writer, f Field) error {
	if err := checkFlo(f.Width, f.Height); err != nil {
		return err
	}
	buf := make([]byte, 0, 8*floChunk)
	buf = append(buf, floTag...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(f.Width))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(f.Height))
	for y := range f.Height {
		for _, v := range f.Row(y) {
			if len(buf)+8 > cap(buf) {
				if _, err := w.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
			x, y := float32(v.X)/One, float32(v.Y)/One
			if !v.Known() {
				x, y = floUnknown, floUnknown
			}
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(y))
		}
	}
	_, err := w.Write(buf)
	return err
}
