package segment

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/confine"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// apply returns the plan's settings with the options of local that may differ between
// workers.
func (p *Plan) apply(local pipeline.Options) pipeline.Options {
	o := p.Settings
	o.Compute, o.Synthesis.FlowCache = local.Compute, local.Synthesis.FlowCache
	o.Hooks.Log, o.Hooks.Progress = local.Hooks.Log, local.Hooks.Progress
	return o
}

// Make makes range i in dir. made is false if the range was there and whole already. Of
// local, Make heeds Compute, Synthesis.FlowCache, Hooks.Log and Hooks.Progress, and
// nothing else. Several processes may make the same range at once.
func (p *Plan) Make(ctx context.Context, dir string, i int, local pipeline.Options) (m *Manifest, made bool, err error) {
	if i < 0 || i >= len(p.Ranges) {
		return nil, false, fault.New(fault.Usage, "range %d: the plan has ranges 0 to %d", i, len(p.Ranges)-1)
	}
	if err := p.confine(dir, local); err != nil {
		return nil, false, err
	}
	if err := p.checkInput(ctx, false); err != nil {
		return nil, false, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, false, fault.New(fault.CannotWrite, "segments: %w", err)
	}
	if err := sweep(dir); err != nil {
		return nil, false, fault.New(fault.CannotWrite, "segments: %w", err)
	}
	m, report, err := p.make(ctx, dir, i, local)
	return m, report != nil, err
}

// confine refuses an input or a directory of segments outside Compute.Confine of local, and
// links out of the directory of segments.
func (p *Plan) confine(dir string, local pipeline.Options) error {
	in, err := confine.New(local.Compute.Confine)
	if err != nil {
		return fault.New(fault.Usage, "Compute.Confine: %w", err)
	}
	if err := in.Check(p.Input.Path); err != nil {
		return fault.New(fault.Usage, "the plan's input: Compute.Confine: %w", err)
	}
	if err := in.CheckTree(dir); err != nil {
		return fault.New(fault.Usage, "segments: Compute.Confine: %w", err)
	}
	return nil
}

// make makes range i; the report is nil if the range was there and whole already.
func (p *Plan) make(ctx context.Context, dir string, i int, local pipeline.Options) (*Manifest, *pipeline.Report, error) {
	m, err := p.check(dir, i, true)
	if err == nil {
		return m, nil, nil
	}
	if local.Hooks.Log != nil && !errors.Is(err, errMissing) {
		local.Hooks.Log.Warn("a segment is made again", "index", i, "reason", err)
	}
	m, report, err := p.write(ctx, dir, i, local)
	if err != nil {
		return nil, nil, err
	}
	m, err = p.publish(dir, m)
	return m, report, err
}

// write writes the packets of range i and returns a manifest that describes them.
func (p *Plan) write(ctx context.Context, dir string, i int, local pipeline.Options) (*Manifest, *pipeline.Report, error) {
	cannot := func(err error) error { return fault.New(fault.CannotWrite, "segment %d: %w", i, err) }
	file, err := atomicfile.Create(manifestName(dir, i))
	if err != nil {
		return nil, nil, cannot(err)
	}
	want := p.Ranges[i]
	m := &Manifest{Plan: p.ID(), Index: i, First: want.First}
	o := p.apply(local)
	o.Hooks.Digest = func(_ int64, d pipeline.Digest) { m.Digests = append(m.Digests, Hash(d)) }
	w := newPacketWriter(file)
	report, err := runPart(ctx, o, &p.Whole, want, func(packet media.Packet) error {
		if err := w.write(packet); err != nil {
			return cannot(err)
		}
		return nil
	})
	if err == nil {
		if err = w.close(); err != nil {
			err = cannot(err)
		}
	}
	if err != nil {
		file.Discard()
		return nil, nil, err
	}
	m.Frames, m.Bytes, m.SHA256, m.Digest = report.Frames, w.bytes, w.hex(), Sum(m.Digests)
	m.File = packetsName(i, m.SHA256)
	if err := file.Commit(filepath.Join(dir, m.File)); err != nil {
		return nil, nil, cannot(err)
	}
	return m, report, nil
}

// publish writes m and returns it, or returns another worker's manifest if that worker
// was faster.
func (p *Plan) publish(dir string, m *Manifest) (*Manifest, error) {
	other, err := p.check(dir, m.Index, false)
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
