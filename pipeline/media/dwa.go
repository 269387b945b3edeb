package media

import (
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

// stateSize gives the video of an OpenEXR sequence the size that its first picture states, if FFmpeg has not found it
// because it cannot decode that. It returns an error if nothing else can, either.
func (d *demuxer) stateSize() error {
	p := d.video.CodecParameters()
	if p.CodecID() != astiav.CodecIDExr || p.Width() > 0 || len(d.numbers.list) == 0 {
		return nil
	}
	first := d.numbers.list[0].file
	file, err := os.ReadFile(first)
	if err != nil {
		return nil // whoever reads the pictures says so
	}
	parts, err := exr.Parts(file)
	if err == nil {
		err = exr.Seen(parts)
	}
	if err == nil {
		_, err = exr.Undone(file, 0)
	}
	if err != nil {
		return d.bad(fmt.Errorf("%s: %w", first, err))
	}
	p.SetWidth(parts[0].Display.Dx())
	p.SetHeight(parts[0].Display.Dy())
	return nil
}
