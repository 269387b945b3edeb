package motion

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"retime/flow"
	"retime/frame"
)

// process is a shell with the processes that it starts, all of one group.
type process struct {
	shell  *exec.Cmd
	in     *os.File // what the shell reads
	out    *os.File // what the shell writes
	answer *bufio.Reader
	said   lastLine // on standard error
	ended  chan struct{}
	how    error // it ended; nil for success
	hung   atomic.Bool
	leave  func() bool
}

// startProcess starts a process that ctx kills when it ends.
func startProcess(ctx context.Context, line string) (*process, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		in.Close()
		return nil, err
	}
	p := &process{shell: exec.Command("/bin/sh", "-c", line), in: in, out: out, answer: bufio.NewReaderSize(out, 1<<16), ended: make(chan struct{})}
	p.shell.Stdin, p.shell.Stdout, p.shell.Stderr = theirIn, theirOut, &p.said
	p.shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.shell.WaitDelay = time.Second // for what others of the group say
	err = p.shell.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		p.close()
		return nil, err
	}
	go func() {
		defer close(p.ended)
		if err := p.shell.Wait(); !errors.Is(err, exec.ErrWaitDelay) {
			p.how = err
		}
		p.killGroup() // nobody is left that could answer
	}()
	p.leave = context.AfterFunc(ctx, p.kill)
	return p, nil
}

// close frees the process once it has ended.
func (p *process) close() {
	if p.leave != nil {
		p.leave()
	}
	p.in.Close()
	p.out.Close()
}

// kill kills the group unless it has ended.
func (p *process) kill() {
	select {
	case <-p.ended:
	default:
		p.killGroup()
	}
}

func (p *process) killGroup() { _ = syscall.Kill(-p.shell.Process.Pid, syscall.SIGKILL) }

// end closes the process's input, waits until the process has ended, and kills it after
// a time of grace.
func (p *process) end(grace time.Duration) {
	p.in.Close()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.hung.Store(true)
		p.kill()
		<-p.ended
	}
}

// ask sends two pictures and returns the flow that the process answers. After an error
// the process has ended.
func (p *process) ask(a, b frame.Image[uint8], grace time.Duration) (flow.Field, error) {
	_ = p.in.SetWriteDeadline(time.Time{})
	sent := make(chan error, 1)
	go func() {
		err := send(p.in, a, b)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			p.kill()
		case err != nil:
			p.end(grace) // no answer can be expected
		}
		sent <- err
	}()
	_, err := p.answer.Peek(1)
	// By now the process has ended or has read all that it was sent. If send still waits,
	// it waits in vain.
	_ = p.in.SetWriteDeadline(time.Now())
	unread := <-sent
	if err != nil {
		return flow.Field{}, p.explain("before it answered", grace)
	}
	if unread != nil {
		return flow.Field{}, errors.New("it answered before it had read both pictures")
	}
	f, err := p.read(a)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return f, p.explain("in the middle of its answer", grace)
	}
	if err != nil {
		p.kill()
		<-p.ended
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

// read reads an answer about pictures of like's size.
func (p *process) read(like frame.Image[uint8]) (flow.Field, error) {
	// The size comes first, so that nobody waits for the vectors of a wrong one.
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

// explain says how the process ended, and when.
func (p *process) explain(when string, grace time.Duration) error {
	p.end(grace)
	said := ""
	if line := p.said.String(); line != "" {
		said = ": " + line
	}
	switch {
	case p.hung.Load():
		return fmt.Errorf("it closed its input or output %s and did not end%s", when, said)
	case p.how != nil:
		return fmt.Errorf("it ended %s (%w)%s", when, p.how, said)
	}
	return fmt.Errorf("it ended %s%s", when, said)
}

// lastLine keeps the last line of what is written to it.
type lastLine struct {
	mu   sync.Mutex
	text []byte
}

// lastLineMax is how many bytes of a line are kept.
const lastLineMax = 1000

func (l *lastLine) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	if whole := bytes.TrimRight(l.text, "\r\n"); len(whole) > 0 {
		if i := bytes.LastIndexByte(whole, '\n'); i >= 0 {
			l.text = append(l.text[:0], l.text[i+1:]...)
		}
	}
	l.text = l.text[max(0, len(l.text)-lastLineMax):]
	return len(b), nil
}

// String returns the line without its end.
func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.text))
}
