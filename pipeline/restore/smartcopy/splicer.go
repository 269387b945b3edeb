// Package smartcopy copies the packets of a source and puts newly encoded frames among
// them. It finds encoder settings whose packets can be mixed with the source's, and
// renumbers the encoder's parameter sets.
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
	"retime/pipeline/media/nalunit"
)

// Splicer makes packets that can be mixed with a source's packets. They have the source's codec,
// size and pixel format, and one decoder configuration serves both.
type Splicer struct {
	name   string
	source *media.Reader
	opt    media.WriterOptions
	codec  *astiav.Codec
	want   media.Parameters
	header []byte // the output stream's extradata
	// For H.264 and HEVC only:
	config *decoderConfig // nil for other codecs
	length int            // bytes in the length before each NAL unit in the file; 0 for start codes
	to     setNumbers     // new numbers of the encoder's parameter sets
	sets   [][]byte       // the encoder's parameter sets with their new numbers
}

// unsuited turns err into a fault.Usage error that says why packets cannot be copied. It returns
// cancellation and write errors unchanged.
func unsuited(err error) error {
	if k := fault.KindOf(err); k == fault.Cancelled || k == fault.CannotWrite {
		return err
	}
	return fault.New(fault.Usage, "Options.SmartCopy: %w; leave it out to encode all frames", err)
}

// Grouping describes how frames may depend on each other, and how the first begins.
type Grouping struct {
	Reorder int    // maximum number of packets by which the encoder may delay a frame
	Longest int    // maximum number of frames from one key frame to the next
	Even    bool   // all frames last equally long, as nearly as their timestamps tell
	Head    []byte // the first bytes of the first packet, as Index returns them
}

// NewSplicer finds an encoder and settings whose packets can be mixed with the source's
// in the file called name. If there are none, a fault.Usage error says why.
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
	if s.opt.Encoder.PixelFormat != "" && s.opt.Encoder.PixelFormat != v.Source {
		return fault.New(fault.Usage, "Output.PixelFormat %s: the copied pictures are %s", s.opt.Encoder.PixelFormat, v.Source)
	}
	s.opt.Encoder.PixelFormat = v.Source
	if s.opt.Encoder.Codec == "" {
		if s.opt.Encoder.Codec = map[astiav.CodecID]string{
			astiav.CodecIDH264: "libx264", astiav.CodecIDHevc: "libx265", astiav.CodecIDProres: "prores_ks",
		}[p.CodecID()]; s.opt.Encoder.Codec == "" {
			codec := astiav.FindEncoder(p.CodecID())
			if codec == nil {
				return fmt.Errorf("this FFmpeg build has no encoder for %s", p.CodecID())
			}
			s.opt.Encoder.Codec = codec.Name()
		}
	}
	if s.codec = astiav.FindEncoderByName(s.opt.Encoder.Codec); s.codec == nil {
		return fmt.Errorf("this FFmpeg build has no encoder %q for %s", s.opt.Encoder.Codec, p.CodecID())
	}
	if s.codec.ID() != p.CodecID() {
		return fault.New(fault.Usage, "Output.VideoCodec %s: the copied pictures are %s", s.opt.Encoder.Codec, p.CodecID())
	}
	if id := p.CodecID(); isNAL(id) {
		if s.config, err = parseConfig(id == astiav.CodecIDHevc, p.ExtraData()); err != nil {
			return err
		}
	}
	own := s.opt.Encoder.Options
	err = fmt.Errorf("the input states no bit rate, which encoder %s needs", s.opt.Encoder.Codec)
	for _, set := range s.candidates(g) {
		for k, value := range own {
			if k == "x265-params" && set[k] != "" {
				value = set[k] + ":" + value
			}
			set[k] = value
		}
		s.opt.Encoder.Options = set
		if err = s.try(ctx, g.Even); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// selfDescribing are the codecs in which every picture contains everything that a decoder needs.
var selfDescribing = []astiav.CodecID{astiav.CodecIDProres, astiav.CodecIDDnxhd, astiav.CodecIDMjpeg}

// try opens the encoder and compares its header with the source's. even reports whether all frames last equally long.
func (s *Splicer) try(ctx context.Context, even bool) error {
	e, err := media.NewEncoder(ctx, s.name, s.source, s.opt, 0, func(media.Packet) error { return nil })
	if err != nil {
		return err
	}
	s.want = e.Parameters()
	framing := e.Framing()
	e.Abort()
	if framing.OneRate && !even {
		return errors.New("the file has one rate for its frames, and those of the input last unequally long")
	}
	p := s.source.Source().Codec()
	s.header = p.ExtraData()
	if s.want.PixelFormat != s.opt.Encoder.PixelFormat {
		return fmt.Errorf("encoder %s does not take %s", s.opt.Encoder.Codec, s.opt.Encoder.PixelFormat)
	}
	if s.config == nil {
		// Some containers pad the header to an even length.
		if !slices.Contains(selfDescribing, p.CodecID()) && !bytes.Equal(bytes.TrimRight(s.want.Header, "\x00"), bytes.TrimRight(s.header, "\x00")) {
			return fault.New(fault.Usage, "no settings of encoder %s that were tried give the input's header; name them with Output.VideoOptions", s.opt.Encoder.Codec)
		}
		return nil
	}
	if s.length = s.config.length; framing.StartCodes {
		s.length = 0
	}
	var own [][]byte
	for _, nal := range nalunit.SplitStartCodes(s.want.Header) {
		if isSet(s.config.hevc, nal) {
			own = append(own, nal)
		}
	}
	if len(own) == 0 {
		return fmt.Errorf("encoder %s does not report its parameter sets", s.opt.Encoder.Codec)
	}
	var added [][]byte
	if s.to, s.sets, added, err = joinSets(s.config.hevc, s.config.sets, own); err == nil {
		like := *s.config
		if s.length == 0 {
			like.head = nil
		}
		s.header, err = like.with(added)
	}
	return err
}

// Encode opens the encoder for consecutive frames. put receives the packets, whose
// timestamps are the frames' numbers from 0.
func (s *Splicer) Encode(ctx context.Context, put func(media.Packet) error) (*Encoder, error) {
	marks := s.newMarks()
	e, err := media.NewEncoder(ctx, s.name, s.source, s.opt, 0, func(p media.Packet) error {
		if s.config != nil {
			if err := s.adopt(&p); err != nil {
				return unsuited(err)
			}
		}
		if err := marks.decode(p); err != nil {
			return err
		}
		return put(p)
	})
	if err == nil && !e.Parameters().Equal(s.want) {
		e.Abort()
		e, err = nil, unsuited(errors.New("the encoder does not set itself up the same way twice"))
	}
	if err != nil {
		marks.close()
		return nil, err
	}
	return &Encoder{e, marks}, nil
}

// Create opens the file as media.CreateCopy does, for the packets of the source and the encoder.
// WritePacket takes these packets with times in the source's time base.
func (s *Splicer) Create(ctx context.Context, opt media.WriterOptions) (*media.Output, error) {
	o, err := media.CreateCopy(ctx, s.name, s.source, opt, s.codec.Name(), s.header)
	if e := (*media.CodecError)(nil); errors.As(err, &e) {
		return nil, unsuited(err)
	}
	return o, err
}

// Reframe gives a packet of the source the framing that the file wants. With start codes, all parameter sets precede each key
// frame, so that decoding can begin there.
func (s *Splicer) Reframe(p *media.Packet) error {
	if s.config == nil || s.length == s.config.length {
		return nil
	}
	nals, err := nalunit.Split(p.Data, s.config.length)
	if err != nil {
		return unsuited(err)
	}
	if p.IsKey() {
		first := 0
		if len(nals) > 0 && isDelimiter(s.config.hevc, nals[0]) {
			first = 1
		}
		nals = slices.Insert(nals, first, slices.DeleteFunc(slices.Clone(s.config.sets), func(set []byte) bool {
			return slices.ContainsFunc(nals, func(nal []byte) bool { return sameSet(s.config.hevc, set, nal) })
		})...)
	}
	p.Data = nalunit.Join(nals, s.length)
	return nil
}

// adopt converts the encoder's packet to the file's NAL unit framing and the new numbers of
// parameter sets.
func (s *Splicer) adopt(p *media.Packet) error {
	var nals [][]byte
	if p.IsKey() && s.length == 0 {
		nals = append(nals, s.sets...)
	}
	for _, nal := range nalunit.SplitStartCodes(p.Data) {
		if isSet(s.config.hevc, nal) {
			continue
		}
		nal, err := renumber(s.config.hevc, nal, s.to)
		if err != nil {
			return err
		}
		nals = append(nals, nal)
	}
	p.Data = nalunit.Join(nals, s.length)
	return nil
}
