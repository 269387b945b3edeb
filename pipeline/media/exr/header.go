package exr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
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

// flags are those in a file's version.
type flags uint32

const (
	singleTile flags = 1 << 9  // one flat part, of tiles
	nonImage   flags = 1 << 11 // deep data
	multipart  flags = 1 << 12
)

// kind tells of a part with these attributes how its chunks lie. Files of one flat part say so in their flags alone, and may
// have attributes of another picture that they were made of.
func (f flags) kind(attributes []attribute) (tiled, deep bool) {
	if f&(multipart|nonImage) == 0 {
		return f&singleTile != 0, false
	}
	kind := ""
	for _, a := range attributes {
		if a.name == "type" {
			kind = string(a.value)
		}
	}
	return kind == "tiledimage" || kind == "deeptile", strings.HasPrefix(kind, "deep")
}

const (
	mostNames = 1 << 12
	mostText  = 1 << 8 // bytes of a name or a type
)

// own are the attributes that a writer sets anew.
var own = strings.Fields("channels compression dataWindow displayWindow lineOrder pixelAspectRatio screenWindowCenter screenWindowWidth tiles name type version chunkCount dwaCompressionLevel framesPerSecond gamma writer")

// ReadHeader reads the header of a picture's first part. With an error, it returns what came before.
func ReadHeader(file []byte) (h Header, err error) {
	r := reader{file}
	f, err := r.start()
	if err != nil {
		return h, err
	}
	h.Parts = f&multipart != 0
	attributes, err := r.attributes()
	var windows [2][]byte
	for _, a := range attributes {
		switch a.name {
		case "channels":
			h.Further, h.Half = channelsOf(a.value)
		case "dataWindow":
			windows[0] = a.value
		case "displayWindow":
			windows[1] = a.value
		}
		if !slices.Contains(own, a.name) {
			h.Attributes = append(h.Attributes, a.name)
		}
	}
	h.Cropped = err == nil && !bytes.Equal(windows[0], windows[1])
	return h, err
}

// attribute is a name and a value of a header.
type attribute struct {
	name  string
	value []byte
}

// reader reads headers from a file, of which rest has not been read.
type reader struct{ rest []byte }

// headers reads what comes before the chunks: the attributes of each part.
func (r *reader) headers() (parts [][]attribute, f flags, err error) {
	f, err = r.start()
	for more := err == nil; more; more = f&multipart != 0 {
		list, err := r.attributes()
		switch {
		case err != nil:
			return nil, 0, err
		case len(list) == 0 && len(parts) > 0: // the end of several
			return parts, f, nil
		}
		parts = append(parts, list)
	}
	return parts, f, err
}

// start reads what comes before the first header.
func (r *reader) start() (flags, error) {
	start := r.take(8)
	if start == nil || binary.LittleEndian.Uint32(start) != magic {
		return 0, ErrFormat
	}
	return flags(binary.LittleEndian.Uint32(start[4:])), nil
}

// attributes reads a header, and returns with an error what came before.
func (r *reader) attributes() (list []attribute, err error) {
	for range mostNames {
		name, ok := r.text()
		if ok && name == "" {
			return list, nil
		}
		_, typed := r.text()
		size := r.take(4)
		if !ok || !typed || size == nil {
			return list, ErrFormat
		}
		value := r.take(int64(binary.LittleEndian.Uint32(size)))
		if value == nil {
			return list, fmt.Errorf("%w: attribute %q", ErrFormat, name)
		}
		list = append(list, attribute{name, value})
	}
	return list, ErrFormat
}

// text reads up to a zero byte.
func (r *reader) text() (text string, ok bool) {
	n := bytes.IndexByte(r.rest[:min(len(r.rest), mostText)], 0)
	if n < 0 {
		return "", false
	}
	return string(r.take(int64(n) + 1)[:n]), true
}

// take reads n bytes; it returns nil if there are fewer.
func (r *reader) take(n int64) []byte {
	if n > int64(len(r.rest)) {
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// channelsOf returns the channels of a list besides colour and alpha; half is set if those are half floats.
func channelsOf(list []byte) (further []string, half bool) {
	floats := false
	for _, p := range planesOf(list) {
		if slices.Contains(Colour, p.Name) {
			half, floats = half || p.Type == Half, floats || p.Type == Float
		} else {
			further = append(further, p.Name)
		}
	}
	return further, half && !floats
}

// Colour are the names of the channels that are colour, or brightness, and alpha.
var Colour = []string{"R", "G", "B", "A", "Y"}
