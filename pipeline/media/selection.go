package media

/*
#cgo pkg-config: libavformat
#include <stdlib.h>
#include <libavformat/avformat.h>
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// choice is one rule of a selection of streams, after ffmpeg's -map.
type choice struct {
	text     string
	spec     string // FFmpeg's stream specifier; empty for all
	drop     bool
	optional bool
}

// parseChoices reads rules such as "0:v:0", "0:a?" and "-0:s". The only input is
// number 0.
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

// chooseStreams returns the indices of the streams that the rules choose, in
// order: all of them without rules, or where the first one leaves streams out.
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

func (c choice) matches(input *astiav.FormatContext, s *astiav.Stream) (bool, error) {
	spec := C.CString(c.spec)
	defer C.free(unsafe.Pointer(spec))
	var n C.int
	message, _ := withMessage(func() error {
		n = C.avformat_match_stream_specifier(native[C.AVFormatContext](input), native[C.AVStream](s), spec)
		return nil
	})
	if n < 0 {
		return false, fault.New(fault.Usage, "Input.Map %q: %q is no stream specifier%s", c.text, c.spec, detail(message))
	}
	return n > 0, nil
}

// listStreams names the input's streams for messages.
func listStreams(input *astiav.FormatContext) string {
	var parts []string
	for _, s := range input.Streams() {
		p := s.CodecParameters()
		parts = append(parts, fmt.Sprintf("0:%d (%s, %s)", s.Index(), p.MediaType(), p.CodecID()))
	}
	return strings.Join(parts, ", ")
}
