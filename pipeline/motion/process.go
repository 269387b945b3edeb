package motion

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"retime/flow"
	"retime/frame"
	"retime/internal/shell"
)

// process is a running command that answers with flow.
type process struct {
	*shell.Process
	answer *bufio.Reader
}

// startProcess starts a process, which the end of ctx kills.
func startProcess(ctx context.Context, line string) (*process, error) {
	p, err := shell.Start(ctx, line)
	if err != nil {
		return nil, err
	}
	return &process{p, bufio.NewReaderSize(p.Out, 1<<16)}, nil
}

// ask sends two pictures and returns the flow that the process answers. After an error the process
// has ended.
func (p *process) ask(a, b frame.Image[uint8], grace time.Duration) (flow.Field, error) {
	_ = p.In.SetWriteDeadline(time.Time{})
	sent := make(chan error, 1)
	go func() {
		err := send(p.In, a, b)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			p.Kill()
		case err != nil:
			p.End(grace) // no answer can be expected
		}
		sent <- err
	}()
	_, err := p.answer.Peek(1)
	// By now the process has ended or has read everything it was sent. If send still waits, nothing
	// will read the rest.
	_ = p.In.SetWriteDeadline(time.Now())
	unread := <-sent
	if err != nil {
		return flow.Field{}, p.Explain("before it answered", grace)
	}
	if unread != nil {
		return flow.Field{}, errors.New("it answered before it had read both pictures")
	}
	f, err := p.read(a)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return f, p.Explain("in the middle of its answer", grace)
	}
	if err != nil {
		p.Kill()
		<-p.Ended()
	}
	return f, err
}

// send writes two pictures in the PGM format.
func send(w io.Writer, pictures ...frame.Image[uint8]) error {
	to := bufio.NewWriterSize(w, 1<<16)
	for _, m := range pictures {
		fmt.Fprintf(to, "P5\n%d %d\n255\n", m.Width, m.Height)
		for y := range m.Height {
			if _, err := to.Write(m.Row(y)); err != nil {
				return err
			}
		}
	}
	return to.Flush()
}

// read reads the answer to pictures of like's size.
func (p *process) read(like frame.Image[uint8]) (flow.Field, error) {
	// Check the size first, so that nothing waits for the vectors of a wrong size.
	const tag, header = "PIEH", 12
	if h, err := p.answer.Peek(header); err == nil && string(h[:len(tag)]) == tag {
		w, h := binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint32(h[8:])
		if int64(w) != int64(like.Width) || int64(h) != int64(like.Height) {
			return flow.Field{}, fmt.Errorf("it answered with a flow of %dx%d for pictures of %dx%d", w, h, like.Width, like.Height)
		}
	}
	f, err := flow.ReadFlo(p.answer)
	if err != nil {
		return f, fmt.Errorf("its answer: %w", err)
	}
	for i, v := range f.Pix {
		if !v.Known() {
			return f, fmt.Errorf("its answer has no vector at (%d, %d)", i%f.Width, i/f.Width)
		}
	}
	return f, nil
}
