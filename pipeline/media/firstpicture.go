package media

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/exr"
)

// decodable returns a packet that FFmpeg can decode if p is an OpenEXR picture compressed by DWA, or in a later way, of several
// parts, or with halves and floats among colour and alpha, which it decodes in part or not at all; nil if p is good as it is, or
// for the decoder to judge. It marks what OpenEXR finds damaged, and has the decoder stop at what FFmpeg would misread.
func (c *decoder) decodable(p *astiav.Packet) *astiav.Packet {
	if c.demuxer.video.CodecParameters().CodecID() != astiav.CodecIDExr {
		return nil
	}
	file := p.Data()
	plain, err := exr.Decodable(file, c.options.furtherThreads())
	switch unsupported := errors.Is(err, exr.ErrUnsupported); {
	case unsupported && errors.Is(err, exr.ErrMisread):
		c.failed = c.demuxer.bad(err)
		return nil
	case unsupported:
		return nil
	case err != nil:
		c.packets.mark(p)
		return nil
	case len(plain) == len(file) && &plain[0] == &file[0]:
		return nil
	}
	q := astiav.AllocPacket()
	if err := withData(p, plain).fill(q); err != nil {
		q.Free()
		return nil
	}
	return q
}

// furtherThreads are those that OpenEXR has beside the caller's.
func (o *ReaderOptions) furtherThreads() int { return frame.Workers{N: o.Threads}.Count() - 1 }

// checkFirst refuses pictures of which FFmpeg has not found the size because it cannot decode the first. If that is one of
// OpenEXR which OpenEXR decodes, the video gets the size that it states.
func (d *demuxer) checkFirst(opt *ReaderOptions) error {
	p, format, first := d.video.CodecParameters(), d.input.InputFormat().Name(), d.name
	if len(d.numbers.list) > 0 {
		first = d.numbers.list[0].file
	}
	if p.Width() > 0 || format != "image2" && !strings.HasSuffix(format, "_pipe") {
		return nil
	}
	var err error
	if p.CodecID() == astiav.CodecIDExr {
		err = sizeOfEXR(p, first, opt)
	}
	if err == nil && p.Width() <= 0 {
		err = fmt.Errorf("FFmpeg decodes no such picture (%s)", p.CodecID().Name())
	}
	switch {
	case err == nil:
		return nil
	case first != d.name:
		err = fmt.Errorf("%s: %w", first, err)
	}
	return d.bad(err)
}

// sizeOfEXR sets the size that a file of OpenEXR states, or returns why OpenEXR does not decode its colour.
func sizeOfEXR(p *astiav.CodecParameters, name string, opt *ReaderOptions) error {
	file, err := os.ReadFile(name)
	if err != nil {
		return nil // such as from a pipe
	}
	parts, err := exr.Parts(file)
	if err == nil {
		err = exr.CheckColour(parts)
	}
	if err == nil {
		_, err = exr.Decodable(file, opt.furtherThreads())
	}
	if err == nil {
		p.SetWidth(parts[0].Display.Dx())
		p.SetHeight(parts[0].Display.Dy())
	}
	return err
}
