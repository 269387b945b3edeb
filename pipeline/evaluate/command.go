package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"retime/internal/shell"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline/curve"
	"retime/pipeline/timeline/rational"
)

// command makes frames by running a user's command line. The command reads the kept frames from a
// file, and writes a video at the clip's rate to its standard output.
type command struct {
	line  string
	grace time.Duration // how long it may take to end after its output has ended
	// patience is how long it may take for each frame after the last one that it must make, when
	// nothing more is needed from it.
	patience time.Duration
	threads  int
}

func newCommand(line string, threads int) command {
	return command{line: line, grace: shell.Grace, patience: time.Minute, threads: threads}
}

func (c command) make(ctx context.Context, j job) (time.Duration, error) {
	name := filepath.Join(os.TempDir(), "retime-peer")
	_ = atomicfile.Sweep(name) // leftovers do no harm
	dir, err := atomicfile.CreateDir(name)
	if err != nil {
		return 0, fault.New(fault.CannotWrite, "%w", err)
	}
	defer func() { _ = dir.Remove() }()
	in := filepath.Join(dir.Name(), "in.nut")
	frames, err := writeKept(ctx, j, in)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	process, err := shell.Start(ctx, c.line, "IN="+in, "RATE="+j.clip.rate.RatString(), fmt.Sprint("FRAMES=", frames))
	if err != nil {
		return 0, err
	}
	defer process.Close()
	process.In.Close() // it reads a file, not its standard input
	if err = c.read(ctx, j, process, frames); err == nil {
		err = process.Failed("after it had written its video", c.grace)
	}
	process.Kill()
	<-process.Ended()
	if ctx.Err() != nil {
		return 0, fault.Cancel(ctx, "cancelled")
	}
	return time.Since(began), err
}

// why explains err, the end of the process's output: if the process itself failed, it returns that
// failure, otherwise err.
func (c command) why(process *shell.Process, err error) error {
	const rest = 1 << 26 // more than a process that is about to end can still write
	_ = process.Out.SetReadDeadline(time.Now().Add(c.grace))
	if n, late := io.Copy(io.Discard, io.LimitReader(process.Out, rest)); late != nil || n == rest {
		return err
	}
	if failed := process.Failed("before it had written its video", c.grace); failed != nil {
		return failed
	}
	return err
}

// writeKept writes the kept frames around j's frames to a file, losslessly, and returns
// how many frames a video at the clip's rate has from the first of them to the last.
func writeKept(ctx context.Context, j job, name string) (frames int64, err error) {
	r, err := j.clip.read(ctx)
	if err != nil {
		return 0, err
	}
	defer r.close()
	v := r.Video()
	w, err := media.Create(ctx, name, r.reader, media.WriterOptions{
		Encoder: media.EncoderOptions{Codec: "ffv1", CRF: -1, Threads: j.clip.o.Threads},
		Rate:    j.clip.rate, Unit: v.TimeBase,
		StreamOptions: media.StreamOptions{Curve: curve.Constant(new(big.Rat), big.NewRat(1, 1)), Sound: media.SoundOptions{Mode: media.DropAudio}},
	})
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	var first, last int64
	for k := 0; r.passed < len(j.times); k++ {
		f, err := r.Read()
		if err != nil {
			return 0, err
		}
		if k == 0 {
			first = f.PTS
		}
		last = f.PTS
		err = w.WriteFrame(f, ticks(v, last-first), ticks(v, last-first+1))
		f.Release()
		r.forget()
		if err != nil {
			return 0, err
		}
	}
	if _, err := w.Finish(false); err != nil {
		return 0, err
	}
	return rational.Nearest(new(big.Rat).Mul(ticks(v, last-first), j.clip.rate)) + 1, nil
}

// ticks returns the length of n units of v's time base in seconds.
func ticks(v media.Video, n int64) *big.Rat { return new(big.Rat).Mul(v.TimeBase, big.NewRat(n, 1)) }

// read reads the video that the process writes, and gives j's sink the frames nearest to the wanted
// times. Times count from the first frame.
func (c command) read(ctx context.Context, j job, process *shell.Process, frames int64) error {
	name, err := descriptor(process.Out)
	if err != nil {
		return err
	}
	reader, err := media.Open(ctx, name, media.ReaderOptions{Threads: c.threads, Log: j.clip.o.Log})
	if err != nil {
		return c.why(process, fmt.Errorf("its output: %w", err))
	}
	defer reader.Close()
	a, err := newAnswer(j, reader.Video(), frames)
	if err != nil {
		return err
	}
	defer a.close()

	var hung atomic.Bool
	watch := time.AfterFunc(c.patience, func() {
		hung.Store(true)
		process.Kill()
	})
	watch.Stop()
	defer watch.Stop()
	for {
		f, err := reader.Read()
		if hung.Load() {
			err = fmt.Errorf("it wrote nothing for %s after the last frame that was wanted, and did not end", c.patience)
			if f != nil {
				f.Release()
			}
			return err
		}
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return c.why(process, fmt.Errorf("its output: %w", err))
		}
		if err := a.take(f); err != nil {
			return err
		}
		if a.whole() {
			watch.Reset(c.patience)
		}
	}
	if err := a.end(); err != nil {
		return c.why(process, err)
	}
	return nil
}

// descriptor returns a name by which FFmpeg can open a pipe.
func descriptor(f *os.File) (name string, err error) {
	if runtime.GOOS == "windows" {
		return "", fault.New(fault.Usage, "a peer that is a command needs /dev/fd, which Windows lacks")
	}
	c, err := f.SyscallConn()
	if err != nil {
		return "", err
	}
	err = c.Control(func(fd uintptr) { name = fmt.Sprint("/dev/fd/", fd) })
	return name, err
}
