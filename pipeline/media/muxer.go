package media

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/streams"
	"retime/pipeline/media/verify"
)

// newContainer returns the context of a file's container: format or, if that is empty,
// the one for the file's name. url is the file in FFmpeg's form.
func newContainer(name, url, format string) (*astiav.FormatContext, error) {
	_, numbered := outputSequence(name, format)
	switch {
	case format != "":
	case name == "-":
		format = "nut"
	default: // by the name, since url may differ from it
		if format = muxerOf(name); format == "" {
			return nil, fault.New(fault.Usage, "output %q: no container goes by that name; give one with Output.Format", name)
		}
	}
	output, err := astiav.AllocOutputFormatContext(nil, format, url)
	if err != nil {
		return nil, fault.New(fault.Usage, "output format %q is not in this FFmpeg build; see ffmpeg -muxers", format)
	}
	// Not every reader supports YUV4MPEG2 of more than 8 bits, spherical video and FLAC
	// in MP4. FFmpeg calls these experimental.
	output.SetStrictStdCompliance(astiav.StrictStdComplianceExperimental)
	if av.IsMuxer(output, "mpegts") && strings.EqualFold(filepath.Ext(name), ".m2ts") {
		// FFmpeg looks at the name, too, but at the temporary one.
		if err := av.SetMuxerOption(output, container.BlurayOption, "1"); err != nil {
			output.Free()
			return nil, err
		}
	}
	if container.IsNumbered(output) && !numbered {
		output.Free()
		return nil, fault.New(fault.Usage, "output %q is the name of one picture; name a pattern for all, such as out/%%05d.png", name)
	}
	// What these write to a URL has its name from the start.
	if container.IsManifest(output) && !strings.Contains(name, "://") || container.IsSegments(output) && !numbered {
		output.Free()
		return nil, severalFiles(name, format)
	}
	return output, nil
}

// muxerOf returns the muxer for an output's name, empty if there is none.
func muxerOf(name string) string {
	if s, ok := parseSequence(name); ok {
		name, _ = s.Printf() // the spelling that FFmpeg knows
	}
	if format := av.GuessMuxer(name); format != "svcd" {
		return format
	}
	return "vob" // FFmpeg guesses a Super Video CD for the name of a DVD's files
}

// severalFiles is the error for a format whose files cannot appear all at once.
func severalFiles(name, format string) error {
	one := strings.TrimSuffix(name, filepath.Ext(name)) + ".mp4"
	if name == "-" {
		one, name = "NAME.mp4", "NAME"
	}
	return fault.New(fault.Usage, "output %q: %s makes several files, which would not appear whole or not at all; write one file, such as %[3]q, and divide it: ffmpeg -i %[3]q -c copy -f %[2]s %[1]q",
		name, format, one)
}

// MaxRate returns the highest rate, in frames per second, at which players show an output
// called name in a format, which may be empty; nil if there is no limit.
func MaxRate(name, format string) *big.Rat {
	if format == "" {
		format = muxerOf(name)
	}
	return container.MaxRate(format)
}

// cannotWrite turns err into a fault.CannotWrite error about the output called name,
// unless it is a fault.Error already.
func cannotWrite(name string, err error) error {
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		return err
	}
	if e := astiav.Error(0); errors.As(err, &e) && isSystemError(e) {
		before, after, _ := strings.Cut(err.Error(), e.Error())
		err = fmt.Errorf("%s%w%s", before, av.Errno(e), after)
	}
	return fault.New(fault.CannotWrite, "write %q: %w", name, err)
}

// isSystemError reports whether e has one of the system's codes, which are far above
// FFmpeg's own.
func isSystemError(e astiav.Error) bool { return -4096 < e && e < 0 }

// refuses reports whether err, from a muxer, is about the packet and not about the file.
func refuses(err error) bool {
	e := astiav.Error(0)
	return errors.As(err, &e) && (!isSystemError(e) || av.Errno(e) == syscall.EINVAL)
}

// muxer writes packets to a file, one at a time. Several goroutines may call Write and
// Fail.
type muxer struct {
	name   string // for messages
	output *astiav.FormatContext
	video  *astiav.Stream
	plain  bool // the file is the video's packets, one after the other, which hold all that FFmpeg's muxer would write

	mu       sync.Mutex // guards the fields below, and output after its header is written
	file     *av.File
	decoding map[int]int64 // last decoding time of each stream, in its time base
	records  map[int]*verify.Record
	err      error // the first error; it ends the writing
}

// newMuxer returns a muxer for output and adds a video stream, whose parameters the
// caller sets. close frees the muxer and output.
func newMuxer(name string, output *astiav.FormatContext) *muxer {
	return &muxer{name: name, output: output, video: output.NewStream(nil), decoding: map[int]int64{}, records: map[int]*verify.Record{}}
}

// Name returns the file's name for messages.
func (m *muxer) Name() string { return m.name }

// Output returns the file's context.
func (m *muxer) Output() *astiav.FormatContext { return m.output }

// cannot turns err into an error about the file.
func (m *muxer) cannot(err error) error { return cannotWrite(m.name, err) }

// openFile opens the file at url, which is in FFmpeg's form. Some muxers open theirs
// themselves.
func (m *muxer) openFile(url string) error {
	if av.OpensItself(m.output) {
		return nil
	}
	file, err := av.CreateFile(url)
	if err != nil {
		return m.cannot(err)
	}
	m.file = file
	file.Use(m.output)
	return nil
}

// writeHeader writes the header of the file that openFile has opened.
func (m *muxer) writeHeader(options map[string]string) error {
	if m.plain {
		return nil
	}
	dictionary := astiav.NewDictionary()
	defer dictionary.Free()
	for k, v := range options {
		if err := dictionary.Set(k, v, 0); err != nil {
			return m.cannot(err)
		}
	}
	message, err := av.WithMessage(func() error { return m.output.WriteHeader(dictionary) })
	if e := astiav.Error(0); errors.As(err, &e) && refusal(e) {
		return fault.New(fault.Usage, "output %q: the %s container refuses these streams or options%s; choose another Output.Format or file name",
			m.name, container.Name(m.output), detail(message))
	} else if err != nil {
		return m.cannot(fmt.Errorf("%w%s", err, detail(message)))
	}
	return nil
}

// refusal reports whether e is one of the errors by which a muxer refuses streams, as
// opposed to an error of its file. Some muxers return a bare -1, which is EPERM.
func refusal(e astiav.Error) bool {
	switch e {
	case astiav.ErrPatchwelcome, astiav.ErrInvaliddata, astiav.ErrBug, astiav.ErrUnknown:
		return true
	}
	switch av.Errno(e) {
	case syscall.EINVAL, syscall.EPERM, syscall.ENOSYS:
		return true
	}
	return false
}

// Write writes p, whose timestamps are in the time base of its stream, and unreferences
// it. After an error, every call returns the first error, unless that is a
// streams.RefusedError.
func (m *muxer) Write(p *astiav.Packet) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer p.Unref()
	if m.err != nil {
		return m.err
	}
	i := p.StreamIndex()
	m.advance(p)
	record := m.recordOf(i)
	before := *record
	record.Add(p, m.output.Streams()[i].TimeBase(), i == m.video.Index())
	if m.plain {
		if i == m.video.Index() {
			if err := m.file.Write(p.Data()); err != nil {
				m.err = m.cannot(err)
			}
		}
		return m.err
	}
	message, err := av.WithMessage(func() error { return m.output.WriteInterleavedFrame(p) })
	failed := av.IOError(m.output)
	switch {
	case err != nil && failed == nil && i != m.video.Index() && refuses(err):
		*record = before
		return &streams.RefusedError{Reason: cmp.Or(message, err.Error())}
	case err != nil:
		m.err = m.cannot(fmt.Errorf("%w%s", err, detail(message)))
	case failed != nil:
		m.err = m.cannot(failed)
	}
	return m.err
}

// Fail makes the next Write return err.
func (m *muxer) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = m.cannot(err)
	}
}

// advance makes p's decoding time follow the one of its stream's last packet, as muxers
// require, if damage or overlapping ranges have put it before.
func (m *muxer) advance(p *astiav.Packet) {
	dts := p.Dts()
	if dts == av.NoTimestamp {
		return
	}
	step := container.LeastStep(m.output)
	if last, ok := m.decoding[p.StreamIndex()]; ok && dts < last+step && last < math.MaxInt64-step {
		dts = last + step
		p.SetDts(dts)
	}
	if t := p.Pts(); t != av.NoTimestamp && t < dts {
		p.SetPts(dts)
	}
	m.decoding[p.StreamIndex()] = dts
}

// recordOf returns the record of stream i.
func (m *muxer) recordOf(i int) *verify.Record {
	if m.records[i] == nil {
		m.records[i] = &verify.Record{}
	}
	return m.records[i]
}

// finish writes the trailer and closes the file.
func (m *muxer) finish() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	message, err := "", error(nil)
	if !m.plain {
		message, err = av.WithMessage(m.output.WriteTrailer)
	}
	if e := astiav.Error(0); errors.As(err, &e) && refusal(e) && av.IOError(m.output) == nil {
		return fault.New(fault.Usage, "output %q: the %s container does not hold so little%s; choose another Output.Format or file name",
			m.name, container.Name(m.output), detail(message))
	} else if err != nil {
		return m.cannot(fmt.Errorf("%w%s", err, detail(message)))
	}
	if m.file == nil {
		return nil
	}
	m.file.Flush()
	err = av.IOError(m.output)
	if e := m.file.Close(); err == nil {
		err = e
	}
	m.file = nil
	if err != nil {
		return m.cannot(err)
	}
	return nil
}

// written returns the streams that the finished file should have.
func (m *muxer) written() (list []verify.Stream) {
	for _, s := range m.output.Streams() {
		p := s.CodecParameters()
		w := verify.Stream{
			Kind: p.MediaType(), Codec: p.CodecID(), Cover: av.IsAttachedPicture(s), TimeBase: s.TimeBase(),
			Delay: container.OmittedDelay(m.output, s, s.TimeBase()),
		}
		if r := m.records[s.Index()]; r != nil {
			w.Record = *r
		}
		list = append(list, w)
	}
	return list
}

// close frees the muxer and its output. If finish was not called, the file may be
// incomplete.
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
