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

// DVB returns a display set of DVB subtitles (ETSI EN 300 743, 7.2) with the time, in whole seconds, after which a page
// goes at the latest, at the output's speed.
func (c Clock) DVB(segments []byte) []byte {
	const sync, page, header = 0x0f, 0x10, 6
	segments = slices.Clone(segments)
	for rest := segments; len(rest) > header && rest[0] == sync; {
		length := int(binary.BigEndian.Uint16(rest[4:]))
		if rest[1] == page && length > 0 && rest[header] > 0 {
			v := c.At(big.NewRat(int64(rest[header]), 1))
			rest[header] = byte(min(max(nearest(v), 1), 255))
		}
		rest = rest[min(header+length, len(rest)):]
	}
	return segments
}
