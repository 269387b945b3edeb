package smartcopy

import "github.com/asticode/go-astiav"

// Keep returns the encoder's packet with what the packet that it replaces says beside the picture, where a codec's packets hold
// more: DV has the tape's timecode, the date of the recording, how the picture was scanned, and the sound.
func (s *Splicer) Keep(made, replaced []byte) []byte {
	const block, video = 80, 4 // of IEC 61834-2, each with its kind in the first three bits
	if s.codec.ID() != astiav.CodecIDDvvideo || len(made) != len(replaced) {
		return made
	}
	for at := 0; at+block <= len(made); at += block {
		if kind := made[at] >> 5; kind != video && replaced[at]>>5 == kind {
			copy(made[at:at+block], replaced[at:])
		}
	}
	return made
}
