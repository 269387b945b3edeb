package subtitle

import (
	"encoding/binary"
	"math/big"
	"slices"
)

// dvdDates is how many units of a DVD's subtitle pass in a second: a unit is 1024 ticks of 90 kHz.
var dvdDates = big.NewRat(90_000, 1024)

// dvdCommands returns where the dates of a DVD's subtitle lie: each begins a sequence of commands, one of which shows
// the picture, and another takes it away. The packet states its length and, in 16 bits, where the first sequence lies;
// each says after its date where the next one lies, and the last names itself.
func dvdCommands(packet []byte) (places []int) {
	if len(packet) < 4 {
		return nil
	}
	for at := int(binary.BigEndian.Uint16(packet[2:])); at >= 4 && at+4 <= len(packet); {
		places = append(places, at)
		next := int(binary.BigEndian.Uint16(packet[at+2:]))
		if next <= at {
			break
		}
		at = next
	}
	return places
}

// DVDLength returns how many seconds after its timestamp the last commands of a DVD's subtitle come, which take it
// away; 0 if there is one sequence of commands only.
func DVDLength(packet []byte) *big.Rat {
	places := dvdCommands(packet)
	if len(places) == 0 {
		return new(big.Rat)
	}
	last := binary.BigEndian.Uint16(packet[places[len(places)-1]:])
	return new(big.Rat).Quo(big.NewRat(int64(last), 1), dvdDates)
}

// DVD returns a DVD's subtitle with the dates of its commands at the output's speed.
func (c Clock) DVD(packet []byte) []byte {
	packet = slices.Clone(packet)
	for _, at := range dvdCommands(packet) {
		date := c.count(big.NewRat(int64(binary.BigEndian.Uint16(packet[at:])), 1), dvdDates)
		binary.BigEndian.PutUint16(packet[at:], uint16(min(max(date, 0), 1<<16-1)))
	}
	return packet
}

// dvbPageHead is how many bytes of a page composition come before its regions.
const dvbPageHead = 2

// dvbPages returns the page compositions of a display set of DVB subtitles.
func dvbPages(segments []byte) func(func([]byte) bool) {
	const sync, page, header = 0x0f, 0x10, 6
	return func(yield func([]byte) bool) {
		for at := 0; at+header < len(segments) && segments[at] == sync; {
			begin := at + header
			end := min(begin+int(binary.BigEndian.Uint16(segments[at+4:])), len(segments))
			if segments[at+1] == page && end > begin && !yield(segments[begin:end]) {
				return
			}
			at = end
		}
	}
}

// DVB returns a display set of DVB subtitles (ETSI EN 300 743, 7.2) with the time, in whole seconds, after which a page
// goes at the latest, at the output's speed.
func (c Clock) DVB(segments []byte) []byte {
	segments = slices.Clone(segments)
	for page := range dvbPages(segments) {
		if page[0] > 0 {
			v := c.At(big.NewRat(int64(page[0]), 1))
			page[0] = byte(min(max(nearest(v), 1), 255))
		}
	}
	return segments
}

// A Screen is what a packet of subtitles without a stated length says of the screen.
type Screen struct {
	Anew  bool     // it needs no earlier packet
	Empty bool     // nothing is shown from now on
	Most  *big.Rat // how many seconds it is shown at the most; nil if it does not say
}

// PGSScreen reads the composition of a display set of Blu-ray's subtitles, or of its first segment: the state of its epoch and
// how many objects it shows.
func PGSScreen(segments []byte) (s Screen) {
	const composition, header, state, objects = 0x16, 3, 7, 10
	if len(segments) > header+objects && segments[0] == composition {
		s.Anew, s.Empty = segments[header+state]&0xc0 != 0, segments[header+objects] == 0
	}
	return s
}

// DVBScreen reads the page composition of a display set of DVB subtitles (ETSI EN 300 743, 7.2.2).
func DVBScreen(segments []byte) (s Screen) {
	for page := range dvbPages(segments) {
		s.Most = big.NewRat(int64(page[0]), 1)
		s.Empty = len(page) <= dvbPageHead
		s.Anew = len(page) >= dvbPageHead && page[1]>>2&3 != 0
	}
	return s
}
