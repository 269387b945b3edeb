package media

// A frame of DV is a number of blocks (IEC 61834-2), whose first three bits say what is in them.
const (
	dvBlock = 80
	dvAux   = 2 // packs about the video
	dvVideo = 4
)

// dvTrack is how many blocks of video a track of a tape has.
const dvTrack = 135

// isSpoilt reports whether a frame of DV has a block of video that the tape's player could not read and has not concealed, or as many
// as a track has that it has replaced from other frames, by their status (STA, IEC 61834-2, 11.4.2): 0111 and 1111 are errors, and
// all others but 0000 concealed, the upper bit aside.
func isSpoilt(frame []byte) bool {
	concealed := 0
	for at := 0; at+dvBlock <= len(frame); at += dvBlock {
		if frame[at]>>5 != dvVideo {
			continue
		}
		switch frame[at+3] >> 4 & 7 {
		case 0:
		case 7:
			return true
		default:
			concealed++
		}
	}
	return concealed >= dvTrack
}

// markedProgressive has a frame of DV say that it is not interlaced, and returns it. FFmpeg's encoder always says that it is, in
// the pack VAUX SOURCE CONTROL (IEC 61834-4, 61h).
func markedProgressive(frame []byte) []byte {
	const pack, control, interlaced = 5, 0x61, 1 << 4
	for at := 0; at+dvBlock <= len(frame); at += dvBlock {
		for p := at + 3; frame[at]>>5 == dvAux && p+pack <= at+dvBlock; p += pack {
			if frame[p] == control {
				frame[p+3] &^= interlaced
			}
		}
	}
	return frame
}

// KeepTape copies into a frame of DV that was encoded what the one that it replaces says beside the picture: the tape's timecode, the date
// of the recording, how the picture was scanned, and the sound. It leaves frames of unlike lengths alone.
func KeepTape(encoded, replaced []byte) {
	if len(encoded) != len(replaced) {
		return
	}
	for at := 0; at+dvBlock <= len(encoded); at += dvBlock {
		if kind := encoded[at] >> 5; kind != dvVideo && replaced[at]>>5 == kind {
			copy(encoded[at:at+dvBlock], replaced[at:])
		}
	}
}
