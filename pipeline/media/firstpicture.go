package media

import (
	"errors"
	"fmt"
	"os"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/exr"
)

// undone returns a packet that FFmpeg can decode if p is an OpenEXR picture compressed by DWA, which it decodes
// in part, or in a later way; nil if p is good as it is, or for the decoder to judge.
func (c *decoder) undone(p *astiav.Packet) *astiav.Packet {
	if c.demuxer.video.CodecParameters().CodecID() != astiav.CodecIDExr {
		return nil
	}
	file := p.Data()
	undone, err := exr.Undone(file, frame.Workers{N: c.options.Threads}.Count()-1)
	if err != nil || len(undone) == len(file) && &undone[0] == &file[0] {
		return nil
	}
	q := astiav.AllocPacket()
	if err := q.FromData(undone); err != nil {
		q.Free()
		return nil
	}
	q.SetPts(p.Pts())
	q.SetDts(p.Dts())
	q.SetDuration(p.Duration())
	q.SetFlags(p.Flags())
	return q
}

// look refuses a sequence if its first picture shows that no decoder reads it, or FFmpeg reads it wrongly. It gives the
// video of an OpenEXR sequence the size that this picture states, if FFmpeg has not found it because it cannot decode that.
func (d *demuxer) look() error {
	p := d.video.CodecParameters()
	if len(d.numbers.list) == 0 || p.CodecID() != astiav.CodecIDTiff && p.Width() > 0 {
		return nil
	}
	first := d.numbers.list[0].file
	file, err := os.ReadFile(first)
	if err != nil {
		return nil // whoever reads the pictures says so
	}
	switch p.CodecID() {
	case astiav.CodecIDExr:
		var parts []exr.Part
		if parts, err = undoable(file); err == nil {
			p.SetWidth(parts[0].Display.Dx())
			p.SetHeight(parts[0].Display.Dy())
		}
	case astiav.CodecIDTiff:
		if _, tiled := tiffTag(file, tiffTileWidth); tiled { // FFmpeg decodes black
			err = errors.New("TIFF in tiles is not supported; write it in strips")
		}
	}
	if err == nil && p.Width() <= 0 {
		err = fmt.Errorf("FFmpeg decodes no such picture (%s)", p.CodecID().Name())
	}
	if err != nil {
		return d.bad(fmt.Errorf("%s: %w", first, err))
	}
	return nil
}

// undoable returns the parts of an OpenEXR file of which OpenEXR decodes the colour.
func undoable(file []byte) (parts []exr.Part, err error) {
	if parts, err = exr.Parts(file); err != nil {
		return nil, err
	}
	if err = exr.Seen(parts); err == nil {
		_, err = exr.Undone(file, 0)
	}
	return parts, err
}
