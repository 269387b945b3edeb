package media

import (
	"context"
	"os"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// Writer encodes frames to a file. One goroutine calls WriteFrame and Finish. The packets
// of the other streams may come from another goroutine, which reads the source.
type Writer struct {
	*Encoder
	*Output
}

// Create opens a file called name, or standard output for "-", for frames like those of
// source. Until Finish, the file has a temporary name in the same directory.
func Create(ctx context.Context, name string, source *Reader, opt WriterOptions) (*Writer, error) {
	o, err := newOutput(ctx, name, source, opt)
	if err != nil {
		return nil, err
	}
	e, err := newEncoder(o.muxer.output, o.target.name, source.Source(), &o.opt, o.writePicture)
	if err != nil {
		o.Abort()
		return nil, err
	}
	w := &Writer{e, o}
	err = o.begin(videoStream{
		unit: e.context.TimeBase(), base: e.context.TimeBase(), frameRate: e.context.Framerate(), encoder: e.codec.Name(),
		describe: func(p *astiav.CodecParameters) error {
			err := e.context.ToCodecParameters(p)
			if err == nil {
				av.SetFieldOrder(p, source.Source().Fields)
			}
			return err
		},
	})
	if err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// CheckName returns the error with which every output called name would be refused: its place is taken, no container goes
// by that name, or the container's options do not fit. inPlace is set if the output is written in place, as a pipe is.
func CheckName(ctx context.Context, name string, source *Reader, opt WriterOptions) (inPlace bool, err error) {
	o, err := newOutput(ctx, name, source, opt)
	if err != nil {
		return false, err
	}
	_, inPlace = o.target.destination.(direct)
	o.Abort()
	return inPlace, nil
}

// Check returns the error with which Create would refuse the file, and leaves nothing behind. Of what is written in place,
// it checks the name only. Without a name, it checks the container that opt.Container.Format names. opt.Log gets what Create says.
func Check(ctx context.Context, name string, source *Reader, opt WriterOptions) error {
	if name == "" {
		name = os.DevNull
	} else if inPlace, err := CheckName(ctx, name, source, opt); inPlace || err != nil {
		return err
	}
	w, err := Create(ctx, name, source, opt)
	if err == nil {
		w.Abort()
	}
	return err
}

// Finish encodes and writes what is left and gives the file its name, which it returns.
// If partial is set, as after damage, the name is NAME.partial.EXT, or NAME.partial-2.EXT and
// so on if that is taken. It returns a
// fault.Mismatch error if Verify finds a difference.
func (w *Writer) Finish(partial bool) (string, error) {
	defer w.Abort()
	if err := w.Encoder.Finish(); err != nil {
		return "", err
	}
	return w.finish(partial, w.times.frames)
}

// Abort frees the writer and removes its file, unless Finish has named the file. It may
// be called more than once.
func (w *Writer) Abort() {
	w.Output.Abort()
	w.Encoder.Abort()
}
