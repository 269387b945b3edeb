package motion

import (
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media/sequence"
	"retime/pipeline/plainfile"
	"retime/warp"
)

// fromFiles reads the flow between a picture and the next one from files. It estimates what the
// files lack: the flow back if there is no file for it, unknown vectors, and the flow between
// pictures that are not neighbours.
type fromFiles struct {
	pattern sequence.Pattern
	own     estimate
	log     *slog.Logger
}

// name is empty: what is in files needs no cache.
func (e *fromFiles) name() string { return "" }

func (e *fromFiles) estimate(a, b Guide, dst *warp.FlowPair) error {
	switch {
	case a.number != unnumbered && b.number == a.number+1:
		return e.read(a, b, dst)
	case b.number != unnumbered && a.number == b.number+1:
		dst.Forward, dst.Backward = dst.Backward, dst.Forward
		err := e.read(b, a, dst)
		dst.Forward, dst.Backward = dst.Backward, dst.Forward
		return err
	}
	e.log.Debug("flow files cover consecutive pictures only: the flow between two others is estimated", "first", a.number, "second", b.number)
	return e.own.estimate(a, b, dst)
}

// read sets dst to the flows between a and the next picture, b.
func (e *fromFiles) read(a, b Guide, dst *warp.FlowPair) error {
	there := e.pattern.File(int(a.number))
	var err error
	if dst.Forward, err = readFlo(there, a.picture()); err != nil {
		return err
	}
	dst.Backward, err = readFlo(backName(there), a.picture())
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if !missing && known(dst.Forward) && known(dst.Backward) {
		return nil
	}
	var own warp.FlowPair
	if err := e.own.estimate(a, b, &own); err != nil {
		return err
	}
	fill(dst.Forward, own.Forward)
	if missing {
		dst.Backward = own.Backward
	} else {
		fill(dst.Backward, own.Backward)
	}
	return nil
}

func (e *fromFiles) close() { e.own.close() }

// backName returns the name of the file with the flow back: 00001.back.flo for 00001.flo.
func backName(name string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + ".back" + ext
}

// readFlo reads the flow of a picture whose guide is like. A flow of the whole picture is halved
// until it fits.
func readFlo(name string, like frame.Image[uint8]) (flow.Field, error) {
	file, err := plainfile.Open(name, plainfile.Unlimited) // its size follows from its header
	if err != nil {
		return flow.Field{}, fault.New(fault.NoInput, "flow: %w", err)
	}
	defer file.Close()
	f, err := flow.ReadFlo(file)
	if err != nil {
		return f, fault.New(fault.BadData, "flow %q: %w", name, err)
	}
	width, height := f.Width, f.Height
	for f.Width > like.Width || f.Height > like.Height {
		f = flow.Halve(f)
	}
	if f.Width != like.Width || f.Height != like.Height {
		return f, fault.New(fault.BadData, "flow %q is %dx%d: want the picture's size, or that of its guide, %dx%d",
			name, width, height, like.Width, like.Height)
	}
	return f, nil
}

// known reports whether all vectors are known.
func known(f flow.Field) bool {
	for y := range f.Height {
		for _, v := range f.Row(y) {
			if !v.Known() {
				return false
			}
		}
	}
	return true
}

// fill replaces the unknown vectors of f with vectors of from.
func fill(f, from flow.Field) {
	for y := range f.Height {
		row, other := f.Row(y), from.Row(y)
		for x, v := range row {
			if !v.Known() {
				row[x] = other[x]
			}
		}
	}
}
