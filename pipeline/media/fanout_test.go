package media

import (
	"fmt"
	"slices"
	"testing"

	"github.com/asticode/go-astiav"
)

// Sinks receive packets in the order of their attachment, the first one also the held
// packets, and none after detach.
func TestFanout(t *testing.T) {
	var got []string
	sink := func(name string) PacketSink {
		return func(p *astiav.Packet) { got = append(got, fmt.Sprint(name, p.Pts())) }
	}
	expect := func(want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		got = nil
	}
	p := astiav.AllocPacket()
	defer p.Free()
	f := fanout{holding: true}
	send := func(pts int64, travels bool) {
		p.SetPts(pts)
		f.send(p, travels)
	}
	f.observe(sink("queue"))
	send(1, true)
	send(2, false)
	send(3, true)
	expect("queue1", "queue2", "queue3")
	detach := f.attach(sink("a"))
	expect("a1", "a3")
	other := f.attach(sink("b"))
	send(4, true)
	expect("queue4", "a4", "b4")
	detach()
	send(5, true)
	expect("queue5", "b5")
	other()
	send(6, true)
	expect("queue6")
	f.attach(sink("late"))
	expect() // the fanout holds nothing once a sink was attached
	if f.drop(); len(f.held) != 0 {
		t.Errorf("%d packets are held", len(f.held))
	}
}
