package cuda

import (
	"errors"
	"fmt"

	"retime/warp"
)

// ErrAbsent reports that neither the device nor the host has an image.
var ErrAbsent = errors.New("the image is neither in the host's memory nor in the device's")

// absent reports whether the host lacks the samples of m.
func (m rows) absent() bool { return len(m.Pix) < (m.Height-1)*m.Stride+m.Width }

// guideMaker makes guides from frames in device memory.
type guideMaker struct {
	kernels [2]*Kernel // by bytes per sample
	tone    []uint8    // contents of table
	table   Buffer[uint8]
}

// make queues on s the kernel that makes guide m, in d, from its frame in f. g may only ever use
// one stream.
func (g *guideMaker) make(s *Stream, d *image, m rows, f *source) error {
	if g.kernels[0] == nil {
		if err := s.device.Kernels("guide", map[string]**Kernel{"guide_u8": &g.kernels[0], "guide_u16": &g.kernels[1]}); err != nil {
			return err
		}
	}
	tone := warp.Tone(m.owner)
	if tone != nil && (len(g.tone) != len(tone) || &g.tone[0] != &tone[0]) {
		if err := s.Synchronize(); err != nil {
			return err
		}
		if err := upload(s, &g.table, tone); err != nil {
			return err
		}
		g.tone = tone
	}
	var table Arg
	if tone != nil {
		table = g.table.Arg()
	}
	p := &f.planes
	up := 1<<max(m.level, 0) - 1
	if m.level < 0 || m.level > warp.MaxLevel || m.Width != (p.width+up)>>m.level || m.Height != (p.height+up)>>m.level {
		return fmt.Errorf("a guide of %dx%d for a frame of %dx%d, halved %d times", m.Width, m.Height, p.width, p.height, m.level)
	}
	rgb := 0
	args := p.args(nil, 0, 1)
	if p.format.RGB {
		rgb = 1
		args = p.args(nil, 0, 3)
	}
	args = append([]Arg{d.bytes.Arg(), Int(m.Width), Int(m.Height), Int(m.level)}, args[:3]...)
	args = append(args, Int(p.stride(0)), Int(p.width), Int(p.height), Int(p.format.Depth-8), Int(p.format.Max()), table, Int(rgb))
	return s.Launch(g.kernels[p.format.Bytes()-1], Cover(m.Width, m.Height, wideBlock), wideBlock, 0, args...)
}
