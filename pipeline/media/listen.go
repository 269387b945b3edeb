package media

import (
	"context"
	"errors"
	"io"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/streams"
)

// Sound is decoded sound.
type Sound = streams.Heard

// lagged is how many seconds behind the pictures a file may hold the sound that goes with them.
const lagged = 2

// Listen decodes the first sound of a file from one time to another, in seconds after its start. It returns nil if there
// is none that can be decoded.
func Listen(ctx context.Context, name string, opt ReaderOptions, from, to *big.Rat) (*Sound, error) {
	opt.From, opt.To = Start{At: from}, nil
	r, err := Open(ctx, name, opt)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &r.source.Streams
	for _, in := range s.Input.Streams() {
		if in.CodecParameters().MediaType() != astiav.MediaTypeAudio || s.Scrambled[in.Index()] {
			continue
		}
		l, err := streams.NewListener(s, in, from, to)
		if err != nil {
			continue
		}
		defer l.Free()
		detach := r.Attach(l.Packet)
		defer detach()
		if err := r.SkimTo(new(big.Rat).Add(to, big.NewRat(lagged, 1))); errors.Is(err, io.EOF) {
			l.Packet(nil)
		} else if err != nil {
			return nil, err
		}
		return &l.Heard, l.Err()
	}
	return nil, nil
}
