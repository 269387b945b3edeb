// Package media reads and writes video files through FFmpeg's libraries: it
// decodes one video stream into frames, encodes frames into another file, and
// carries the other streams' packets across unchanged.
package media

import (
	"context"
	"log/slog"
	"math/big"
	"os"

	"github.com/asticode/go-astiav"

	"retime/frame"
)

// MaxPixels and MaxSide bound the pictures that are accepted; within them no
// accumulator can overflow.
const (
	MaxPixels = 1 << 26
	MaxSide   = 1 << 15
)

// Video describes the video stream that is read.
type Video struct {
	Codec         string
	Format        frame.Format // of the frames that Read returns
	Width, Height int
	// Source is FFmpeg's name of the sample format in the file; it differs from
	// Format.Name where that is packed or semi-planar.
	Source string
	// TimeBase is the unit of PTS and Duration in seconds.
	TimeBase *big.Rat
	// Rate is the lowest frame rate whose grid holds all timestamps, as far as
	// the first seconds tell, and Average the mean rate; nil where unknown.
	Rate, Average *big.Rat
	// Start is the time that counts as 0, in seconds: where the earliest of the
	// file's streams begins.
	Start *big.Rat
	// FirstPTS is the first frame's timestamp and StreamPTS the one that the
	// stream begins with, which differ where reading does not start there.
	FirstPTS, StreamPTS int64
	// Duration is what the container states in seconds; nil where it does not.
	Duration *big.Rat
	// Frames is the count that the container states, 0 where it does not.
	Frames int64
	// Timecode is that of the first frame as the container states it, such as
	// "01:00:00:00", or with a semicolon before the frames where numbers are dropped;
	// empty where it does not.
	Timecode string
	// Interlaced is set where the first picture is called so.
	Interlaced bool
}

// Damage counts what could not be read.
type Damage struct {
	Packets int // damaged or unreadable packets, of any stream that is used
	Frames  int // frames that the decoder delivered with errors
	Errors  int // errors that FFmpeg reported while demuxing and decoding
}

// ReaderOptions say how to read.
type ReaderOptions struct {
	Format string // container name; empty to probe
	// Rate is the frames per second of what has no timestamps, such as an image
	// sequence (named by a pattern, frames/%05d.png); nil for its default.
	Rate *big.Rat
	// SequenceGaps lets the numbering of an image sequence have gaps, which are then
	// gaps in its timestamps; otherwise they are a fault.BadData error.
	SequenceGaps bool

	Threads int // decoder threads; 0 for as many as there are processors
	// From is where reading starts, in seconds after the file's start; nil for
	// the beginning. The first frame is the last one at or before it.
	From *big.Rat
	// To is where reading may stop; nil for the end. The first frame at or after
	// it is still returned.
	To *big.Rat
	// Map chooses streams by ffmpeg's rules, such as "0:v:0" and "-0:s"; empty for
	// all.
	Map []string
	// HWDec lets a device decode; HWNone by default.
	HWDec HWDec
	// Deinterlace makes progressive pictures of fields.
	Deinterlace Deinterlace
	// Packets keeps the stream's packets for NextPacket, which is called in place of
	// Read.
	Packets bool
	// ProbeFields looks for interlacing in what is read and warns of it.
	ProbeFields bool
	Log         *slog.Logger
}

// Reader decodes the best video stream of a file. It is used by one goroutine.
type Reader struct {
	name  string
	opt   ReaderOptions
	log   *slog.Logger
	video Video

	input   *astiav.FormatContext
	stop    func() bool
	guard   astiav.IOInterrupter // FFmpeg keeps a pointer into it
	ctx     context.Context
	stream  *astiav.Stream
	chosen  map[int]bool // indices of the streams that are used
	decoder *astiav.CodecContext
	packet  *astiav.Packet
	planes  *planes
	colour  colour
	// Side data: what holds for all pictures, and what changes but is not written.
	properties map[uint32][]byte
	dynamicHDR string
	fields     *fieldFilter // nil where pictures are taken as they are
	probe      *fieldProbe
	pending    *frame.Frame  // decoded by Open
	ahead      *astiav.Frame // the one after it, if that was decoded too
	onPacket   func(*astiav.Packet)
	times      timestamps
	held       []*astiav.Packet // other streams' packets, before anyone asks
	kept       []*astiav.Packet // the stream's own, where Packets is set

	skimDTS  int64 // how far SkimTo has come
	skimmed  bool  // to the end
	draining bool
	ended    bool
	readErr  error
	lastPTS  int64
	step     int64 // from the last frame but one to the last
	late     int   // frames dropped because their timestamps do not advance
	endTime  int64 // of the last frame, in the stream's time base
	lastEnd  int64 // of the last packet of any stream, in microseconds
	damage   Damage
	errors   errorCount
	changed  bool            // a change of size or format was reported
	leapt    bool            // so was a timestamp too far ahead
	reshaped bool            // so was a change of aspect
	aspect   astiav.Rational // of the first picture's samples

	numbers []int  // of a sequence with gaps, else nil
	links   string // the directory that its files are read from
}

// Video describes the stream.
func (r *Reader) Video() Video { return r.video }

// Damage returns what could not be read so far.
func (r *Reader) Damage() Damage {
	d := r.damage
	d.Errors = r.errors.value()
	return d
}

// Read returns the next frame in presentation order with one reference, and
// after the last one io.EOF, or a fault.BadData error where the input ends
// before it should.
func (r *Reader) Read() (*frame.Frame, error) {
	if r.fields != nil {
		return r.fields.read()
	}
	f, err := r.readDecoded()
	if r.probe != nil && (err != nil || !r.probe.look(f)) {
		r.endProbe()
	}
	return f, err
}

// endProbe says what the probe has found.
func (r *Reader) endProbe() {
	switch interlaced, telecined := r.probe.verdict(); {
	case telecined:
		r.log.Warn("the pictures look telecined; Input.Deinterlace telecine finds the film's own", "input", r.name)
	case interlaced:
		r.log.Warn("the pictures look interlaced, though the input does not say so; Input.Deinterlace makes one of each field", "input", r.name)
	}
	r.probe.filter.Close()
	r.probe = nil
}

// readDecoded returns the next picture as the decoder shows it.
func (r *Reader) readDecoded() (*frame.Frame, error) {
	if f := r.pending; f != nil {
		r.pending = nil
		return f, nil
	}
	if f := r.ahead; f != nil {
		r.ahead = nil
		return r.wrap(f)
	}
	f, err := r.decode()
	if err != nil {
		return nil, err
	}
	return r.wrap(f)
}

// Close frees everything but the frames handed out. It is called once.
func (r *Reader) Close() {
	if r.links != "" {
		os.RemoveAll(r.links)
		r.links = ""
	}
	if r.fields != nil {
		r.fields.filter.Close()
		r.fields = nil
	}
	if r.probe != nil {
		r.probe.filter.Close()
		r.probe = nil
	}
	if r.pending != nil {
		r.pending.Release()
		r.pending = nil
	}
	if r.ahead != nil {
		r.ahead.Free()
		r.ahead = nil
	}
	for _, p := range append(r.held, r.kept...) {
		p.Free()
	}
	r.held, r.kept = nil, nil
	if r.packet != nil {
		r.packet.Free()
		r.packet = nil
	}
	if r.planes != nil {
		r.planes.repack.close()
		r.planes = nil
	}
	if r.decoder != nil {
		r.decoder.Free()
		r.decoder = nil
	}
	if r.input != nil {
		r.stop()
		r.input.CloseInput()
		r.input = nil
	}
	r.errors.free()
}
