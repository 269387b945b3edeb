package segment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/plainfile"
)

// Join writes the output from the segments in dir. Of local it heeds Output.File,
// Output.Format (empty to tell from the name), Output.Overwrite and the options that
// Make heeds. It returns a fault.TryAgain error if segments are missing or damaged.
func (p *Plan) Join(ctx context.Context, dir string, local pipeline.Options) (*pipeline.Report, error) {
	if err := p.confine(dir, local); err != nil {
		return nil, err
	}
	if err := p.checkInput(ctx, true); err != nil {
		return nil, err
	}
	j := &joiner{plan: p, dir: dir}
	var missing []string
	for i := range p.Ranges {
		m, err := p.check(dir, i, false)
		if err != nil {
			missing = append(missing, fmt.Sprintf("%d (%v)", i, err))
			continue
		}
		j.manifests = append(j.manifests, m)
	}
	if len(missing) > 0 {
		return nil, fault.New(fault.TryAgain, "%d of %d segments cannot be joined: %s; make them first",
			len(missing), len(p.Ranges), abridge(missing))
	}
	defer j.close()
	o := p.apply(local)
	o.Output.File, o.Output.Format, o.Output.Overwrite = local.Output.File, local.Output.Format, local.Output.Overwrite
	return p.Whole.write(ctx, o, j.next)
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
	dir       string
	manifests []*Manifest
	at        int // index of the current segment
	file      *plainfile.File
	packets   *packetReader
	seen      []bool // frames of the current segment that had a packet
	remaining int64  // frames of the current segment that had none yet
}

func (j *joiner) close() {
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
}

func (j *joiner) next() (media.Packet, error) {
	for j.at < len(j.manifests) {
		p, err := j.read()
		if err == nil {
			return p, nil
		}
		if !errors.Is(err, io.EOF) {
			return p, fault.New(fault.BadData, "segment %d: %s: %w; make it again", j.at, j.manifests[j.at].File, err)
		}
		j.close()
		j.at++
	}
	return media.Packet{}, io.EOF
}

// read returns the next packet of the current segment, io.EOF behind its last.
func (j *joiner) read() (p media.Packet, err error) {
	m := j.manifests[j.at]
	if j.file == nil {
		if j.file, err = plainfile.Open(filepath.Join(j.dir, m.File), plainfile.Unlimited); err != nil {
			return p, err
		}
		j.packets = newPacketReader(j.file)
		j.seen, j.remaining = make([]bool, m.Frames), m.Frames
	}
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
	return p, nil
}
