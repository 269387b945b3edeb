// Package exr writes OpenEXR pictures with channels of any names: scan lines in one part, compressed
// by zip. Built with the tag openexr, it also decodes and encodes flat parts by OpenEXR's C++ library. The
// format is that of "OpenEXR File Layout" (openexr.com, version 2).
package exr

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"math"
	"slices"

	"retime/frame"
)

// Type is the type of a channel's samples.
type Type int32

// The types.
const (
	Half  Type = 1 // 16 bits of IEEE 754
	Float Type = 2 // 32 bits
)

// Channel is one channel of a picture.
type Channel struct {
	Name   string // a layer comes before a dot, as in forward.u
	Type   Type
	Sample func(x, y int) float32
}

const (
	magic        = 20000630
	version      = 2
	zip          = 3
	chunkLines   = 16 // of a chunk compressed by zip
	longestName  = 31 // without a flag in the version
	largestSide  = 1 << 20
	maxLineBytes = 1 << 30
)

// Write writes a picture of width by height pixels. The channels may be in any order, but must have
// different names of 1 to 31 bytes. Samples are asked for line by line.
func Write(w io.Writer, width, height int, channels []Channel) error {
	r := image.Rect(0, 0, width, height)
	return writeFrame(w, frameOf{window: r, display: r, aspect: 1}, channels)
}

// frameOf says where the pixels of a picture lie, and how wide they are for their height.
type frameOf struct {
	window, display image.Rectangle
	aspect          float32
	stored          bool // without compression, which takes longer than all else
}

func writeFrame(w io.Writer, f frameOf, channels []Channel) error {
	width, height := f.window.Dx(), f.window.Dy()
	channels = slices.SortedFunc(slices.Values(channels), func(a, b Channel) int { return cmp.Compare(a.Name, b.Name) })
	lineBytes, err := check(width, height, channels)
	if err != nil {
		return fmt.Errorf("exr: %w", err)
	}
	header := header(f, channels)
	chunks := (height + chunkLines - 1) / chunkLines
	table := make([]byte, 0, 8*chunks)
	var body bytes.Buffer
	raw := make([]byte, 0, chunkLines*lineBytes)
	for y := 0; y < height; y += chunkLines {
		raw = raw[:0]
		for line := y; line < min(y+chunkLines, height); line++ {
			raw = appendLine(raw, channels, width, line)
		}
		packed := raw
		if !f.stored {
			if packed, err = pack(raw); err != nil {
				return fmt.Errorf("exr: %w", err)
			}
		}
		table = binary.LittleEndian.AppendUint64(table, uint64(len(header)+8*chunks+body.Len()))
		var head [8]byte
		binary.LittleEndian.PutUint32(head[:], uint32(f.window.Min.Y+y))
		binary.LittleEndian.PutUint32(head[4:], uint32(len(packed)))
		body.Write(head[:])
		body.Write(packed)
	}
	for _, part := range [][]byte{header, table, body.Bytes()} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// check returns how many bytes a line has.
func check(width, height int, channels []Channel) (lineBytes int, err error) {
	if width < 1 || height < 1 || max(width, height) > largestSide {
		return 0, fmt.Errorf("%dx%d pixels: want from 1 to %d a side", width, height, largestSide)
	}
	for i, c := range channels {
		switch {
		case len(c.Name) < 1 || len(c.Name) > longestName:
			return 0, fmt.Errorf("channel %q: want a name of 1 to %d bytes", c.Name, longestName)
		case i > 0 && c.Name == channels[i-1].Name:
			return 0, fmt.Errorf("two channels are called %q", c.Name)
		case c.Type != Half && c.Type != Float:
			return 0, fmt.Errorf("channel %q: no type %d", c.Name, c.Type)
		}
		lineBytes += width * 2 * int(c.Type)
	}
	if len(channels) == 0 || lineBytes > maxLineBytes/chunkLines {
		return 0, fmt.Errorf("%d channels of %d pixels a line", len(channels), width)
	}
	return lineBytes, nil
}

func header(f frameOf, channels []Channel) []byte {
	le := binary.LittleEndian
	h := le.AppendUint32(le.AppendUint32(nil, magic), version)
	attribute := func(name, kind string, value []byte) {
		h = append(append(h, name...), 0)
		h = append(append(h, kind...), 0)
		h = append(le.AppendUint32(h, uint32(len(value))), value...)
	}
	var list []byte
	for _, c := range channels {
		list = append(append(list, c.Name...), 0)
		list = le.AppendUint32(list, uint32(c.Type))
		list = append(list, 0, 0, 0, 0)
		list = le.AppendUint32(le.AppendUint32(list, 1), 1)
	}
	box := func(r image.Rectangle) (b []byte) {
		for _, v := range []int{r.Min.X, r.Min.Y, r.Max.X - 1, r.Max.Y - 1} {
			b = le.AppendUint32(b, uint32(int32(v)))
		}
		return b
	}
	one := le.AppendUint32(nil, math.Float32bits(1))
	attribute("channels", "chlist", append(list, 0))
	attribute("compression", "compression", []byte{zip})
	attribute("dataWindow", "box2i", box(f.window))
	attribute("displayWindow", "box2i", box(f.display))
	attribute("lineOrder", "lineOrder", []byte{0})
	attribute("pixelAspectRatio", "float", le.AppendUint32(nil, math.Float32bits(f.aspect)))
	attribute("screenWindowCenter", "v2f", make([]byte, 8))
	attribute("screenWindowWidth", "float", one)
	return append(h, 0)
}

// appendLine appends the samples of line y, channel by channel.
func appendLine(to []byte, channels []Channel, width, y int) []byte {
	for _, c := range channels {
		for x := range width {
			if v := c.Sample(x, y); c.Type == Half {
				to = binary.LittleEndian.AppendUint16(to, frame.HalfBits(v))
			} else {
				to = binary.LittleEndian.AppendUint32(to, math.Float32bits(v))
			}
		}
	}
	return to
}

// pack compresses the lines of a chunk: their even bytes come before their odd ones, each as the
// difference from the one before and deflated. What grows stays as it is.
func pack(raw []byte) ([]byte, error) {
	half := (len(raw) + 1) / 2
	sorted := make([]byte, len(raw))
	for i, b := range raw {
		sorted[i/2+i%2*half] = b
	}
	for i := len(sorted) - 1; i > 0; i-- {
		sorted[i] -= sorted[i-1] + 128
	}
	var out bytes.Buffer
	z, err := zlib.NewWriterLevel(&out, zlib.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(sorted); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if out.Len() >= len(raw) {
		return raw, nil
	}
	return out.Bytes(), nil
}
