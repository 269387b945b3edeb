package media

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"os"
)

// aperture returns the part of the pictures that an MP4 or MOV file states as clean, for messages; empty if it states all or
// none. FFmpeg 5.1 neither reads nor writes it.
func (d *demuxer) aperture() string {
	if !d.isISO() || !Seekable(d.name) {
		return ""
	}
	f, err := os.Open(d.name)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	w, h := cleanAperture(f, info.Size(), d.video.ID())
	p := d.video.CodecParameters()
	if w.Sign() <= 0 || h.Sign() <= 0 || w.Cmp(big.NewRat(int64(p.Width()), 1)) == 0 && h.Cmp(big.NewRat(int64(p.Height()), 1)) == 0 {
		return ""
	}
	x, _ := w.Float64()
	y, _ := h.Float64()
	return fmt.Sprintf("clean aperture %.6gx%.6g", x, y)
}

// cleanAperture returns the width and the height, in pixels, that the box clap (ISO/IEC 14496-12, 12.1.4) in the first sample
// entry of a track states, 0 if there is none. size is that of the file in bytes, and track the number in the track header.
func cleanAperture(f io.ReaderAt, size int64, track int) (width, height *big.Rat) {
	const entryHead, trackID, trackIDLong = 78, 12, 20 // the times of creation and change, before the number, may have 8 bytes each
	for movie := range boxes(f, place{0, size}, "moov") {
		for t := range boxes(f, movie, "trak") {
			for header := range boxes(f, t, "tkhd") {
				at := int64(trackID)
				if version := field(f, header, 0, 1); version == 1 {
					at = trackIDLong
				}
				if field(f, header, at, 4) != int64(track) {
					continue
				}
				for table := range boxes(f, t, "mdia", "minf", "stbl", "stsd") {
					for entry := range boxes(f, place{table.begin + 8, table.end}, "") {
						for clap := range boxes(f, place{entry.begin + entryHead, entry.end}, "clap") {
							return ratio(f, clap, 0), ratio(f, clap, 8)
						}
						break
					}
				}
			}
		}
		break
	}
	return new(big.Rat), new(big.Rat)
}

// place is the part of a file, in bytes, that a box's content takes up.
type place struct{ begin, end int64 }

// boxes yields the contents of all boxes of a kind that lie in a place, or of every kind if it is empty. If inner names further kinds,
// it yields those of the boxes of the last kind, each within one of the kind before.
func boxes(f io.ReaderAt, in place, kind string, inner ...string) func(func(place) bool) {
	return func(yield func(place) bool) {
		const head, long = 8, 16
		for at := in.begin; at+head <= in.end; {
			size, begin := field(f, place{at, in.end}, 0, 4), at+head
			switch size {
			case 0:
				size = in.end - at
			case 1:
				size, begin = field(f, place{at, in.end}, 8, 8), at+long
			}
			var name [4]byte
			if _, err := f.ReadAt(name[:], at+4); err != nil || size < begin-at || size > in.end-at {
				return
			}
			content := place{begin, at + size}
			at += size
			switch {
			case kind != "" && string(name[:]) != kind:
			case len(inner) == 0:
				if !yield(content) {
					return
				}
			default:
				for c := range boxes(f, content, inner[0], inner[1:]...) {
					if !yield(c) {
						return
					}
				}
			}
		}
	}
}

// field returns the number of some bytes, 8 at most, at a distance from where in begins; 0 if they are not within it.
func field(f io.ReaderAt, in place, at int64, bytes int) int64 {
	var b [8]byte
	if in.begin+at+int64(bytes) > in.end {
		return 0
	}
	if _, err := f.ReadAt(b[8-bytes:], in.begin+at); err != nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b[:]))
}

// ratio returns the fraction of two numbers of 4 bytes, 0 if it is none.
func ratio(f io.ReaderAt, in place, at int64) *big.Rat {
	n, of := field(f, in, at, 4), field(f, in, at+4, 4)
	if of == 0 {
		return new(big.Rat)
	}
	return big.NewRat(n, of)
}
