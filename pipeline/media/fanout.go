package media

import "github.com/asticode/go-astiav"

// PacketSink gets each packet that a demuxer reads, of whatever stream, and must not keep
// it. It is called by the goroutine that reads.
type PacketSink func(*astiav.Packet)

// fanout gives each packet to all sinks, in the order in which they were attached. Until
// the first is there, packets of the streams that travel are held for it.
type fanout struct {
	sinks   []*PacketSink
	held    []*astiav.Packet
	holding bool
}

// attach adds a sink, which gets what was held first. Call detach once; no packet comes
// behind it.
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

// observe adds a sink that wants nothing held.
func (f *fanout) observe(sink PacketSink) { f.sinks = append(f.sinks, &sink) }

// send gives p to all sinks. travels is set if it is held for a sink to come.
func (f *fanout) send(p *astiav.Packet, travels bool) {
	for _, s := range f.sinks {
		(*s)(p)
	}
	if f.holding && travels {
		f.held = append(f.held, p.Clone())
	}
}

// drop forgets what is held.
func (f *fanout) drop() {
	for _, p := range f.held {
		p.Free()
	}
	f.held = nil
}
