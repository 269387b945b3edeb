package streams

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// isTapeSound reports whether in is the sound within the pictures of DV. Its sample rate may change on the way, which
// FFmpeg's demuxer says of no packet.
func (s *Set) isTapeSound(in *astiav.Stream) bool {
	p, name := in.CodecParameters(), s.source.Input.InputFormat().Name()
	return p.CodecID() == astiav.CodecIDPcmS16Le && (name == "dv" || name == "avi" && p.CodecTag() == 0)
}

// tapeRates are the sample rates of DV in Hz.
var tapeRates = []int{32_000, 44_100, 48_000}

// tapeRate returns the sample rate of a packet of DV's sound, which has the samples of a frame, of 16 bits; 0 if it does not
// state how long that lasts.
func tapeRate(p *astiav.Packet, unit astiav.Rational, channels int) int {
	length := timebase.Seconds(p.Duration(), unit)
	if length.Sign() <= 0 {
		return 0
	}
	samples := big.NewRat(int64(p.Size()), int64(2*channels))
	stated, _ := samples.Quo(samples, length).Float64()
	off := func(rate int) float64 { return max(stated/float64(rate), float64(rate)/stated) }
	return slices.MinFunc(tapeRates, func(a, b int) int { return cmp.Compare(off(a), off(b)) })
}

// follow has the decoder take p for sound of the rate that it has.
func (d *soundDecoder) follow(p *astiav.Packet) {
	if rate := tapeRate(p, d.in.TimeBase(), av.Channels(d.context)); rate > 0 {
		d.context.SetSampleRate(rate)
	}
}
