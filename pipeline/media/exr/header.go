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
	Channels   []string // in the file's order
	Attributes []string // names, but for those that every picture has and channels
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

// required are the attributes that every picture has, or that say how its samples lie in the file.
var required = strings.Fields("channels compression dataWindow displayWindow lineOrder pixelAspectRatio screenWindowCenter screenWindowWidth tiles name type version chunkCount")

// ReadHeader reads the header of a picture's first part.
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
			h.Channels = channelNames(value)
		case "dataWindow":
			windows[0] = value
		case "displayWindow":
			windows[1] = value
		}
		if !slices.Contains(required, name) {
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

// channelNames returns the names in a list of channels.
func channelNames(list []byte) (names []string) {
	const rest = 16 // bytes of a channel after its name
	for len(list) > 1 {
		name, after, ok := bytes.Cut(list, []byte{0})
		if !ok || len(after) < rest {
			return names
		}
		names, list = append(names, string(name)), after[rest:]
	}
	return names
}

// Lost returns what FFmpeg does not carry from one file to another, in words; nil for nothing.
func (h Header) Lost() (lost []string) {
	var further []string
	for _, c := range h.Channels {
		if !slices.Contains([]string{"R", "G", "B", "A", "Y"}, c) {
			further = append(further, c)
		}
	}
	if further != nil {
		lost = append(lost, "channels "+strings.Join(further, ", "))
	}
	if h.Parts {
		lost = append(lost, "parts after the first")
	}
	if h.Cropped {
		lost = append(lost, "the data window")
	}
	if h.Attributes != nil {
		lost = append(lost, "attributes "+strings.Join(h.Attributes, ", "))
	}
	return lost
}
