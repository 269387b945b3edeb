package media

import "context"

// Writer encodes frames into a file. WriteFrame and Finish are called by one goroutine;
// the packets of streams that travel beside the video may come from another, that of the
// source.
type Writer struct {
	*Encoder
	*Output
}

// Create opens name, "-" for standard output, for frames like those of source.
// A file is written under a temporary name beside it until Finish.
func Create(ctx context.Context, name string, source *Reader, opt WriterOptions) (*Writer, error) {
	o, err := newOutput(ctx, name, source, opt)
	if err != nil {
		return nil, err
	}
	e, err := newEncoder(o.muxer.output, o.target.name, source.Source(), &o.opt, o.write)
	if err != nil {
		o.Abort()
		return nil, err
	}
	w := &Writer{e, o}
	err = o.begin(videoStream{
		unit: e.context.TimeBase(), frameRate: e.context.Framerate(), encoder: e.codec.Name(), describe: e.context.ToCodecParameters,
	})
	if err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// Finish encodes and writes what is left and gives the file its name. With partial set,
// as after damage, it is named NAME.partial.EXT instead; the name is returned.
func (w *Writer) Finish(partial bool) (string, error) {
	defer w.Abort()
	if err := w.Encoder.Finish(); err != nil {
		return "", err
	}
	return w.Output.finish(partial, w.Encoder.times.frames)
}

// Abort frees everything and removes what was written, unless Finish has named
// it. It may be called more than once.
func (w *Writer) Abort() {
	w.Output.Abort()
	w.Encoder.Abort()
}
