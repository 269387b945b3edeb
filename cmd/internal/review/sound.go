package review

import (
	"encoding/binary"
	"math/big"
	"net/http"
	"strconv"

	"retime/pipeline/fault"
)

// soundSeconds is how much sound an answer holds.
const soundSeconds = 20

// serveSound sends the source's sound from a time on as WAV, for the page to play beside the frames. A clip without sound
// has no content.
func (c *session) serveSound(w http.ResponseWriter, r *http.Request) error {
	from, err := number(r, "from", 1<<30)
	if err != nil {
		return err
	}
	select { // sound is decoded once at a time
	case c.listening <- struct{}{}:
		defer func() { <-c.listening }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	s, err := c.maker.Sound(r.Context(), big.NewRat(from, 1), big.NewRat(from+soundSeconds, 1))
	if err != nil {
		return fault.New(fault.KindOf(err), "the sound from %d s on: %w", from, err)
	}
	if s == nil {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	const width = 2 // bytes of a sample
	data := width * len(s.Samples)
	b := append(make([]byte, 0, 44+data), "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(36+data))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	for _, v := range []uint16{1, uint16(s.Channels)} { // PCM
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Rate*s.Channels*width))
	for _, v := range []uint16{uint16(s.Channels * width), 8 * width} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(data))
	for _, v := range s.Samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	w.Header().Set("Content-Type", "audio/wav")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b) // the tab is gone if it fails
	return nil
}
