package subtitle

import (
	"bytes"
	"math/big"
	"testing"
)

// A picture of a DVD goes when its commands say, and one of DVB when a time in its page runs out.
func TestTimesWithinPictures(t *testing.T) {
	dvd := func(dates ...byte) []byte { // 2 bytes of a picture, and sequences at dates, in units of 256
		packet := []byte{0, byte(6 + 5*len(dates)), 0, 6, 0xaa, 0xaa}
		for i, date := range dates {
			packet = append(packet, date, 0, 0, byte(6+5*min(i+1, len(dates)-1)), 0xff)
		}
		return packet
	}
	dvb := func(timeout byte) []byte {
		return append([]byte{0x0f, 0x14, 0, 1, 0, 1, 9, 0x0f, 0x10, 0, 1, 0, 2, timeout, 0}, []byte{0x0f, 0x80, 0, 1, 0, 0}...)
	}
	for _, c := range []struct {
		name      string
		got, want []byte
	}{
		{"DVD, slow", clock(2, 0).DVD(dvd(0, 3)), dvd(0, 6)},
		{"DVD, too slow", clock(300, 0).DVD(dvd(0, 3)), append(append(dvd(0, 3)[:11], 0xff, 0xff), dvd(0, 3)[13:]...)},
		{"DVD, cut by 256 units of 1024/90000 s", clock(1, 2913).DVD(dvd(0, 3)), dvd(0, 2)},
		{"DVD, one sequence", clock(2, 0).DVD(dvd(1)), dvd(2)},
		{"DVD, damaged", clock(2, 0).DVD([]byte{0, 9, 0, 99}), []byte{0, 9, 0, 99}},
		{"DVB, slow", clock(4, 0).DVB(dvb(20)), dvb(80)},
		{"DVB, too slow", clock(40, 0).DVB(dvb(20)), dvb(255)},
		{"DVB, cut", clock(1, 5000).DVB(dvb(20)), dvb(15)},
		{"DVB, for ever", clock(2, 0).DVB(dvb(0)), dvb(0)},
		{"DVB, damaged", clock(2, 0).DVB(dvb(20)[:12]), dvb(20)[:12]},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("%s: %x, want %x", c.name, c.got, c.want)
		}
	}
	for _, c := range []struct {
		packet []byte
		want   *big.Rat
	}{{dvd(0, 3), big.NewRat(3*256*1024, 90_000)}, {dvd(0), new(big.Rat)}, {nil, new(big.Rat)}} {
		if got := DVDLength(c.packet); got.Cmp(c.want) != 0 {
			t.Errorf("%x lasts %s s, want %s", c.packet, got, c.want)
		}
	}
}

func FuzzScreens(f *testing.F) {
	f.Add([]byte{0x16, 0, 11, 0, 64, 0, 48, 0x10, 0, 0, 0x80, 0, 0, 1})
	f.Add([]byte{0x0f, 0x10, 0, 1, 0, 8, 30, 0x04, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(_ *testing.T, packet []byte) {
		PGSScreen(packet)
		DVBScreen(packet)
		clock(2, 0).DVB(packet)
	})
}
