package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"sync"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/curve"
	"retime/pipeline/fault"
)

// WriterOptions say what to write.
type WriterOptions struct {
	Format      string            // container name; empty to tell from the output's name
	Codec       string            // encoder name; empty for libx264, or the container's own where it takes no H.264
	CRF         int               // constant rate factor; negative for the encoder's own default
	Options     map[string]string // further encoder options
	PixelFormat string            // FFmpeg's name; empty for the source's, or what the encoder has nearest to it
	Threads     int               // encoder threads; 0 for the encoder's choice
	Memory      frame.Memory      // of the frames that NewFrame returns; nil for FFmpeg's own
	Overwrite   bool              // replace an existing file
	Rate        *big.Rat          // frames per second; frame k stands at k/Rate after Start
	Start       *big.Rat          // seconds from the output's zero to its first frame
	// Unit is the unit of time, in seconds, of frames that are written by
	// WriteFrameAt; nil where they come by WriteFrame, at Rate. Numerator and
	// denominator are below 2^31.
	Unit *big.Rat
	// Curve says which moment of the source, in seconds after its Start, the output
	// shows when. Sound and subtitles before its begin, or at or after End, are left
	// out.
	Curve *curve.Curve
	End   *big.Rat
	// Passes is set where Follow says which reader each run of the curve has; else
	// the source is read for the one run.
	Passes bool
	// Verify reads a file again once it is written; what is not as it should be is a
	// fault.Mismatch error, and the file is named as a partial one.
	Verify bool
	// Numbers are those of the files of an image sequence; nil to count from 1.
	Numbers []int
	Audio   Audio // what becomes of sound; StretchAudio where empty
	// AudioCodec is an encoder's name, for all sound; where empty, sound that cannot
	// be copied is encoded in its own codec, or the container's usual one.
	AudioCodec   string
	AudioOptions map[string]string // further options of the sound's encoder
	Log          *slog.Logger
}

// DefaultCRF is used where WriterOptions.CRF is negative and the encoder is
// libx264, whose own default is coarser.
const DefaultCRF = 16

// largePicture is the size in pixels above which libx264 looks 20 frames ahead
// unless told otherwise: its usual 40 would take more than a gigabyte.
const largePicture = 4 << 20

// movieTimescale is the units of a second in which MP4 and MOV say when their streams
// begin.
const movieTimescale = 90_000

// Writer encodes frames into a file. WriteFrame and Finish are called by one
// goroutine; copied packets may come from another.
type Writer struct {
	ctx    context.Context
	opt    WriterOptions
	log    *slog.Logger
	source *Reader
	target target

	codec   *astiav.Codec
	encoder *astiav.CodecContext
	packet  *astiav.Packet
	video   *astiav.Stream
	unit    astiav.Rational // of packets' times, before they go into the file
	zero    int64           // the output's 0 in that unit
	start   int64           // of the first frame, in the output stream's time base
	colour  colour          // of what is written
	restore repacker        // planar frames to the source's own format
	repack  repacker        // to the encoder's
	pool    FramePool
	frames  int64
	last    int64            // time of the last frame by WriteFrameAt, in the encoder\'s time base
	lengths map[int64]int64  // of the frames in the encoder, by their times
	light   map[int64][]byte // HDR10+ of the frames in the encoder, likewise

	mu        sync.Mutex // guards the muxer and what follows
	output    *astiav.FormatContext
	file      *astiav.IOContext
	copies    map[int]carrier
	decoding  map[int]int64    // last decoding time of each of the output's streams
	muxed     map[int]*written // by the index of their streams
	following bool             // a run, by Follow
	err       error

	splicer *Splicer           // where the source's packets are copied
	apart   bool               // parameter sets go beside the packets, whatever the container
	put     func(Packet) error // gets the packets in place of a file; nil for a file
	joined  bool               // packets came by WritePacket
}

// NewFrame returns a frame that WriteFrame takes without copying; see FramePool.
func (w *Writer) NewFrame(like *frame.Frame) (*frame.Frame, error) { return w.pool.NewFrame(like) }

// WriteFrame encodes f as the next frame. f must come from the source or from
// NewFrame; the caller keeps its reference.
func (w *Writer) WriteFrame(f *frame.Frame) error { return w.encode(f, w.frames) }

// WriteFrameAt encodes f as the frame from one time of the output to another, in
// seconds. Times rise.
func (w *Writer) WriteFrameAt(f *frame.Frame, from, to *big.Rat) error {
	t := max(ticks(from, w.encoder.TimeBase()), w.last+1)
	w.last = t
	w.lengths[t] = max(ticks(to, w.encoder.TimeBase())-t, 1)
	return w.encode(f, t)
}

func (w *Writer) encode(f *frame.Frame, pts int64) error {
	picture, err := w.encodable(f)
	if err == nil {
		picture, err = w.upload(picture)
	}
	if err != nil {
		return w.cannot(err)
	}
	defer picture.Free()
	picture.SetPts(pts)
	resetPictureType(picture)
	if w.keepsHDR10Plus() {
		w.keepHDR10Plus(picture, pts)
	}
	w.frames++
	if err := w.encoder.SendFrame(picture); err != nil {
		return w.cannot(fmt.Errorf("encode frame %d: %w", w.frames-1, err))
	}
	return w.drain()
}

// drain writes what the encoder has ready.
func (w *Writer) drain() error {
	for {
		err := w.encoder.ReceivePacket(w.packet)
		if errors.Is(err, astiav.ErrEagain) || errors.Is(err, astiav.ErrEof) {
			return nil
		} else if err != nil {
			return w.cannot(fmt.Errorf("encode: %w", err))
		}
		if d, ok := w.lengths[w.packet.Pts()]; ok {
			w.packet.SetDuration(d)
			delete(w.lengths, w.packet.Pts())
		} else if w.packet.Duration() == 0 {
			w.packet.SetDuration(1)
		}
		if err := w.addHDR10Plus(); err != nil {
			return w.cannot(err)
		}
		if w.put != nil {
			err = w.hand()
		} else {
			err = w.deliver()
		}
		if err != nil {
			return err
		}
	}
}

// deliver writes the encoder's packet to the file.
func (w *Writer) deliver() error {
	shift(w.packet, -w.zero)
	w.packet.RescaleTs(w.unit, w.video.TimeBase())
	shift(w.packet, w.start)
	w.packet.SetStreamIndex(w.video.Index())
	return w.mux(w.packet)
}

// shift moves p's timestamps by d.
func shift(p *astiav.Packet, d int64) {
	if t := p.Pts(); t != noTimestamp {
		p.SetPts(t + d)
	}
	if t := p.Dts(); t != noTimestamp {
		p.SetDts(t + d)
	}
}

// mux writes p, which it empties. The first error stays.
func (w *Writer) mux(p *astiav.Packet) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.advance(p)
		i := p.StreamIndex()
		if w.muxed[i] == nil {
			w.muxed[i] = &written{}
		}
		w.muxed[i].note(p, rat(w.output.Streams()[i].TimeBase()), i == w.video.Index())
		if message, err := withMessage(func() error { return w.output.WriteInterleavedFrame(p) }); err != nil {
			w.err = w.cannot(fmt.Errorf("%w%s", err, detail(message)))
		} else if err := ioError(w.output); err != nil {
			w.err = w.cannot(err)
		}
	}
	p.Unref()
	return w.err
}

// advance moves p behind the packet that its stream had last, as muxers want it,
// where damage or overlapping parts have put it before.
func (w *Writer) advance(p *astiav.Packet) {
	dts := p.Dts()
	if dts == noTimestamp {
		return
	}
	if last, ok := w.decoding[p.StreamIndex()]; ok && dts <= last && last < math.MaxInt64 {
		if dts = last; !mayRepeat(w.output) {
			dts++
		}
		p.SetDts(dts)
	}
	if t := p.Pts(); t != noTimestamp && t < dts {
		p.SetPts(dts)
	}
	w.decoding[p.StreamIndex()] = dts
}

// Name is where the output will be.
func (w *Writer) Name() string { return w.target.name }

// Finish writes what is left and gives the file its name. With partial set, as
// after damage, it is named NAME.partial.EXT instead; the name is returned.
func (w *Writer) Finish(partial bool) (string, error) {
	defer w.Abort()
	if !w.joined {
		if err := w.encoder.SendFrame(nil); err != nil && !errors.Is(err, astiav.ErrEof) {
			return "", w.cannot(fmt.Errorf("encode: %w", err))
		}
		if err := w.drain(); err != nil {
			return "", err
		}
	}
	if w.put != nil {
		return "", nil
	}
	w.source.forward(nil)
	if err := w.finishCopies(); err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return "", w.err
	}
	if err := w.output.WriteTrailer(); err != nil {
		return "", w.cannot(err)
	}
	if w.file != nil {
		w.file.Flush()
		err := ioError(w.output)
		if e := w.file.Close(); err == nil {
			err = e
		}
		w.file = nil
		if err != nil {
			return "", w.cannot(err)
		}
	}
	var mismatch error
	if w.opt.Verify {
		damaged := partial || w.source.Damage() != (Damage{}) || w.source.leapt || w.source.times.joined()
		if mismatch = w.verify(damaged); mismatch != nil && fault.KindOf(mismatch) != fault.Mismatch {
			return "", mismatch
		}
	}
	name, err := w.target.commit(partial || mismatch != nil)
	if err != nil {
		return "", w.cannot(err)
	}
	if mismatch != nil {
		return name, unverified(mismatch, name)
	}
	return name, nil
}

// Abort frees everything and removes what was written, unless Finish has named
// it. It may be called more than once.
func (w *Writer) Abort() {
	if w.source != nil && w.put == nil {
		w.source.forward(nil) // a part takes the video only
	}
	if w.file != nil {
		_ = w.file.Close()
		w.file = nil
	}
	if w.packet != nil {
		w.packet.Free()
		w.packet = nil
	}
	w.restore.close()
	w.repack.close()
	w.pool.Close()
	if w.encoder != nil {
		w.encoder.Free()
		w.encoder = nil
	}
	if w.output != nil {
		w.output.Free()
		w.output = nil
	}
	for _, c := range w.copies {
		c.free()
	}
	w.copies = nil
	w.target.discard()
}
