package main

import (
	"bufio"
	"encoding/json"
	"io"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
)

// sidecar writes a JSON object a line about each frame. The file gets its name when it
// is whole.
type sidecar struct {
	flag   string // the flag that asks for the file
	name   string
	file   *atomicfile.File // nil for no sidecar
	over   bool             // replace a file that is there
	buffer *bufio.Writer
	lines  *json.Encoder
	err    error
}

func newSidecar(flag, name string, overwrite bool) (*sidecar, error) {
	if name == "" {
		return &sidecar{}, nil
	}
	_ = atomicfile.Sweep(name)
	name, err := atomicfile.Follow(name)
	var f atomicfile.File
	if err == nil {
		f, err = atomicfile.Create(name)
	}
	if err != nil {
		return nil, fault.New(fault.CannotWrite, "%s: %w", flag, err)
	}
	b := bufio.NewWriter(f)
	return &sidecar{flag: flag, name: name, file: &f, over: overwrite, buffer: b, lines: json.NewEncoder(b)}, nil
}

func (s *sidecar) record(r pipeline.Record) { s.write(r) }

// write adds a line.
func (s *sidecar) write(v any) {
	if s.file != nil && s.err == nil {
		s.err = s.lines.Encode(v)
	}
}

// close gives the file its name if keep is set and no write failed, and removes it
// otherwise.
func (s *sidecar) close(keep bool) error {
	if s.file == nil {
		return nil
	}
	err := s.err
	if err == nil {
		err = s.buffer.Flush()
	}
	if keep && err == nil {
		err = s.file.Commit(s.name, s.over)
	}
	if !keep || err != nil {
		s.file.Discard()
	}
	if err != nil {
		return fault.New(fault.CannotWrite, "%s: %w", s.flag, err)
	}
	return nil
}

// These bound the sizes of the files of --decisions and --list in bytes. A sidecar has
// about 300 bytes for each frame.
const (
	maxDecisions = 1 << 29
	maxList      = 1 << 24
)

// readList reads the file of a flag, of up to limit bytes, with parse, whose errors name
// the line.
func readList[T any](flag, name string, limit int64, parse func(io.Reader) ([]T, error)) ([]T, error) {
	f, err := plainfile.OpenText(name, limit)
	if err != nil {
		return nil, fault.New(fault.NoInput, "%s: %w", flag, err)
	}
	defer f.Close()
	list, err := parse(f)
	if err != nil {
		return nil, fault.New(fault.KindOf(err), "%s: %s, %w", flag, name, err)
	}
	return list, nil
}
