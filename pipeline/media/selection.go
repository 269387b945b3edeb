package media

import (
	"errors"
	"fmt"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
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

// choose applies the rules and picks the video: the selected video stream with the most
// pixels that is not a cover picture.
func (d *demuxer) choose(rules []string) (err error) {
	if d.chosen, err = chooseStreams(d.input, rules); err != nil {
		return err
	}
	pixels := -1
	for _, s := range d.input.Streams() {
		p := s.CodecParameters()
		if p.MediaType() != astiav.MediaTypeVideo || av.IsAttachedPicture(s) || !d.chosen[s.Index()] {
			continue
		}
		if n := p.Width() * p.Height(); n > pixels {
			d.video, pixels = s, n
		}
	}
	switch {
	case d.video != nil && av.StatesEncryption(d.input, d.video):
		return d.encrypted()
	case d.video != nil:
		p := d.video.CodecParameters()
		return d.checkSize(p.Width(), p.Height())
	case len(rules) > 0:
		return fault.New(fault.Usage, "Input.Map chooses no video stream of %q; it has %s", d.name, listStreams(d.input))
	}
	return d.bad(errors.New("no video stream"))
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
