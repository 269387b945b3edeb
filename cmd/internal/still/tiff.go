package still

import (
	"bytes"
	"encoding/binary"
	"io"

	"golang.org/x/image/tiff"
)

func decodeTIFF(data []byte) (*Picture, error) {
	config, err := tiff.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, unexpected(err)
	}
	if err := checkSize(config.Width, config.Height, configChannels(config)); err != nil {
		return nil, err
	}
	m, err := tiff.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, unexpected(err)
	}
	return fromGo(m)
}

// These are the tags of TIFF 6.0 that a file without compression needs.
const (
	tiffImageWidth      = 256
	tiffImageLength     = 257
	tiffBitsPerSample   = 258
	tiffCompression     = 259
	tiffPhotometric     = 262
	tiffStripOffsets    = 273
	tiffSamplesPerPixel = 277
	tiffRowsPerStrip    = 278
	tiffStripByteCounts = 279
	tiffExtraSamples    = 338

	tiffShort, tiffLong = 3, 4 // types of values
)

// encodeTIFF writes a little-endian file without compression in one strip. The encoder
// of golang.org/x/image/tiff gives every colour picture a fourth sample: an opaque RGB
// picture would grow by a third and come back with an alpha channel.
func encodeTIFF(w io.Writer, p *Picture) error {
	width, height := p.Size()
	channels := len(p.Channels)
	pix := p.packed(p.deep(), true, false)
	bits, photometric := uint32(8), uint32(1) // black is zero
	if p.deep() {
		bits = 16
	}
	if channels > 1 {
		photometric = 2 // RGB
	}
	const header, entrySize = 8, 12
	entries := [][3]uint32{ // tag, type, value
		{tiffImageWidth, tiffLong, uint32(width)},
		{tiffImageLength, tiffLong, uint32(height)},
		{tiffBitsPerSample, tiffShort, bits},
		{tiffCompression, tiffShort, 1},
		{tiffPhotometric, tiffShort, photometric},
		{tiffStripOffsets, tiffLong, 0},
		{tiffSamplesPerPixel, tiffShort, uint32(channels)},
		{tiffRowsPerStrip, tiffLong, uint32(height)},
		{tiffStripByteCounts, tiffLong, uint32(len(pix))},
	}
	if channels == 4 {
		entries = append(entries, [3]uint32{tiffExtraSamples, tiffShort, 2}) // unassociated alpha
	}
	// The bits of each sample follow the directory, in eight bytes for up to four
	// samples, and the strip follows these.
	behind := uint32(header + 2 + len(entries)*entrySize + 4)
	b := []byte("II*\x00\x08\x00\x00\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(entries)))
	for _, e := range entries {
		count, value := uint32(1), e[2]
		switch {
		case e[0] == tiffBitsPerSample && channels > 1:
			count, value = uint32(channels), behind
		case e[0] == tiffStripOffsets:
			value = behind + 8
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, count)
		b = binary.LittleEndian.AppendUint32(b, value)
	}
	b = binary.LittleEndian.AppendUint32(b, 0) // no next picture
	for range 4 {
		b = binary.LittleEndian.AppendUint16(b, uint16(bits))
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	_, err := w.Write(pix)
	return err
}
