package still

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"io"
	"slices"
)

// pngChunk is a chunk of a PNG file: its length, type, contents and checksum.
type pngChunk []byte

func (c pngChunk) kind() string { return string(c[4:8]) }

// pngKept lists the chunks that Write copies from one PNG file to another: colour
// space, density, orientation and text.
var pngKept = []string{"cICP", "iCCP", "sRGB", "gAMA", "cHRM", "mDCV", "cLLI", "pHYs", "eXIf", "tEXt", "zTXt", "iTXt"}

const (
	pngSignature = 8
	// pngIHDR is the size of the first chunk in bytes.
	pngIHDR = 25
)

func decodePNG(data []byte) (*Picture, error) {
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, unexpected(err)
	}
	if err := checkSize(config.Width, config.Height, configChannels(config)); err != nil {
		return nil, err
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, unexpected(err)
	}
	p, err := fromGo(m)
	if err != nil {
		return nil, err
	}
	p.chunks = keptChunks(data)
	return p, nil
}

// unexpected turns io.EOF into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == io.EOF { //nolint:errorlint // io.ErrUnexpectedEOF stays itself
		return io.ErrUnexpectedEOF
	}
	return err
}

// keptChunks returns the chunks of pngKept in data.
func keptChunks(data []byte) (kept []pngChunk) {
	const around = 12 // length, type and checksum
	for data = data[pngSignature:]; len(data) >= around; {
		size := uint64(binary.BigEndian.Uint32(data)) + around
		if size > uint64(len(data)) {
			break
		}
		if c := pngChunk(data[:size]); slices.Contains(pngKept, c.kind()) {
			kept = append(kept, bytes.Clone(c))
		}
		data = data[size:]
	}
	return kept
}

func encodePNG(w io.Writer, p *Picture) error {
	var buf bytes.Buffer
	if err := png.Encode(&buf, p.goImage()); err != nil {
		return err
	}
	parts := [][]byte{buf.Next(pngSignature + pngIHDR)}
	for _, c := range p.chunks {
		parts = append(parts, c)
	}
	for _, b := range append(parts, buf.Bytes()) {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// goImage returns the picture in the form that the encoder takes.
func (p *Picture) goImage() image.Image {
	width, height := p.Size()
	r := image.Rect(0, 0, width, height)
	pix := p.packed(p.deep(), false, true)
	stride := len(pix) / height
	switch {
	case len(p.Channels) == 1 && p.deep():
		return &image.Gray16{Pix: pix, Stride: stride, Rect: r}
	case len(p.Channels) == 1:
		return &image.Gray{Pix: pix, Stride: stride, Rect: r}
	case p.deep():
		return withAlpha(&image.NRGBA64{Pix: pix, Stride: stride, Rect: r}, len(p.Channels) == 4)
	default:
		return withAlpha(&image.NRGBA{Pix: pix, Stride: stride, Rect: r}, len(p.Channels) == 4)
	}
}

// withAlpha keeps the alpha channel of an opaque picture, which the encoder would leave
// out.
func withAlpha(m interface {
	image.Image
	Opaque() bool
}, keep bool) image.Image {
	if keep && m.Opaque() {
		return translucent{m}
	}
	return m
}

// translucent is a picture that does not report whether it is opaque.
type translucent struct{ image.Image }

func (translucent) Opaque() bool { return false }
