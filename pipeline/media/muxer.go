package media

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"syscall"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/verify"
)

// newContainer chooses the container of a file by its format, or if that is empty by its
// name. url is the file as FFmpeg opens it.
func newContainer(name, url, format string) (*astiav.FormatContext, error) {
	_, numbered := newSequence(name)
	numbered = numbered && !exists(name)
	switch {
	case format != "":
	case name == "-":
		format = "nut"
	case numbered:
		format = "image2"
	default: // by the name, which url may hide
		if format = av.GuessMuxer(name); format == "" {
			return nil, fault.New(fault.Usage, "output %q: no container goes by that name; give one with Output.Format", name)
		}
	}
	output, err := astiav.AllocOutputFormatContext(nil, format, url)
	if err != nil {
		return nil, fault.New(fault.Usage, "output format %q is not in this FFmpeg build; see ffmpeg -muxers", format)
	}
	// YUV4MPEG2 of more than 8 bits, spherical video and FLAC in MP4 are not in all
	// readers' standards.
	output.SetStrictStdCompliance(astiav.StrictStdComplianceExperimental)
	if container.IsNumbered(output) && !numbered {
		output.Free()
		return nil, fault.New(fault.Usage, "output %q is the name of one picture; name a pattern for all, such as out/%%05d.png", name)
	}
	return output, nil
}

// cannotWrite makes an error about an output.
func cannotWrite(name string, err error) error {
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		return err
	}
	// FFmpeg's own codes lie far below the system's.
	if e := astiav.Error(0); errors.As(err, &e) && -4096 < e && e < 0 {
		err = syscall.Errno(-e)
	}
	return fault.New(fault.CannotWrite, "write %q: %w", name, err)
}

// muxer writes packets to a file, one at a time, whoever they come from.
type muxer struct {
	name   string // for messages
	output *astiav.FormatContext
	video  *astiav.Stream

	mu       sync.Mutex // guards what follows, and output once its header is written
	file     *astiav.IOContext
	decoding map[int]int64 // last decoding time of each stream
	records  map[int]*verify.Record
	err      error // that ended it
}

// newMuxer returns a muxer to an output, whose video is added but not described. close
// frees both.
func newMuxer(name string, output *astiav.FormatContext) *muxer {
	return &muxer{name: name, output: output, video: output.NewStream(nil), decoding: map[int]int64{}, records: map[int]*verify.Record{}}
}

// Name is what messages call the file.
func (m *muxer) Name() string { return m.name }

// Output is the file's context.
func (m *muxer) Output() *astiav.FormatContext { return m.output }

// cannot makes an error about the file.
func (m *muxer) cannot(err error) error { return cannotWrite(m.name, err) }

// writeHeader opens the file at a URL of FFmpeg's and writes its header.
func (m *muxer) writeHeader(url string, options map[string]string) error {
	if !av.OpensItself(m.output) {
		file, err := astiav.OpenIOContext(url, astiav.NewIOContextFlags(astiav.IOContextFlagWrite))
		if err != nil {
			return m.cannot(err)
		}
		m.file = file
		m.output.SetPb(file)
	}
	dictionary := astiav.NewDictionary()
	defer dictionary.Free()
	for k, v := range options {
		if err := dictionary.Set(k, v, 0); err != nil {
			return m.cannot(err)
		}
	}
	message, err := av.WithMessage(func() error { return m.output.WriteHeader(dictionary) })
	if err != nil {
		return m.cannot(fmt.Errorf("%w%s", err, detail(message)))
	}
	return nil
}

// Write writes p, whose times are in its stream's time base, and empties it. The first
// error stays.
func (m *muxer) Write(p *astiav.Packet) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.advance(p)
		m.record(p)
		if message, err := av.WithMessage(func() error { return m.output.WriteInterleavedFrame(p) }); err != nil {
			m.err = m.cannot(fmt.Errorf("%w%s", err, detail(message)))
		} else if err := av.IOError(m.output); err != nil {
			m.err = m.cannot(err)
		}
	}
	p.Unref()
	return m.err
}

// Fail keeps an error for the next Write.
func (m *muxer) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = m.cannot(err)
	}
}

// advance moves p behind the packet that its stream had last, as muxers want it,
// if damage or overlapping parts have put it before.
func (m *muxer) advance(p *astiav.Packet) {
	dts := p.Dts()
	if dts == av.NoTimestamp {
		return
	}
	if last, ok := m.decoding[p.StreamIndex()]; ok && dts <= last && last < math.MaxInt64 {
		if dts = last; !av.MayRepeat(m.output) {
			dts++
		}
		p.SetDts(dts)
	}
	if t := p.Pts(); t != av.NoTimestamp && t < dts {
		p.SetPts(dts)
	}
	m.decoding[p.StreamIndex()] = dts
}

func (m *muxer) record(p *astiav.Packet) {
	i := p.StreamIndex()
	if m.records[i] == nil {
		m.records[i] = &verify.Record{}
	}
	m.records[i].Add(p, m.output.Streams()[i].TimeBase(), i == m.video.Index())
}

// finish writes what ends the file and closes it.
func (m *muxer) finish() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if err := m.output.WriteTrailer(); err != nil {
		return m.cannot(err)
	}
	if m.file == nil {
		return nil
	}
	m.file.Flush()
	err := av.IOError(m.output)
	if e := m.file.Close(); err == nil {
		err = e
	}
	m.file = nil
	if err != nil {
		return m.cannot(err)
	}
	return nil
}

// written says which streams the file should have.
func (m *muxer) written() (list []verify.Stream) {
	for _, s := range m.output.Streams() {
		p := s.CodecParameters()
		w := verify.Stream{
			Kind: p.CodecType(), Codec: p.CodecID(), Cover: av.IsAttachedPicture(s), TimeBase: s.TimeBase(),
			Delay: container.OmittedDelay(m.output, s, s.TimeBase()),
		}
		if r := m.records[s.Index()]; r != nil {
			w.Record = *r
		}
		list = append(list, w)
	}
	return list
}

// close frees the muxer and its output. What was not finished may be cut short.
func (m *muxer) close() {
	if m.file != nil {
		_ = m.file.Close()
		m.file = nil
	}
	if m.output != nil {
		m.output.Free()
		m.output = nil
	}
}
