package media

import "github.com/asticode/go-astiav"

// PacketSink receives each packet of any stream that a demuxer reads, and must not keep
// it. The goroutine that reads calls it.
type PacketSink func(*astiav.Packet)

// fanout passes each packet to all sinks, in the order in which they were attached. Until
// the first sink is attached, it holds the packets of all streams but the video.
type fanout struct {
	sinks   []*PacketSink
	held    []*astiav.Packet
	holding bool
}

// attach adds a sink and passes it the held packets first. The sink receives no packet
// after detach. Call detach once.
func (f *fanout) attach(sink PacketSink) (detach func()) {
	for _, p := range f.held {
		sink(p)
	}
	f.drop()
	f.holding = false
	f.sinks = append(f.sinks, &sink)
	return func() {
		for i, s := range f.sinks {
			if s == &sink {
				f.sinks = append(f.sinks[:i:i], f.sinks[i+1:]...)
				return
			}
		}
	}
}

// observe adds a sink that does not receive the held packets.
func (f *fanout) observe(sink PacketSink) { f.sinks = append(f.sinks, &sink) }

// send passes p to all sinks. If travels is set, it also holds p for the first sink to be
// attached.
func (f *fanout) send(p *astiav.Packet, travels bool) {
	for _, s := range f.sinks {
		(*s)(p)
	}
	if f.holding && travels {
		f.held = append(f.held, p.Clone())
	}
}

// drop frees the held packets.
func (f *fanout) drop() {
	for _, p := range f.held {
		p.Free()
	}
	f.held = nil
}
