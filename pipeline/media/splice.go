package media

/*
#cgo pkg-config: libavformat libavcodec
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

static int intra_only(enum AVCodecID id)
{
	const AVCodecDescriptor *d = avcodec_descriptor_get(id);
	return d && (d->props & AV_CODEC_PROP_INTRA_ONLY);
}

// The tag that the stream had, where it means the same codec in the output.
static unsigned kept_tag(const AVFormatContext *c, const AVCodecParameters *p)
{
	const struct AVCodecTag *const *tags = c->oformat->codec_tag;
	unsigned tag;
	if (!tags || av_codec_get_id(tags, p->codec_tag) == p->codec_id || !av_codec_get_tag2(tags, p->codec_id, &tag))
		return p->codec_tag;
	return 0;
}
*/
import "C"

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// Splicer makes packets that may stand among those of a source: of its codec, size
// and sample format, with a decoder configuration that holds for both.
type Splicer struct {
	name   string
	source *Reader
	opt    WriterOptions
	codec  *astiav.Codec
	want   Parameters
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

// restarting returns what says of a packet of the stream whether nothing behind it,
// in decoding order, refers to what comes before; nil where that is not known of the
// codec.
func (r *Reader) restarting() (func(Packet) bool, error) {
	p := r.stream.CodecParameters()
	switch id := p.CodecID(); {
	case id == astiav.CodecIDH264 || id == astiav.CodecIDHevc:
		config, err := parseConfig(id == astiav.CodecIDHevc, p.ExtraData())
		if err != nil {
			return nil, err
		}
		return func(p Packet) bool {
			nals, err := splitNALs(p.Data, config.length)
			return err == nil && isKey(p) && restarts(config.hevc, nals)
		}, nil
	case id == astiav.CodecIDFfv1, slices.Contains(stills, id), C.intra_only(C.enum_AVCodecID(id)) != 0:
		return isKey, nil
	default:
		return nil, fmt.Errorf("input %q is %s; packets are copied of h264, hevc, ffv1 and codecs all of whose pictures stand alone", r.name, id)
	}
}

// stills are the codecs of single pictures, which FFmpeg does not say so of.
var stills = []astiav.CodecID{astiav.CodecIDPng, astiav.CodecIDTiff, astiav.CodecIDDpx, astiav.CodecIDExr, astiav.CodecIDBmp}

// PacketTime is what an index says of a packet: its times, in the stream's time
// base, whether it is a key frame, and whether nothing behind it in decoding order
// refers to what comes before.
type PacketTime struct {
	PTS, DTS, Duration int64
	Key, Restart       bool
}

// isKey says whether a packet is a key frame.
func isKey(p Packet) bool { return astiav.PacketFlags(p.Flags).Has(astiav.PacketFlagKey) }

// Grouping is how frames may depend on each other.
type Grouping struct {
	Reorder int // how many packets late a frame comes out at most
	Longest int // frames from one key frame to the next at most
}

// Index reads all packets of a source that was opened with Packets. damage says where
// they end before they should. What cannot be spliced is a fault.Usage error.
func (r *Reader) Index() (index []PacketTime, damage, err error) {
	restart, err := r.restarting()
	if err != nil {
		return nil, nil, unsuited(err)
	}
	for {
		p, err := r.NextPacket()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, err
		}
		switch {
		case p.PTS == noTimestamp:
			return nil, nil, unsuited(fmt.Errorf("packet %d of %q has no timestamp", len(index), r.name))
		case slices.ContainsFunc(p.Side, func(s PacketSide) bool {
			return s.Kind == C.AV_PKT_DATA_NEW_EXTRADATA || s.Kind == C.AV_PKT_DATA_PARAM_CHANGE
		}):
			return nil, nil, unsuited(fmt.Errorf("the stream changes at packet %d of %q", len(index), r.name))
		}
		index = append(index, PacketTime{p.PTS, p.DTS, p.Duration, isKey(p), restart(p)})
		r.lastPTS, r.endTime = max(r.lastPTS, p.PTS), max(r.endTime, p.PTS+max(p.Duration, 0))
	}
	if r.times.joined() {
		return nil, nil, unsuited(fmt.Errorf("timestamps of %q jump", r.name))
	}
	if damage = r.end(); errors.Is(damage, io.EOF) {
		damage = nil
	}
	return index, damage, nil
}

// NoTimestamp stands for a time that a packet does not have.
const NoTimestamp = noTimestamp

// NewSplicer finds encoder and settings whose packets may stand among the source's in
// the file called name. Where there are none, a fault.Usage error says why.
func NewSplicer(ctx context.Context, name string, source *Reader, opt WriterOptions, g Grouping) (*Splicer, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Splicer{name: name, source: source, opt: opt}
	if err := s.match(ctx, g); err != nil {
		return nil, unsuited(err)
	}
	return s, nil
}

func (s *Splicer) match(ctx context.Context, g Grouping) (err error) {
	p, v := s.source.stream.CodecParameters(), s.source.Video()
	if v.Interlaced {
		return fmt.Errorf("input %q is interlaced", s.source.name)
	}
	if s.opt.PixelFormat != "" && s.opt.PixelFormat != v.Source {
		return fmt.Errorf("Output.PixelFormat %s: the copied pictures are %s", s.opt.PixelFormat, v.Source)
	}
	s.opt.PixelFormat = v.Source
	if s.opt.Codec == "" {
		if s.opt.Codec = map[astiav.CodecID]string{
			astiav.CodecIDH264: "libx264", astiav.CodecIDHevc: "libx265", astiav.CodecIDProres: "prores_ks",
		}[p.CodecID()]; s.opt.Codec == "" {
			if codec := astiav.FindEncoder(p.CodecID()); codec != nil {
				s.opt.Codec = codec.Name()
			}
		}
	}
	if s.codec = astiav.FindEncoderByName(s.opt.Codec); s.codec == nil {
		return fmt.Errorf("this FFmpeg build has no encoder %q for %s", s.opt.Codec, p.CodecID())
	}
	if s.codec.ID() != p.CodecID() {
		return fmt.Errorf("Output.VideoCodec %s: the copied pictures are %s", s.opt.Codec, p.CodecID())
	}
	if id := p.CodecID(); id == astiav.CodecIDH264 || id == astiav.CodecIDHevc {
		if s.config, err = parseConfig(id == astiav.CodecIDHevc, p.ExtraData()); err != nil {
			return err
		}
	}
	own := s.opt.Options
	for _, set := range s.candidates(g) {
		for k, value := range own {
			if k == "x265-params" && set[k] != "" {
				value = set[k] + ":" + value
			}
			set[k] = value
		}
		s.opt.Options = set
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
	w, err := createPart(ctx, s.name, s.source, s.opt, 0, func(Packet) error { return nil }, true)
	if err != nil {
		return err
	}
	s.want = w.Parameters()
	w.Abort()
	p := s.source.stream.CodecParameters()
	s.header = p.ExtraData()
	if s.want.PixelFormat != s.opt.PixelFormat {
		return fmt.Errorf("encoder %s does not take %s", s.opt.Codec, s.opt.PixelFormat)
	}
	if s.config == nil {
		// Some containers pad it to an even length.
		if !slices.Contains(selfDescribing, p.CodecID()) && !bytes.Equal(bytes.TrimRight(s.want.Header, "\x00"), bytes.TrimRight(s.header, "\x00")) {
			return fmt.Errorf("no settings of encoder %s that were tried give the input's header; name them with Output.VideoOptions", s.opt.Codec)
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
		return fmt.Errorf("encoder %s does not say its parameter sets", s.opt.Codec)
	}
	var added [][]byte
	if s.to, s.sets, added, err = joinSets(s.config.hevc, s.config.sets, own); err == nil {
		s.header, err = s.config.with(added)
	}
	return err
}

// candidates are the encoder's options to try.
func (s *Splicer) candidates(g Grouping) []map[string]string {
	p := s.source.stream.CodecParameters()
	profile, level := int(p.Profile()), int(p.Level())
	set := map[string]string{}
	switch s.opt.Codec {
	case "libx264":
		if name := map[int]string{66: "baseline", 66 | 1<<9: "baseline", 77: "main", 100: "high", 110: "high10", 122: "high422", 244: "high444"}[profile]; name != "" {
			set["profile"] = name
		}
		if level > 0 {
			set["level"] = strconv.Itoa(level)
		}
		set["g"] = strconv.Itoa(g.Longest)
		switch g.Reorder {
		case 0:
			set["bf"] = "0"
		case 1:
			set["b-pyramid"] = "none"
		}
	case "libx265":
		set["x265-params"] = "open-gop=0"
		set["g"] = strconv.Itoa(g.Longest)
		switch g.Reorder {
		case 0:
			set["x265-params"] += ":bframes=0"
		case 1:
			set["x265-params"] += ":b-pyramid=0"
		}
		if s.opt.CRF < 0 {
			s.opt.CRF = smartCRF
		}
	case "prores_ks":
		set["profile"] = strconv.Itoa(proresProfile(profile, uint32(p.CodecTag())))
	case "dnxhd":
		return s.dnxhd(profile)
	case "mjpeg":
		set["flags"], set["global_quality"] = "+qscale", strconv.Itoa(2*C.FF_QP2LAMBDA)
	case "ffv1":
		return ffv1Settings(len(p.ExtraData()) > 0)
	}
	return []map[string]string{set}
}

// smartCRF is libx265's constant rate factor where none is given: its own is coarser
// than what frames among others should be.
const smartCRF = 18

// proresProfile is what a stream states, or else what its tag does.
func proresProfile(stated int, tag uint32) int {
	if stated >= 0 {
		return stated
	}
	for n, name := range []string{"apco", "apcs", "apcn", "apch", "ap4h", "ap4x"} {
		if tag == uint32(name[0])|uint32(name[1])<<8|uint32(name[2])<<16|uint32(name[3])<<24 {
			return n
		}
	}
	return 3
}

// dnxhd states the profile, of the first ones by a rate that is one of a list.
func (s *Splicer) dnxhd(profile int) (list []map[string]string) {
	if profile > 0 {
		return []map[string]string{{"profile": strconv.Itoa(profile)}}
	}
	const below = 16 // frames have some padding beyond the nominal rate
	rate := s.source.stream.CodecParameters().BitRate() / 1e6
	for mega := rate; mega > max(rate-below, 0); mega-- {
		list = append(list, map[string]string{"b": strconv.FormatInt(mega, 10) + "M"})
	}
	return list
}

// ffv1Settings are all that an FFV1 header tells apart, the usual ones first. It is
// coded so that trying is easier than reading.
func ffv1Settings(header bool) (list []map[string]string) {
	if !header {
		return []map[string]string{{"level": "1"}}
	}
	for _, coder := range []string{"0", "1", "2"} {
		for _, context := range []string{"0", "1"} {
			for _, crc := range []string{"1", "0"} {
				for _, group := range []string{"12", "1"} {
					for _, slices := range []string{"4", "24", "16", "12", "9", "6", "30", "15", "20", "25", "28", "35", "36", "42", "49", "64"} {
						list = append(list, map[string]string{
							"level": "3", "coder": coder, "context": context, "slicecrc": crc, "g": group, "slices": slices,
						})
					}
				}
			}
		}
	}
	return list
}

// Encode opens the encoder for frames that follow each other. Packets come to put
// with the frames' numbers, from 0, as timestamps.
func (s *Splicer) Encode(ctx context.Context, put func(Packet) error) (*Writer, error) {
	w, err := createPart(ctx, s.name, s.source, s.opt, 0, func(p Packet) error {
		if s.config != nil {
			if err := s.adopt(&p); err != nil {
				return unsuited(err)
			}
		}
		return put(p)
	}, true)
	if err == nil && !w.Parameters().Equal(s.want) {
		w.Abort()
		w, err = nil, unsuited(errors.New("the encoder does not set itself up the same way twice"))
	}
	return w, err
}

// adopt makes the encoder's packet one of the source's kind.
func (s *Splicer) adopt(p *Packet) error {
	var nals [][]byte
	if isKey(*p) && s.config.length == 0 {
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

// describe makes out a stream like the source's with the joint configuration.
func (s *Splicer) describe(out *astiav.Stream, c *astiav.FormatContext) error {
	in, p := s.source.stream.CodecParameters(), out.CodecParameters()
	if err := in.Copy(p); err != nil {
		return err
	}
	p.SetCodecTag(astiav.CodecTag(C.kept_tag(native[C.AVFormatContext](c), native[C.AVCodecParameters](in))))
	if len(s.header) == 0 {
		return nil
	}
	return p.SetExtraData(s.header)
}

// CreateSplice opens name as Create does, for packets of the source and of s, with
// times in the source's time base, by WritePacket.
func CreateSplice(ctx context.Context, name string, source *Reader, opt WriterOptions, s *Splicer) (*Writer, error) {
	w := newWriter(ctx, source, opt)
	w.splicer, w.codec, w.joined = s, s.codec, true
	w.unit = source.stream.TimeBase()
	w.zero = ticks(source.Video().Start, w.unit)
	if err := w.begin(w.openSplice(name)); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Writer) openSplice(name string) (err error) {
	if w.target, err = newTarget(name, w.source.name, w.opt.Overwrite); err != nil {
		return err
	}
	w.target.numbers = w.opt.Numbers
	if err := w.openFormat(name); err != nil {
		return err
	}
	if p := w.source.stream.CodecParameters(); !holds(w.output, p) {
		return unsuited(fmt.Errorf("the %s container does not take %s", w.output.OutputFormat().Name(), p.CodecID()))
	}
	return w.openMuxer()
}
