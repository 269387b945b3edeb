package media

import (
	"encoding/binary"
	"maps"
	"slices"
)

// paletteSize is the number of a palette's entries. The last one is for transparent pixels.
const paletteSize = 256

// colourSet holds the colours, as 0xRRGGBB, of the opaque pixels of a clip; more than a
// palette has if there are too many.
type colourSet map[uint32]struct{}

// add adds the colours of a row in the format unpaletted.
func (s colourSet) add(row []byte) {
	last := uint32(0) // transparent
	for ; len(row) >= 4 && len(s) < paletteSize; row = row[4:] {
		c := binary.LittleEndian.Uint32(row)
		if c != last && c >= 128<<24 {
			s[c&0xffffff] = struct{}{}
		}
		last = c
	}
}

// complete makes a palette, an entry of which has the format of a pixel, hold exactly the
// colours of s if they fit and the palette lacks one: since FFmpeg 6, palettegen averages
// in a colour space in which it rounds.
func (s colourSet) complete(table []byte) {
	if len(s) >= paletteSize {
		return
	}
	missing := maps.Clone(s)
	for at := 0; at < len(table); at += 4 {
		if c := binary.LittleEndian.Uint32(table[at:]); c >= 128<<24 {
			delete(missing, c&0xffffff)
		}
	}
	if len(missing) == 0 {
		return
	}
	for i, c := range slices.Sorted(maps.Keys(s)) {
		binary.LittleEndian.PutUint32(table[4*i:], 0xff<<24|c)
	}
}
