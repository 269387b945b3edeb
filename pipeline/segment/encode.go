package segment

import (
	"context"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/pixel"
)

// segmentWriter is a partSink for neighbouring ranges. It encodes each by an encoder of its
// own, which gets the frames that it gets if the range is made alone, and publishes each as soon
// as its last frame is written.
type segmentWriter struct {
	ctx        context.Context
	plan       *Plan
	dir        string
	first, end int // the ranges from first up to, not including, end
	done       func(m *Manifest, made bool)
	digest     Hash // of the frame that comes next
	made       bool // that frame was never shot

	clip   *pipeline.Clip
	memory frame.Memory
	pool   pixel.Pool // outlives the encoders, since frames are made ahead of them
	next   int        // range that begins with the next frame, if none is open
	id     string     // of the plan
	open   *segmentFile
}

// segmentFile is a segment that is not whole yet.
type segmentFile struct {
	manifest *Manifest
	file     atomicfile.File
	packets  *packetWriter
	encoder  *media.Encoder
}

func (w *segmentWriter) start(clip *pipeline.Clip, memory frame.Memory) error {
	w.clip, w.memory, w.next = clip, memory, w.first
	w.pool.Memory = memory
	return w.begin()
}

// begin opens the next range.
func (w *segmentWriter) begin() error {
	i := w.next
	file, err := atomicfile.Create(manifestName(w.dir, i))
	if err != nil {
		return fault.New(fault.CannotWrite, "segment %d: %w", i, err)
	}
	s := &segmentFile{manifest: &Manifest{Plan: w.id, Index: i, First: w.plan.Ranges[i].First}, file: file, packets: newPacketWriter(file)}
	s.encoder, err = media.NewEncoder(w.ctx, w.clip.Options.Output.File, w.clip.Source, w.clip.WriterOptions(w.memory), s.manifest.First, func(packet media.Packet) error {
		if err := s.packets.write(packet); err != nil {
			return fault.New(fault.CannotWrite, "segment %d: %w", i, err)
		}
		return nil
	})
	if err != nil {
		file.Discard()
		return err
	}
	w.next, w.open = i+1, s
	if whole := &w.plan.Whole.Parameters; !s.encoder.Parameters().Equal(*whole) {
		return fault.New(fault.BadData, "encoder %s is not set up as it was for the plan; use the same FFmpeg build everywhere", whole.Encoder)
	}
	return nil
}

// NewFrame returns a frame that any of the encoders takes without copying.
func (w *segmentWriter) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return w.pool.NewFrame(like)
}

// WriteFrame encodes f. The last range takes all frames that come.
func (w *segmentWriter) WriteFrame(f *frame.Frame, from, to *big.Rat) error {
	if w.open == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	m := w.open.manifest
	m.Digests = append(m.Digests, w.digest)
	if w.made {
		m.Made++
	}
	if err := w.open.encoder.WriteFrame(f, from, to); err != nil {
		return err
	}
	if w.next == len(w.plan.Ranges) || m.First+int64(len(m.Digests)) < w.plan.Ranges[m.Index].End {
		return nil
	}
	return w.complete()
}

// complete publishes the range that is open.
func (w *segmentWriter) complete() error {
	s := w.open
	m := s.manifest
	cannot := func(err error) error { return fault.New(fault.CannotWrite, "segment %d: %w", m.Index, err) }
	if err := s.encoder.Finish(); err != nil {
		return err
	}
	if err := s.packets.close(); err != nil {
		return cannot(err)
	}
	m.Frames, m.Bytes, m.SHA256, m.Digest = int64(len(m.Digests)), s.packets.bytes, s.packets.hex(), Sum(m.Digests)
	m.File = packetsName(m.Index, m.SHA256)
	w.open = nil
	s.encoder.Abort()
	if err := s.file.Commit(filepath.Join(w.dir, m.File), true); err != nil {
		return cannot(err)
	}
	m, err := w.plan.publish(w.dir, m)
	if err == nil {
		w.done(m, true)
	}
	return err
}

// finish publishes the last range of the plan, which has as many frames as the input gives.
func (w *segmentWriter) finish() error {
	last := len(w.plan.Ranges) - 1
	if w.open == nil && w.next == w.end {
		return nil
	}
	if w.open == nil && w.next == last { // no frame is left for it
		if err := w.begin(); err != nil {
			return err
		}
	}
	if w.open != nil && w.open.manifest.Index == last {
		return w.complete()
	}
	frames := w.plan.Ranges[w.next-1].End
	if w.open != nil {
		frames = w.open.manifest.First + int64(len(w.open.manifest.Digests))
	}
	return w.plan.Whole.endsWith(w.clip.Options.Input.File, frames)
}

// abort removes the range that is open.
func (w *segmentWriter) abort() {
	if w.open != nil {
		w.open.encoder.Abort()
		w.open.file.Discard()
		w.open = nil
	}
	w.pool.Close()
}

// publish writes m and returns it, or returns another worker's manifest if that worker
// was faster.
func (p *Plan) publish(dir string, m *Manifest) (*Manifest, error) {
	other, err := p.check(dir, m.Plan, m.Index, false)
	if err == nil {
		if other.File != m.File {
			os.Remove(filepath.Join(dir, m.File))
		}
		return other, nil
	}
	b, err := json.Marshal(m)
	if err == nil {
		err = atomicfile.ReplaceFile(manifestName(dir, m.Index), append(b, '\n'))
	}
	if err != nil {
		return nil, fault.New(fault.CannotWrite, "segment %d: %w", m.Index, err)
	}
	return m, nil
}
