package media

import (
	"fmt"
	"log/slog"
	"strconv"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// probeLimits bound how much of an input is read to find its streams. 0 stands for
// FFmpeg's limit: 5 MB and a few seconds.
type probeLimits struct {
	bytes   int64
	seconds int64
}

// deepProbe are the limits for an input whose streams FFmpeg's limits do not show, such
// as a broadcast whose sound begins late. What is read stays in memory.
var deepProbe = probeLimits{bytes: 128 << 20, seconds: 120}

// set adds the limits to a demuxer's options.
func (l probeLimits) set(options *astiav.Dictionary) error {
	if l == (probeLimits{}) {
		return nil
	}
	if err := options.Set("probesize", strconv.FormatInt(l.bytes, 10), 0); err != nil {
		return err
	}
	return options.Set("analyzeduration", strconv.FormatInt(l.seconds*1e6, 10), 0)
}

// probe opens the input and chooses its streams. If it does not learn enough of them, it
// opens the input again, if that is a file, and reads further.
func (d *demuxer) probe(opt *ReaderOptions) error {
	if err := d.openWithin(opt, probeLimits{}); err != nil {
		return err
	}
	err := d.choose(opt)
	if err == nil && !d.lacksParameters() || !Seekable(d.name) {
		return err
	}
	d.closeInput()
	d.errors.Free()
	d.errors, d.video = av.NewErrorCount(), nil
	if err := d.openWithin(opt, deepProbe); err != nil {
		return err
	}
	return d.choose(opt)
}

func (d *demuxer) openWithin(opt *ReaderOptions, limits probeLimits) error {
	if err := d.open(opt, limits); err != nil {
		return err
	}
	if err := d.findStreams(); err != nil {
		return err
	}
	d.findTapeSound()
	return nil
}

// lacksParameters reports whether too little is known of a selected stream to carry it.
func (d *demuxer) lacksParameters() bool {
	for _, s := range d.input.Streams() {
		if !d.chosen[s.Index()] {
			continue
		}
		switch p := s.CodecParameters(); p.MediaType() {
		case astiav.MediaTypeAudio:
			if p.SampleRate() <= 0 || av.ParameterChannels(p) <= 0 {
				return true
			}
		case astiav.MediaTypeVideo:
			if !av.IsAttachedPicture(s) && (p.Width() <= 0 || p.Height() <= 0) {
				return true
			}
		case astiav.MediaTypeUnknown:
			return true
		}
	}
	return false
}

// lateStreams are the streams that begin after the demuxer has chosen among those that it
// knew. An output cannot take them any more.
type lateStreams struct {
	known int // streams that the demuxer chose among
	rules []string
	seen  map[int]bool
	video bool // one of them is a video
	log   *slog.Logger
}

func newLateStreams(input *astiav.FormatContext, opt *ReaderOptions) lateStreams {
	return lateStreams{known: input.NbStreams(), rules: opt.Map, seen: map[int]bool{}, log: opt.Log}
}

// has reports whether stream i of d is one of them. It logs each that the rules select.
func (l *lateStreams) has(d *demuxer, i int) bool {
	if i < l.known {
		return false
	}
	if l.seen[i] {
		return true
	}
	l.seen[i] = true
	chosen := map[int]bool{i: true}
	if len(l.rules) > 0 {
		chosen, _ = chooseStreams(d.input, l.rules)
	}
	if !chosen[i] {
		return true
	}
	p := d.input.Streams()[i].CodecParameters()
	l.video = l.video || p.MediaType() == astiav.MediaTypeVideo
	l.log.Warn("stream left out: it begins later than the input was searched for streams", "input", d.name, "stream", i,
		"kind", p.MediaType(), "codec", p.CodecID(), "after", fmt.Sprintf("%.3f s", float64(d.end-d.start())/1e6))
	return true
}
