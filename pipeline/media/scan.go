package media

import (
	"errors"
	"io"
	"math"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// This file reads packets without decoding them.

// packetQueue holds the video's packets for NextPacket.
type packetQueue struct {
	list   []*astiav.Packet
	fields fieldPairs
}

// sink returns a sink that adds a demuxer's video packets to the queue.
func (q *packetQueue) sink(d *demuxer) PacketSink {
	return func(p *astiav.Packet) {
		if d.isVideo(p) {
			q.list = append(q.list, p.Clone())
		}
	}
}

func (q *packetQueue) take() *astiav.Packet {
	p := q.list[0]
	q.list = q.list[1:]
	return p
}

func (q *packetQueue) free() {
	for _, p := range q.list {
		p.Free()
	}
	q.list = nil
	q.fields.close()
	q.fields = fieldPairs{}
}

// NextPacket returns the video's next packet in decoding order. The source must have been
// opened with ReaderOptions.Packets. Packets of other streams go to the attached sinks.
// After the last packet the error is the same as Read's.
func (r *Reader) NextPacket() (Packet, error) {
	if len(r.queue.list) == 0 {
		if _, err := r.demuxer.readVideo(); errors.Is(err, io.EOF) {
			return Packet{}, r.decoder.end()
		} else if err != nil {
			return Packet{}, err
		}
	}
	held := r.queue.take()
	defer held.Free()
	second := r.queue.fields.second(held)
	p := takePacket(held)
	p.SecondField = second
	r.decoder.clock.note(p)
	return p, nil
}

// skimming says how far a reader has come without decoding.
type skimming struct {
	dts   int64 // decoding time of the video's last packet, in its time base
	ended bool
}

// Skim reads the rest of the source without decoding, to pass the other streams' packets
// to the attached sinks.
func (r *Reader) Skim() error {
	if err := r.skimTo(math.MaxInt64, always); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// SkimTo is Skim, but stops once the video's decoding times reach t, in seconds after the
// file's start. At the end of the source the error is io.EOF.
func (r *Reader) SkimTo(t *big.Rat) error {
	return r.skimTo(r.ticks(t), always)
}

// ticks converts t from seconds after the file's start to the video's time base.
func (r *Reader) ticks(t *big.Rat) int64 {
	return timebase.Ticks(new(big.Rat).Add(t, r.video.Start), r.demuxer.video.TimeBase())
}

func always() bool { return true }

// skimBehind is Skim for what a file holds behind the pictures before t, in seconds after the
// file's start: it stops as soon as lags returns false. What is damaged there does not count.
func (r *Reader) skimBehind(t *big.Rat, lags func() bool) error {
	before := r.Damage()
	err := r.skimTo(r.ticks(lagging(t)), lags)
	now := r.Damage()
	r.decoder.forgive(Damage{now.Packets - before.Packets, now.Frames - before.Frames, now.Errors - before.Errors})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// skimTo skims until the video's decoding times reach goal, or more returns false.
func (r *Reader) skimTo(goal int64, more func() bool) error {
	for !r.skim.ended {
		if r.skim.dts != av.NoTimestamp && r.skim.dts >= goal || !more() {
			return nil
		}
		p, err := r.demuxer.readVideo()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		r.skim.dts = p.Dts()
		r.skim.ended = r.decoder.isPast(p)
	}
	r.skim.ended = true
	return io.EOF
}

// Scan is a summary of the video's packets.
type Scan struct {
	// End is the latest end of a packet, in seconds after the file's start; nil if it is
	// unknown.
	End *big.Rat
	// Steady is set if every packet has a timestamp and no timestamp jumps, so that a
	// reader may start anywhere.
	Steady bool
	// Times are the timestamps of the video's packets in its time base, in decoding
	// order.
	Times []int64
}

// Scan reads the rest of the source without decoding it.
func (r *Reader) Scan() (Scan, error) {
	s := Scan{Steady: true}
	var end int64
	packets, failed := 0, r.demuxer.lost.failed
	for {
		p, err := r.demuxer.readVideo()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return s, err
		}
		packets++
		if t := p.Pts(); t == av.NoTimestamp {
			s.Steady = false
		} else {
			s.Times = append(s.Times, t)
			if d := max(p.Duration(), 1); packets == 1 || t+d > end {
				end = t + d
			}
		}
	}
	s.Steady = s.Steady && packets > 0 && r.demuxer.lost.failed == failed && !r.demuxer.times.joined()
	if tb := r.demuxer.video.TimeBase(); packets > 0 && timebase.Rat(tb) != nil {
		s.End = timebase.Seconds(end, tb)
		s.End.Sub(s.End, r.video.Start)
	}
	return s, nil
}
