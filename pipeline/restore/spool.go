package restore

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// spool returns the name of a file that holds standard input and can be read twice. If
// standard input is a pipe, spool copies it to a temporary file, which remove removes.
func spool(ctx context.Context, log *slog.Logger) (name string, remove func(), err error) {
	name = atomicfile.StandardInput()
	if media.Seekable(name) {
		return name, func() {}, nil
	}
	// Reads from a pipe can be interrupted only if it is opened again.
	in := os.Stdin
	if again, err := os.Open(name); err == nil {
		defer again.Close()
		in = again
	}
	part := filepath.Join(os.TempDir(), "retime-input")
	_ = atomicfile.Sweep(part)
	to, err := atomicfile.Create(part)
	if err != nil {
		return "", nil, fault.New(fault.CannotWrite, "keep standard input: %w", err)
	}
	remove = to.Discard
	log.Info("standard input is read twice, so a copy is kept until the end", "in", to.Name())
	stop := context.AfterFunc(ctx, func() { _ = in.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err = to.Chmod(0o600); err != nil { // other users may see the directory
		err = fault.New(fault.CannotWrite, "keep standard input in %q: %w", to.Name(), err)
	} else {
		err = keep(to, to.Name(), in)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return to.Name(), remove, nil
}

// keep copies standard input to a file.
func keep(to io.Writer, name string, in io.Reader) error {
	from := &source{Reader: in}
	_, err := io.Copy(to, from)
	switch {
	case err == nil:
		return nil
	case from.err != nil:
		return fault.New(fault.BadData, "read standard input: %w", err)
	}
	return fault.New(fault.CannotWrite, "keep standard input in %q: %w; TMPDIR names another place", name, err)
}

// source keeps the error of a reader.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(b []byte) (n int, err error) {
	if n, err = s.Reader.Read(b); err != io.EOF {
		s.err = err
	}
	return n, err
}
