package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// sidecar writes how each frame came about, a JSON object a line, beside its
// name until it is whole.
type sidecar struct {
	flag   string // that asks for it
	name   string
	file   *os.File // nil for no sidecar
	buffer *bufio.Writer
	lines  *json.Encoder
	err    error
}

func newSidecar(flag, name string) (*sidecar, error) {
	if name == "" {
		return &sidecar{}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.part")
	if err != nil {
		return nil, fault.New(fault.CannotWrite, "%s: %w", flag, err)
	}
	b := bufio.NewWriter(f)
	return &sidecar{flag: flag, name: name, file: f, buffer: b, lines: json.NewEncoder(b)}, nil
}

func (s *sidecar) record(r pipeline.Record) { s.write(r) }

// write adds a line.
func (s *sidecar) write(v any) {
	if s.file != nil && s.err == nil {
		s.err = s.lines.Encode(v)
	}
}

// close gives the file its name if keep is set and all was written, and removes
// it otherwise.
func (s *sidecar) close(keep bool) error {
	if s.file == nil {
		return nil
	}
	err := s.err
	if err == nil {
		err = s.buffer.Flush()
	}
	if e := s.file.Chmod(0o644); err == nil {
		err = e
	}
	if e := s.file.Close(); err == nil {
		err = e
	}
	if keep && err == nil {
		err = os.Rename(s.file.Name(), s.name)
	}
	if !keep || err != nil {
		os.Remove(s.file.Name())
	}
	if err != nil {
		return fault.New(fault.CannotWrite, "%s: %w", s.flag, err)
	}
	return nil
}

// removeUnfinishedSidecar removes what killed runs have left of a sidecar that
// they would have called name.
func removeUnfinishedSidecar(name string) error {
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return err
	}
	for _, e := range entries {
		mark, first := strings.CutPrefix(e.Name(), "."+filepath.Base(name)+".")
		mark, last := strings.CutSuffix(mark, ".part")
		if !first || !last || mark == "" || strings.Trim(mark, "0123456789") != "" {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(name), e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// readList reads the file that a flag names by parse, whose errors name the line.
func readList[T any](flag, name string, parse func(io.Reader) ([]T, error)) ([]T, error) {
	f, err := os.Open(name)
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
