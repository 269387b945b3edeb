// Package smartcopy puts frames that are encoded anew among the packets of a source, which
// are copied: it finds encoder settings whose packets may stand among the source's, and
// gives their parameter sets numbers of their own.
package smartcopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// Splicer makes packets that may stand among those of a source: of its codec, size
// and sample format, with a decoder configuration that holds for both.
type Splicer struct {
	name   string
	source *media.Reader
	opt    media.WriterOptions
	codec  *astiav.Codec
	want   media.Parameters
	header []byte // the output stream's extradata
	// Of H.264 and HEVC only:
	config *decoderConfig // nil for other codecs
	to     setNumbers     // of the encoder's parameter sets
	sets   [][]byte       // these, with their numbers
}

// unsuited is why packets cannot be copied.
func unsuited(err error) error {
	if k := fault.KindOf(err); k == fault.Cancelled || k == fault.CannotWrite {
		return err
	}
	return fault.New(fault.Usage, "Options.SmartCopy: %w; leave it out to encode all frames", err)
}

// Grouping is how frames may depend on each other.
type Grouping struct {
	Reorder int // how many packets late a frame comes out at most
	Longest int // frames from one key frame to the next at most
}

// NewSplicer finds encoder and settings whose packets may stand among the source's in
// the file called name. Where there are none, a fault.Usage error says why.
func NewSplicer(ctx context.Context, name string, source *media.Reader, opt media.WriterOptions, g Grouping) (*Splicer, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	opt.Encoder.GlobalHeader = true
	s := &Splicer{name: name, source: source, opt: opt}
	if err := s.match(ctx, g); err != nil {
		return nil, unsuited(err)
	}
	return s, nil
}

func (s *Splicer) match(ctx context.Context, g Grouping) (err error) {
	p, v := s.source.Source().Codec(), s.source.Video()
	if v.Interlaced {
		return fmt.Errorf("input %q is interlaced", s.source.Source().Name)
	}
	if s.opt.Encoder.PixelFormat != "" && s.opt.Encoder.PixelFormat != v.Source {
		return fmt.Errorf("Output.PixelFormat %s: the copied pictures are %s", s.opt.Encoder.PixelFormat, v.Source)
	}
	s.opt.Encoder.PixelFormat = v.Source
	if s.opt.Encoder.Codec == "" {
		if s.opt.Encoder.Codec = map[astiav.CodecID]string{
			astiav.CodecIDH264: "libx264", astiav.CodecIDHevc: "libx265", astiav.CodecIDProres: "prores_ks",
		}[p.CodecID()]; s.opt.Encoder.Codec == "" {
			if codec := astiav.FindEncoder(p.CodecID()); codec != nil {
				s.opt.Encoder.Codec = codec.Name()
			}
		}
	}
	if s.codec = astiav.FindEncoderByName(s.opt.Encoder.Codec); s.codec == nil {
		return fmt.Errorf("this FFmpeg build has no encoder %q for %s", s.opt.Encoder.Codec, p.CodecID())
	}
	if s.codec.ID() != p.CodecID() {
		return fmt.Errorf("Output.VideoCodec %s: the copied pictures are %s", s.opt.Encoder.Codec, p.CodecID())
	}
	if id := p.CodecID(); isNAL(id) {
		if s.config, err = parseConfig(id == astiav.CodecIDHevc, p.ExtraData()); err != nil {
			return err
		}
	}
	own := s.opt.Encoder.Options
	for _, set := range s.candidates(g) {
		for k, value := range own {
			if k == "x265-params" && set[k] != "" {
				value = set[k] + ":" + value
			}
			set[k] = value
		}
		s.opt.Encoder.Options = set
		if err = s.try(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// selfDescribing are the codecs whose every picture says all that a decoder needs.
var selfDescribing = []astiav.CodecID{astiav.CodecIDProres, astiav.CodecIDDnxhd, astiav.CodecIDMjpeg}

// try opens the encoder and compares what it says of its stream with the source's.
func (s *Splicer) try(ctx context.Context) error {
	e, err := media.NewEncoder(ctx, s.name, s.source, s.opt, 0, func(media.Packet) error { return nil })
	if err != nil {
		return err
	}
	s.want = e.Parameters()
	e.Abort()
	p := s.source.Source().Codec()
	s.header = p.ExtraData()
	if s.want.PixelFormat != s.opt.Encoder.PixelFormat {
		return fmt.Errorf("encoder %s does not take %s", s.opt.Encoder.Codec, s.opt.Encoder.PixelFormat)
	}
	if s.config == nil {
		// Some containers pad it to an even length.
		if !slices.Contains(selfDescribing, p.CodecID()) && !bytes.Equal(bytes.TrimRight(s.want.Header, "\x00"), bytes.TrimRight(s.header, "\x00")) {
			return fmt.Errorf("no settings of encoder %s that were tried give the input's header; name them with Output.VideoOptions", s.opt.Encoder.Codec)
		}
		return nil
	}
	var own [][]byte
	for _, nal := range splitStartCodes(s.want.Header) {
		if isSet(s.config.hevc, nal) {
			own = append(own, nal)
		}
	}
	if len(own) == 0 {
		return fmt.Errorf("encoder %s does not say its parameter sets", s.opt.Encoder.Codec)
	}
	var added [][]byte
	if s.to, s.sets, added, err = joinSets(s.config.hevc, s.config.sets, own); err == nil {
		s.header, err = s.config.with(added)
	}
	return err
}

// Encode opens the encoder for frames that follow each other. Packets come to put
// with the frames' numbers, from 0, as timestamps.
func (s *Splicer) Encode(ctx context.Context, put func(media.Packet) error) (*media.Encoder, error) {
	e, err := media.NewEncoder(ctx, s.name, s.source, s.opt, 0, func(p media.Packet) error {
		if s.config != nil {
			if err := s.adopt(&p); err != nil {
				return unsuited(err)
			}
		}
		return put(p)
	})
	if err == nil && !e.Parameters().Equal(s.want) {
		e.Abort()
		e, err = nil, unsuited(errors.New("the encoder does not set itself up the same way twice"))
	}
	return e, err
}

// Create opens the file as media.Create does, for packets of the source and of the
// encoder, with times in the source's time base, by WritePacket.
func (s *Splicer) Create(ctx context.Context, opt media.WriterOptions) (*media.Output, error) {
	o, err := media.CreateCopy(ctx, s.name, s.source, opt, s.codec.Name(), s.header)
	if e := (*media.CodecError)(nil); errors.As(err, &e) {
		return nil, unsuited(err)
	}
	return o, err
}

// adopt makes the encoder's packet one of the source's kind.
func (s *Splicer) adopt(p *media.Packet) error {
	var nals [][]byte
	if p.IsKey() && s.config.length == 0 {
		nals = append(nals, s.sets...)
	}
	for _, nal := range splitStartCodes(p.Data) {
		if isSet(s.config.hevc, nal) {
			continue
		}
		nal, err := renumber(s.config.hevc, nal, s.to)
		if err != nil {
			return err
		}
		nals = append(nals, nal)
	}
	p.Data = joinNALs(nals, s.config.length)
	return nil
}
