package exr

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Header is what the header of a picture's first part says.
type Header struct {
	Further    []string // channels besides colour and alpha, in the file's order
	Half       bool     // colour and alpha are half floats
	Attributes []string // names, but for those that say how the file is laid out, or who wrote it
	Cropped    bool     // the data window is not the display window
	Parts      bool     // the file may have several parts
}

// ErrFormat is wrapped by errors about what is no OpenEXR header.
var ErrFormat = errors.New("no OpenEXR header")

const (
	multipart     = 0x1000
	mostAttribute = 1 << 20 // bytes
	mostNames     = 1 << 12
)

// own are the attributes that a writer sets anew.
var own = strings.Fields("channels compression dataWindow displayWindow lineOrder pixelAspectRatio screenWindowCenter screenWindowWidth tiles name type version chunkCount dwaCompressionLevel framesPerSecond gamma writer")

// ReadHeader reads the header of a picture's first part. With an error, it returns what came before.
func ReadHeader(from io.Reader) (h Header, err error) {
	r := bufio.NewReader(from)
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil || binary.LittleEndian.Uint32(start[:]) != magic {
		return h, ErrFormat
	}
	h.Parts = binary.LittleEndian.Uint32(start[4:])&multipart != 0
	var windows [2][]byte
	for range mostNames {
		name, err := text(r)
		if err != nil {
			return h, err
		}
		if name == "" {
			h.Cropped = !bytes.Equal(windows[0], windows[1])
			return h, nil
		}
		value, err := attribute(r)
		if err != nil {
			return h, fmt.Errorf("%w: attribute %q", err, name)
		}
		switch name {
		case "channels":
			h.Further, h.Half = channelsOf(value)
		case "dataWindow":
			windows[0] = value
		case "displayWindow":
			windows[1] = value
		}
		if !slices.Contains(own, name) {
			h.Attributes = append(h.Attributes, name)
		}
	}
	return h, ErrFormat
}

// text reads up to a zero byte.
func text(r *bufio.Reader) (string, error) {
	var b []byte
	for len(b) < 256 {
		c, err := r.ReadByte()
		if err != nil {
			return "", ErrFormat
		}
		if c == 0 {
			return string(b), nil
		}
		b = append(b, c)
	}
	return "", ErrFormat
}

// attribute reads an attribute's type and value, and returns the value.
func attribute(r *bufio.Reader) ([]byte, error) {
	if _, err := text(r); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, ErrFormat
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > mostAttribute {
		return nil, ErrFormat
	}
	value := make([]byte, n)
	if _, err := io.ReadFull(r, value); err != nil {
		return nil, ErrFormat
	}
	return value, nil
}

// channelsOf returns the channels of a list besides colour and alpha; half is set if those are half floats.
func channelsOf(list []byte) (further []string, half bool) {
	const rest = 16 // bytes of a channel after its name: the type, and 12 more
	floats := false
	for len(list) > 1 {
		name, after, ok := bytes.Cut(list, []byte{0})
		if !ok || len(after) < rest {
			break
		}
		if kind := Type(binary.LittleEndian.Uint32(after)); slices.Contains([]string{"R", "G", "B", "A", "Y"}, string(name)) {
			half, floats = half || kind == Half, floats || kind == Float
		} else {
			further = append(further, string(name))
		}
		list = after[rest:]
	}
	return further, half && !floats
}
