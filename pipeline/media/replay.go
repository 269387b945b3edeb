package media

import (
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
)

// takeover is what the processor takes over from a device that fails.
type takeover struct {
	backlog *backlog    // nil if the processor cannot take over
	again   packetQueue // packets for the processor that the device has had
	skip    *skipping   // nil if the next picture is new
}

// backlog holds the packets that the processor must decode again if the device fails: those from
// the last key frame but one whose picture has come, or all of them so far.
type backlog struct {
	packets []*astiav.Packet
	keys    []int  // indices of the key frames in packets
	room    int    // for further packets, in bytes
	last    int64  // time of the last picture that came with one; av.NoTimestamp before
	untimed int    // number of pictures that came after that one
	damage  Damage // that the decoder had found when the last picture came
}

// backlogBytes bounds a backlog's memory. packetBytes is about what a packet takes besides its
// data.
const (
	backlogBytes = 512 << 20
	packetBytes  = 512
)

func newBacklog(found Damage) *backlog {
	return &backlog{room: backlogBytes, last: av.NoTimestamp, damage: found}
}

// add keeps a packet. It returns false if there is no room for it.
func (b *backlog) add(p *astiav.Packet) bool {
	if b.room -= p.Size() + packetBytes; b.room < 0 {
		return false
	}
	if p.Flags().Has(astiav.PacketFlagKey) {
		b.keys = append(b.keys, len(b.packets))
	}
	b.packets = append(b.packets, p.Clone())
	return true
}

// came notes that the picture at time t came, and frees the packets that are not needed any
// more. found is the damage that the decoder has found so far.
//
// The backlog begins one key frame before the one that came last. A decoder that starts at a key
// frame may lack what the next pictures refer to; if the input then ends, FFmpeg loses pictures that
// it could decode. And without presentation times, a key frame's picture comes later than its time.
func (b *backlog) came(t int64, found Damage) {
	b.damage = found
	if t == av.NoTimestamp {
		b.untimed++
		return
	}
	b.last, b.untimed = t, 0
	for i, k := range slices.Backward(b.keys) {
		p := b.packets[k]
		at := p.Pts()
		if at == av.NoTimestamp {
			at = p.Dts()
		}
		if at != av.NoTimestamp && at <= t {
			if i > 0 {
				b.cut(i - 1)
			}
			return
		}
	}
}

// cut frees the packets before key frame i.
func (b *backlog) cut(i int) {
	n := b.keys[i]
	for _, p := range b.packets[:n] {
		b.room += p.Size() + packetBytes
		p.Free()
	}
	b.packets = slices.Delete(b.packets, 0, n)
	b.keys = slices.Delete(b.keys, 0, i)
	for k := range b.keys {
		b.keys[k] -= n
	}
}

func (b *backlog) free() {
	for _, p := range b.packets {
		p.Free()
	}
}

// skipping says which pictures the device had decoded before it failed: those up to a time, and a
// number of pictures without times that follow.
type skipping struct {
	last    int64 // av.NoTimestamp once its picture has come again
	untimed int
	damage  Damage // that the decoder had found when the last of them came
}

// pass counts the picture at time t as one of them. It returns false if it is none.
func (s *skipping) pass(t int64) bool {
	switch {
	case s.last != av.NoTimestamp && t <= s.last:
		if t == s.last {
			s.last = av.NoTimestamp
		}
		return true
	case s.untimed > 0 && t == av.NoTimestamp:
		s.untimed--
		return true
	}
	return false
}

// protect begins a backlog if a device decodes that can be seen to fail.
func (c *decoder) protect() {
	c.expose()
	if _, ok := c.fetch.(checker); ok {
		c.backlog = newBacklog(c.found())
	}
}

// expose frees the backlog.
func (c *decoder) expose() {
	if c.backlog != nil {
		c.backlog.free()
		c.backlog = nil
	}
}

// keep adds a packet to the backlog, if there is one.
func (c *decoder) keep(p *astiav.Packet) {
	if c.backlog != nil && !c.backlog.add(p) {
		c.expose()
		c.options.Log.Debug("key frames are too far apart for the processor to take over if the device fails", "input", c.demuxer.name, "pts", p.Pts())
	}
}

// note takes note of the picture at time t. It returns false if the picture must be dropped
// because it came from the device before that failed.
func (c *decoder) note(t int64) bool {
	if c.backlog != nil {
		c.backlog.came(t, c.found())
	}
	if c.skip == nil {
		return true
	}
	if c.skip.pass(t) {
		c.setBack(c.skip.damage) // this damage was counted when the device decoded
		return false
	}
	c.skip = nil
	return true
}

// takeOver has the processor decode the backlog if the device has failed, and reports whether it
// does.
func (c *decoder) takeOver() bool {
	device, ok := c.fetch.(checker)
	if !ok || c.backlog == nil {
		return false
	}
	why := device.check()
	if why == nil {
		return false
	}
	c.options.Log.Warn("the device that decodes has failed; the processor decodes from here on", "because", why)
	c.context.Free()
	c.context = nil
	c.fetch.close()
	c.fetch = downloads{}
	b := c.backlog
	c.backlog, c.again.list = nil, b.packets
	c.skip = &skipping{b.last, b.untimed, b.damage}
	software := *c.options
	software.HWDec = HWNone
	if err := c.open(&software); err != nil {
		c.failed = fault.New(fault.TryAgain, "the device that decodes has failed (%v), and the processor's decoder does not open: %w", why, err)
	}
	c.setBack(b.damage)
	return true
}
