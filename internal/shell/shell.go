// Package shell runs command lines that a user gives, and writes those that a user may give.
package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// Grace is longer than any program needs to end once its input or its output has ended.
const Grace = 5 * time.Second

// Process is a shell with the processes that it starts, all of one group.
type Process struct {
	In  *os.File // what the shell reads
	Out *os.File // what the shell writes

	shell *exec.Cmd
	group group
	said  lastLine // on standard error
	ended chan struct{}
	how   error // it ended; nil for success
	hung  atomic.Bool
	leave func() bool
}

// Start starts line by /bin/sh, or on Windows by cmd.exe, with variables such as "NAME=VALUE" added to the
// environment. When ctx ends, it kills the group. Call Close after Ended.
func Start(ctx context.Context, line string, variables ...string) (*Process, error) {
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
	p := &Process{In: in, Out: out, shell: command(line), ended: make(chan struct{})}
	p.shell.Env = append(os.Environ(), variables...)
	p.shell.Stdin, p.shell.Stdout, p.shell.Stderr = theirIn, theirOut, &p.said
	p.shell.WaitDelay = time.Second // for what others of the group say
	p.group, err = start(p.shell)
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		p.Close()
		return nil, err
	}
	go func() {
		defer close(p.ended)
		if err := p.shell.Wait(); !errors.Is(err, exec.ErrWaitDelay) {
			p.how = err
		}
		p.killGroup() // nobody is left that could answer
	}()
	p.leave = context.AfterFunc(ctx, p.Kill)
	return p, nil
}

// Close frees the process once it has ended.
func (p *Process) Close() {
	if p.leave != nil {
		p.leave()
	}
	p.In.Close()
	p.Out.Close()
}

// Kill kills the group unless it has ended.
func (p *Process) Kill() {
	select {
	case <-p.ended:
	default:
		p.killGroup()
	}
}

func (p *Process) killGroup() { p.group.kill() }

// Ended is closed when the shell has ended, and others of the group need no more time.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Group returns the number of the process group.
func (p *Process) Group() int { return p.shell.Process.Pid }

// End closes the process's input, waits until the process has ended, and kills it after
// a time of grace.
func (p *Process) End(grace time.Duration) {
	p.In.Close()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.hung.Store(true)
		p.Kill()
		<-p.ended
	}
}

// Explain says how the process ended, and when, such as "before it answered". It waits
// for the end as End does.
func (p *Process) Explain(when string, grace time.Duration) error {
	p.End(grace)
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

// Failed returns an error if the process had to be killed or its exit status was not 0.
// when is as in Explain.
func (p *Process) Failed(when string, grace time.Duration) error {
	p.End(grace)
	if p.hung.Load() || p.how != nil {
		return p.Explain(when, grace)
	}
	return nil
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
