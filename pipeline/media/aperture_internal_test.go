package media

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// atom returns a box, with the boxes within it.
func atom(kind string, content ...[]byte) []byte {
	all := bytes.Join(content, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(all))), kind...), all...)
}

// apertures is a movie of two tracks, the second of which has a clean aperture of 704x480.5.
func apertures() []byte {
	header := func(id byte) []byte { return atom("tkhd", make([]byte, 12), []byte{0, 0, 0, id}) }
	clap := atom("clap", []byte{0, 0, 2, 192, 0, 0, 0, 1, 0, 0, 3, 193, 0, 0, 0, 2}, make([]byte, 16))
	media := func(boxes ...[]byte) []byte {
		return atom("mdia", atom("minf", atom("stbl", atom("stsd", make([]byte, 8), atom("apch", append([][]byte{make([]byte, 78)}, boxes...)...)))))
	}
	return append(atom("ftyp"), atom("moov", atom("trak", header(1), media()), atom("trak", header(2), media(atom("fiel"), clap)))...)
}

func TestCleanAperture(t *testing.T) {
	file := apertures()
	for track, want := range []string{"0x0", "0x0", "704x961/2"} {
		w, h := cleanAperture(bytes.NewReader(file), int64(len(file)), track)
		if got := w.RatString() + "x" + h.RatString(); got != want {
			t.Errorf("track %d: %s, want %s", track, got, want)
		}
	}
}

func FuzzCleanAperture(f *testing.F) {
	f.Add(apertures())
	f.Fuzz(func(_ *testing.T, file []byte) {
		cleanAperture(bytes.NewReader(file), int64(len(file)), 2)
	})
}
