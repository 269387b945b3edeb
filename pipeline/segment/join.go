package segment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/plainfile"
)

// Join writes the output from the segments in dir. Of local it heeds Output.File,
// Output.Format (empty to tell from the name), Output.Overwrite and the options that
// Make heeds. It returns a fault.TryAgain error if segments are missing or damaged.
func (p *Plan) Join(ctx context.Context, dir string, local pipeline.Options) (*pipeline.Report, error) {
	return p.join(ctx, &joiner{plan: p, id: p.ID(), dir: dir}, local)
}

// JoinArriving joins as Join does while others make the segments: it waits for each
// segment that is missing or damaged until somebody has made it or ctx ends. While it
// waits, it calls Hooks.Progress with the number of frames that it has written.
func (p *Plan) JoinArriving(ctx context.Context, dir string, local pipeline.Options) (*pipeline.Report, error) {
	j := &joiner{plan: p, id: p.ID(), dir: dir}
	j.wait = func() error {
		if show := local.Hooks.Progress; show != nil {
			show(pipeline.Progress{Frames: j.written, Total: max(p.Whole.Frames, j.written)})
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(arrival):
			return nil
		}
	}
	return p.join(ctx, j, local)
}

// arrival is the time between two looks at a segment that JoinArriving waits for.
const arrival = 200 * time.Millisecond

func (p *Plan) join(ctx context.Context, j *joiner, local pipeline.Options) (*pipeline.Report, error) {
	if err := p.confine(j.dir, local); err != nil {
		return nil, err
	}
	if err := p.checkInput(ctx, true); err != nil {
		return nil, err
	}
	if j.wait == nil {
		if err := p.checkAll(j.dir); err != nil {
			return nil, err
		}
	}
	defer j.close()
	o := p.Conversion(local)
	o.Output.File, o.Output.Format, o.Output.Overwrite, o.Output.Keep = local.Output.File, local.Output.Format, local.Output.Overwrite, local.Output.Keep
	return p.Whole.write(ctx, o, j.next)
}

// checkAll returns an error that names the segments that are missing or damaged.
func (p *Plan) checkAll(dir string) error {
	var missing []string
	id := p.ID()
	for i := range p.Ranges {
		if _, err := p.check(dir, id, i, false); err != nil {
			missing = append(missing, fmt.Sprintf("%d (%v)", i, err))
		}
	}
	if len(missing) > 0 {
		return fault.New(fault.TryAgain, "%d of %d segments cannot be joined: %s; make them first",
			len(missing), len(p.Ranges), abridge(missing))
	}
	return nil
}

// abridge lists the first entries and counts the rest.
func abridge(list []string) string {
	const few = 8
	if len(list) > few {
		return strings.Join(list[:few], ", ") + fmt.Sprintf(" and %d more", len(list)-few)
	}
	return strings.Join(list, ", ")
}

// joiner reads and checks the packets of all segments in order.
type joiner struct {
	plan      *Plan
	id        string // of the plan
	dir       string
	wait      func() error // is called until the current segment is there; nil to fail
	at        int          // index of the current segment
	manifest  *Manifest    // of the current segment; nil before it is open
	file      *plainfile.File
	packets   *packetReader
	seen      []bool // frames of the current segment that had a packet
	remaining int64  // frames of the current segment that had none yet
	written   int64  // frames of all segments so far
}

func (j *joiner) close() {
	if j.file != nil {
		j.file.Close()
		j.file, j.manifest = nil, nil
	}
}

func (j *joiner) next() (media.Packet, error) {
	for j.at < len(j.plan.Ranges) {
		if j.file == nil {
			if err := j.open(); err != nil {
				return media.Packet{}, err
			}
		}
		p, err := j.read()
		if err == nil {
			return p, nil
		}
		if !errors.Is(err, io.EOF) {
			return p, j.bad(err)
		}
		j.close()
		j.at++
	}
	return media.Packet{}, io.EOF
}

// bad returns the error for the current segment's file.
func (j *joiner) bad(err error) error {
	return fault.New(fault.BadData, "segment %d: %s: %w; make it again", j.at, j.manifest.File, err)
}

// open opens the current segment.
func (j *joiner) open() (err error) {
	for {
		if j.manifest, err = j.plan.check(j.dir, j.id, j.at, false); err == nil {
			break
		}
		if j.wait == nil {
			return fault.New(fault.TryAgain, "segment %d: %w; make it first", j.at, err)
		}
		if err := j.wait(); err != nil {
			return err
		}
	}
	if j.file, err = plainfile.Open(filepath.Join(j.dir, j.manifest.File), plainfile.Unlimited); err != nil {
		return j.bad(err)
	}
	j.packets = newPacketReader(j.file)
	j.seen, j.remaining = make([]bool, j.manifest.Frames), j.manifest.Frames
	return nil
}

// read returns the next packet of the current segment, io.EOF after its last.
func (j *joiner) read() (p media.Packet, err error) {
	m := j.manifest
	p, err = j.packets.next()
	if errors.Is(err, io.EOF) {
		switch {
		case j.remaining > 0:
			return p, fmt.Errorf("%d frames have no packet", j.remaining)
		case j.packets.hex() != m.SHA256:
			return p, errors.New("it is damaged")
		}
		return p, io.EOF
	}
	if err != nil {
		return p, err
	}
	k := p.PTS - m.First
	if k < 0 || k >= m.Frames || j.seen[k] {
		return p, fmt.Errorf("a packet of frame %d, which is not its turn", p.PTS)
	}
	j.seen[k] = true
	j.remaining--
	j.written++
	return p, nil
}
