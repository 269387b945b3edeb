package media

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// choice is one rule for the selection of streams, with the syntax of ffmpeg's -map.
type choice struct {
	text     string
	spec     string // FFmpeg's stream specifier; empty for all
	drop     bool
	optional bool
}

// parseChoices parses rules such as "0:v:0", "0:a?" and "-0:s". The only input has number
// 0.
func parseChoices(list []string) ([]choice, error) {
	var out []choice
	for _, text := range list {
		c := choice{text: text}
		rest, drop := strings.CutPrefix(text, "-")
		rest, optional := strings.CutSuffix(rest, "?")
		input, spec, _ := strings.Cut(rest, ":")
		if input != "0" {
			return nil, fault.New(fault.Usage, "Input.Map %q: want [-]0[:STREAMS][?], such as 0:v:0, 0:a? or -0:s; the input is number 0", text)
		}
		c.spec, c.drop, c.optional = spec, drop, optional
		out = append(out, c)
	}
	return out, nil
}

// chooseStreams returns the indices of the streams that the rules select. It applies the
// rules in order, starting from all streams if there is no rule or the first one excludes
// streams, and otherwise from none.
func chooseStreams(input *astiav.FormatContext, list []string) (map[int]bool, error) {
	rules, err := parseChoices(list)
	if err != nil {
		return nil, err
	}
	chosen := map[int]bool{}
	if len(rules) == 0 || rules[0].drop {
		for _, s := range input.Streams() {
			chosen[s.Index()] = true
		}
	}
	for _, rule := range rules {
		found := false
		for _, s := range input.Streams() {
			match, err := rule.matches(input, s)
			if err != nil {
				return nil, err
			}
			if match {
				chosen[s.Index()], found = !rule.drop, true
			}
		}
		if !found && !rule.optional {
			return nil, fault.New(fault.Usage, "Input.Map %q matches no stream; the input has %s; a ? behind it makes it optional",
				rule.text, listStreams(input))
		}
	}
	return chosen, nil
}

func (c choice) matches(input *astiav.FormatContext, s *astiav.Stream) (match bool, err error) {
	var ok bool
	message, _ := av.WithMessage(func() error {
		match, ok = av.MatchStream(input, s, c.spec)
		return nil
	})
	if !ok {
		return false, fault.New(fault.Usage, "Input.Map %q: %q is no stream specifier%s", c.text, c.spec, detail(message))
	}
	return match, nil
}

// listStreams lists the input's streams for messages.
func listStreams(input *astiav.FormatContext) string {
	var parts []string
	for _, s := range input.Streams() {
		p := s.CodecParameters()
		parts = append(parts, fmt.Sprintf("0:%d (%s, %s)", s.Index(), p.MediaType(), p.CodecID()))
	}
	return strings.Join(parts, ", ")
}

// choose applies the rules and picks the video: of the selected video streams that are no cover
// pictures, the default one, or else one that moves, or else the one with the most pixels.
func (d *demuxer) choose(opt *ReaderOptions) (err error) {
	if d.chosen, err = chooseStreams(d.input, opt.Map); err != nil {
		return err
	}
	var list []*astiav.Stream
	for _, s := range d.input.Streams() {
		if s.CodecParameters().MediaType() == astiav.MediaTypeVideo && !av.IsAttachedPicture(s) && d.chosen[s.Index()] {
			list = append(list, s)
		}
	}
	if len(list) == 0 && len(opt.Map) > 0 {
		return fault.New(fault.Usage, "Input.Map chooses no video stream of %q; it has %s", d.name, listStreams(d.input))
	} else if len(list) == 0 {
		return d.bad(errors.New("no video stream"))
	}
	d.video = list[0]
	if len(list) > 1 {
		counts, err := d.count(list, opt)
		if err != nil {
			return err
		}
		for _, s := range list[1:] {
			if counts.prefer(s, d.video) {
				d.video = s
			}
		}
	}
	if av.StatesEncryption(d.input, d.video) {
		return d.encrypted()
	}
	if err := d.checkFirst(opt); err != nil {
		return err
	}
	p := d.video.CodecParameters()
	if p.Width() <= 0 && scrambled(d.name, d.input)[d.video.Index()] {
		return d.bad(fmt.Errorf("stream %d: the pictures are scrambled; have the receiver descramble them", d.video.Index()))
	}
	return d.checkSize(p.Width(), p.Height())
}

// leaveVariants chooses no streams of HLS that belong to other variants than the video's alone: they are the same pictures and
// sound at other rates.
func (d *demuxer) leaveVariants(opt *ReaderOptions) {
	if len(opt.Map) > 0 || d.input.InputFormat().Name() != "hls" {
		return
	}
	left := 0
	for _, s := range d.input.Streams() {
		if d.chosen[s.Index()] && av.InOtherPrograms(d.input, s, d.video) {
			d.chosen[s.Index()] = false
			left++
		}
	}
	if left > 0 {
		opt.Log.Info("streams of other variants than the video's are left out", "input", d.name, "streams", left)
	}
}

// counts says how many pictures streams have, by index, as far as that is known.
type counts map[int]*big.Rat

// count counts the pictures of streams. If the container does not, the first packets of a file are read.
func (d *demuxer) count(list []*astiav.Stream, opt *ReaderOptions) (counts, error) {
	c, known := counts{}, true
	for _, s := range list {
		if n := countOf(s); n != nil {
			c[s.Index()] = n
		} else {
			known = false
		}
	}
	if known || !Seekable(d.name) || d.hasEvenRate() {
		return c, nil
	}
	e, err := d.again(opt)
	if err != nil || e == nil {
		return c, err
	}
	defer e.close()
	read := map[int]int64{}
	for packets, bytes := 0, 0; packets < fileLookahead.frames && bytes < fileLookahead.bytes; packets++ {
		p, err := e.read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		read[p.StreamIndex()]++
		bytes += p.Size()
	}
	for _, s := range list {
		c[s.Index()] = big.NewRat(read[s.Index()], 1)
	}
	return c, nil
}

// prefer reports whether video stream a is to be converted rather than b, which comes before it.
func (c counts) prefer(a, b *astiav.Stream) bool {
	if x, y := av.IsDefault(a), av.IsDefault(b); x != y {
		return x
	}
	if c.isFilm(a, b) != c.isFilm(b, a) {
		return c.isFilm(a, b)
	}
	p, q := a.CodecParameters(), b.CodecParameters()
	return p.Width()*p.Height() > q.Width()*q.Height()
}

// isFilm reports whether a has at least a quarter as many pictures as b: beside a film, a stream of
// one or two pictures is its still. If their numbers are unknown, the rates decide.
func (c counts) isFilm(a, b *astiav.Stream) bool {
	x, y := c[a.Index()], c[b.Index()]
	if x == nil || y == nil {
		x, y = timebase.Rat(a.AvgFrameRate()), timebase.Rat(b.AvgFrameRate())
	}
	return y == nil || x != nil && new(big.Rat).Mul(x, big.NewRat(4, 1)).Cmp(y) >= 0
}

// countOf returns how many pictures a stream has, as far as the container tells; nil if it does not.
func countOf(s *astiav.Stream) *big.Rat {
	if n := s.NbFrames(); n > 0 {
		return big.NewRat(n, 1)
	}
	length, _ := av.StreamTags(s).Get("DURATION") // of Matroska, such as 00:00:02.040000000
	rate := timebase.Rat(s.AvgFrameRate())
	var hours, minutes int64
	seconds, ok := new(big.Rat), false
	if parts := strings.Split(length, ":"); len(parts) == 3 && rate != nil {
		hours, _ = strconv.ParseInt(parts[0], 10, 32)
		minutes, _ = strconv.ParseInt(parts[1], 10, 32)
		seconds, ok = seconds.SetString(parts[2])
	}
	if !ok || seconds.Sign() == 0 && hours == 0 && minutes == 0 { // ffmpeg -c copy may state none
		return nil
	}
	return seconds.Mul(seconds.Add(seconds, big.NewRat(3600*hours+60*minutes, 1)), rate)
}

func (d *demuxer) checkSize(w, h int) error {
	if w <= 0 || h <= 0 {
		return d.bad(fmt.Errorf("the video stream states no picture size (%dx%d)", w, h))
	}
	if w > MaxSide || h > MaxSide || w*h > MaxPixels {
		return d.bad(fmt.Errorf("pictures of %dx%d are too large: at most %d pixels, %d a side", w, h, MaxPixels, MaxSide))
	}
	return nil
}
