package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
)

// This file reads what FFmpeg does not tell: how often players show an animation.

// playCounts tells for FFmpeg's names of these containers how often a file is to be shown, 0 for ever.
var playCounts = map[string]func(*os.File) int{
	"gif":  func(f *os.File) int { plays, _ := readGIF(f); return plays },
	"apng": apngPlays,
}

// plays returns how often the input is to be shown if it is an animation's file, and 0, for ever, if it is not.
func (d *demuxer) plays() int {
	count := playCounts[d.input.InputFormat().Name()]
	if count == nil || !Seekable(d.name) {
		return 0
	}
	f, err := os.Open(d.name)
	if err != nil {
		return 0
	}
	defer f.Close()
	return count(f)
}

// readGIF reads the blocks of a GIF file (GIF89a, sections 18 to 27). It returns how often the file is to be shown, 0 for
// ever, and whether the blocks do not break off before the trailer. Netscape's extension states how often it is shown again;
// without it, it is shown once.
func readGIF(f *os.File) (plays int, ends bool) {
	const extension, image, application = 0x21, 0x2c, 0xff
	plays = 1
	r := bufio.NewReader(f)
	skip := func(n int) bool { _, err := r.Discard(n); return err == nil }
	table := func(flags byte) bool { return flags&0x80 == 0 || skip(3<<(flags&7+1)) }
	blocks := func() bool {
		for {
			n, err := r.ReadByte()
			if err != nil || !skip(int(n)) {
				return false
			}
			if n == 0 {
				return true
			}
		}
	}
	screen := make([]byte, 13)
	if _, err := io.ReadFull(r, screen); err != nil || !table(screen[10]) {
		return plays, false
	}
	for {
		switch b, err := r.ReadByte(); {
		case err != nil:
			return plays, false
		case b == extension:
			const again = "\x0bNETSCAPE2.0\x03\x01"
			head, _ := r.Peek(1 + len(again) + 2)
			if rest, ok := bytes.CutPrefix(head, append([]byte{application}, again...)); ok && len(rest) == 2 {
				if plays = int(binary.LittleEndian.Uint16(rest)); plays > 0 {
					plays++
				}
			}
			if !skip(1) || !blocks() {
				return plays, false
			}
		case b == image:
			place := make([]byte, 9)
			if _, err := io.ReadFull(r, place); err != nil || !table(place[8]) || !skip(1) || !blocks() {
				return plays, false
			}
		default: // the trailer, or damage, which is no truncation
			return plays, true
		}
	}
}

// apngPlays returns the number of plays in the chunk acTL, which comes before the first picture (PNG, third edition, 11.3.6.1).
func apngPlays(f *os.File) int {
	const signature, crc = 8, 4
	r := bufio.NewReader(f)
	if _, err := r.Discard(signature); err != nil {
		return 0
	}
	for {
		chunk := make([]byte, 16) // length, type, and in acTL the numbers of frames and of plays
		if _, err := io.ReadFull(r, chunk[:8]); err != nil {
			return 0
		}
		length := int(binary.BigEndian.Uint32(chunk))
		switch string(chunk[4:8]) {
		case "acTL":
			if _, err := io.ReadFull(r, chunk[8:]); err != nil {
				return 0
			}
			return int(min(binary.BigEndian.Uint32(chunk[12:]), 1<<31-1))
		case "IDAT":
			return 0
		}
		if _, err := r.Discard(length + crc); err != nil {
			return 0
		}
	}
}
