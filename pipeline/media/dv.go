package media

import (
	"io"
	"os"

	"github.com/asticode/go-astiav"
)

// A frame of DV is a number of blocks (IEC 61834-2), whose first three bits say what is in them.
const (
	dvBlock = 80
	dvAux   = 2 // packs about the video
	dvSound = 3
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

// dvSequence is how many blocks a sequence has: a frame of 50 fields a second has twelve or more, and one of 60 ten or more.
const dvSequence = 150

// soundPairs returns how many pairs of channels a sequence of DV has, by the pack AAUX SOURCE (IEC 61834-4, 50h); 0 if it has none.
func soundPairs(sequence []byte) int {
	const source, low = 0x50, 2 // 32 kHz
	for at := 0; at+dvBlock <= len(sequence); at += dvBlock {
		if sequence[at]>>5 != dvSound || sequence[at+3] != source {
			continue
		}
		kind, rate, coarse := sequence[at+6]&31, sequence[at+7]>>3&7, sequence[at+7]&7 > 0
		switch {
		case kind == 2 || kind == 0 && coarse && rate == low:
			return 2
		case kind == 3:
			return 4
		}
		return 1
	}
	return 0
}

// findTapeSound has FFmpeg know all channels of a DV file, which may have more of them further on: it adds streams as it comes to
// them.
func (d *demuxer) findTapeSound() {
	if d.input.InputFormat().Name() != "dv" || !Seekable(d.name) {
		return
	}
	file, err := os.Open(d.name)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := file.Stat()
	video := d.input.Streams()[0]
	if err != nil || info.Size() == 0 || video.Duration() <= 0 {
		return
	}
	const fifty, frames = 1 << 7, 25 // of 50 fields a second; every 25th frame is looked at
	sequence := make([]byte, dvSequence*dvBlock)
	most, place, step := d.input.NbStreams()-1, int64(-1), int64(0)
	for at := int64(0); ; at += step {
		if _, err := io.ReadFull(io.NewSectionReader(file, at, int64(len(sequence))), sequence); err != nil {
			break
		}
		if step == 0 {
			step = frames * 10 * int64(len(sequence))
			if sequence[3]&fifty > 0 {
				step = frames * 12 * int64(len(sequence))
			}
		}
		if n := soundPairs(sequence); n > most {
			most, place = n, at
		}
	}
	if place < 0 {
		return
	}
	back := astiav.NewSeekFlags(astiav.SeekFlagBackward)
	if d.input.SeekFrame(0, int64(float64(place)/float64(info.Size())*float64(video.Duration())), back) == nil {
		packet := astiav.AllocPacket()
		for range 2 * frames {
			if d.input.NbStreams() > most || d.input.ReadFrame(packet) != nil {
				break
			}
			packet.Unref()
		}
		packet.Free()
	}
	_ = d.input.SeekFrame(0, 0, back)
}
