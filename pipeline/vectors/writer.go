package vectors

import (
	"cmp"
	"image"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media/exr"
	"retime/pipeline/media/sequence"
	"retime/pipeline/stages"
)

// Options say what a Writer writes.
type Options struct {
	// File is the pattern of the files, of .flo or .exr.
	//
	// A .flo file holds the vectors from the picture of its number, from 0 at the start of the input, to
	// the next, and 00001.back.flo beside 00001.flo those back, as motion.FromFiles reads them.
	//
	// An .exr file belongs to a picture. Its layers forward and backward have the vectors to the
	// pictures after it and before it in channels u, to the right, and v, upwards, 0 where there is no
	// such picture.
	File      string
	Format    Format
	Overwrite bool
	// Confidence writes how far each vector can be trusted, from 0 to 1, and which pixels the other
	// picture does not show: in EXR's channels confidence and occluded of the layers, and beside .flo in
	// files such as 00001.confidence.png and 00001.back.occluded.png.
	Confidence bool
	// First is the number of the EXR file of the input's first picture.
	First   int
	Workers frame.Workers
}

// Writer writes vectors. Any number of goroutines may call Write.
type Writer struct {
	o       Options
	pattern sequence.Pattern
	exr     bool
	tidy    func() // removes the directory if it was made for nothing

	mu      sync.Mutex
	count   int64               // pairs
	seen    map[int64]bool      // the pairs that have come, by the number of their first picture
	pending map[int64]*[2]layer // EXR's layers of pictures, of which one is there
}

// layer is what is written of one field; empty for none.
type layer struct {
	flow.Field
	disagreement frame.Image[uint16] // in 1/256 pixel of the guides; empty without Options.Confidence
	level        int                 // how often the guides were halved
}

// NewWriter checks the name and makes the directory. If that has such files, they are to be
// overwritten, or it returns a fault.CannotWrite error.
func NewWriter(o Options) (*Writer, error) {
	p, isEXR, err := pattern(o.File)
	if err != nil {
		return nil, err
	}
	if o.Format != (Format{}) && !isEXR {
		return nil, fault.New(fault.Usage, "flow %q: files of .flo have one format; name .exr to choose", o.File)
	}
	if err := p.CheckFirst(o.First); err != nil && isEXR { // .flo counts from 0
		return nil, fault.New(fault.Usage, "flow %q: %w", o.File, err)
	}
	tidy, err := atomicfile.MakeDir(p.Dir)
	if err != nil {
		tidy()
		return nil, fault.New(fault.CannotWrite, "flow %q: %w", o.File, err)
	}
	_ = atomicfile.Sweep(p.Dir + string(filepath.Separator))
	there, err := p.Numbers()
	switch {
	case err != nil:
		return nil, fault.New(fault.CannotWrite, "flow %q: %w", o.File, err)
	case len(there) > 0 && !o.Overwrite:
		return nil, fault.New(fault.CannotWrite, "flow %q: %d such files exist; Output.Overwrite overwrites them", o.File, len(there))
	}
	return &Writer{o: o, pattern: p, tidy: tidy, exr: isEXR, seen: map[int64]bool{}, pending: map[int64]*[2]layer{}}, nil
}

// Count returns how many pairs of pictures have been written.
func (w *Writer) Count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// Write writes the vectors of two consecutive pictures at the pictures' size, unless it has them. EXR files
// that wait for another pair are written when that comes, or by Close.
func (w *Writer) Write(v stages.Vectors) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if v.Next != v.Number+1 || w.seen[v.Number] {
		return nil
	}
	w.seen[v.Number] = true
	w.count++
	forward, err := w.layer(v, v.Forward, v.Backward)
	if err != nil {
		return err
	}
	backward, err := w.layer(v, v.Backward, v.Forward)
	if err != nil {
		return err
	}
	if !w.exr {
		name := w.pattern.File(int(v.Number))
		if err := w.flo(name, forward); err != nil {
			return err
		}
		return w.flo(back(name), backward)
	}
	for i, l := range []layer{forward, backward} {
		n := v.Number + int64(i)
		if w.pending[n] == nil {
			w.pending[n] = new([2]layer)
		}
		both := w.pending[n]
		both[i] = l
		if both[1-i].Width > 0 {
			if err := w.picture(n, both); err != nil {
				return err
			}
			delete(w.pending, n)
		}
	}
	return nil
}

// Close writes the EXR files of pictures of which one neighbour is missing. If nothing was written, it removes the
// directory that NewWriter has made.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.tidy()
	var numbers []int64
	for n := range w.pending {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		if err := w.picture(n, w.pending[n]); err != nil {
			return err
		}
	}
	clear(w.pending)
	return nil
}

// layer returns a field at the pictures' size. other leads back.
func (w *Writer) layer(v stages.Vectors, f, other flow.Field) (l layer, err error) {
	if w.o.Confidence {
		if err := flow.Consistency(&l.disagreement, f, other, w.o.Workers); err != nil {
			return l, err
		}
	}
	l.Field, l.level = flow.Enlarge(f, v.Width, v.Height)
	return l, nil
}

func (w *Writer) put(name string, write func(io.Writer) error) error {
	if err := atomicfile.Write(name, w.o.Overwrite, write); err != nil {
		return fault.New(fault.CannotWrite, "flow: %w", err)
	}
	return nil
}

// flo writes a field and, if that is wanted, pictures of its confidence.
func (w *Writer) flo(name string, l layer) error {
	err := w.put(name, func(to io.Writer) error { return flow.WriteFlo(to, l.Field) })
	if err != nil || !w.o.Confidence {
		return err
	}
	return cmp.Or(w.gray(ending(name, confidenceEnding), l, layer.confidence), w.gray(ending(name, occludedEnding), l, layer.occluded))
}

// gray writes values from 0 to 1 as a picture of 8 bits.
func (w *Writer) gray(name string, l layer, value func(l layer, x, y int) float32) error {
	m := image.NewGray(image.Rect(0, 0, l.Width, l.Height))
	for y := range l.Height {
		for x := range l.Width {
			m.Pix[y*m.Stride+x] = uint8(255*value(l, x, y) + 0.5)
		}
	}
	return w.put(name, func(to io.Writer) error { return png.Encode(to, m) })
}

// picture writes the layers of picture n, of which one may be empty.
func (w *Writer) picture(n int64, both *[2]layer) error {
	size := both[0].Image
	if both[1].Width > 0 {
		size = both[1].Image
	}
	name := w.pattern.File(w.o.First + int(n))
	return w.put(name, func(to io.Writer) error { return exr.Write(to, size.Width, size.Height, w.channels(both)) })
}

// channels returns the channels of a picture.
func (w *Writer) channels(both *[2]layer) (channels []exr.Channel) {
	kind := w.o.Format.sample()
	for i, name := range []string{"forward", "backward"} {
		l, f := both[i], w.o.Format
		at := func(x, y int) flow.Vec {
			if l.Width == 0 {
				return flow.Vec{}
			}
			return l.Row(y)[x]
		}
		add := func(channel string, sample func(x, y int) float32) {
			channels = append(channels, exr.Channel{Name: name + "." + channel, Type: kind, Sample: sample})
		}
		add("u", func(x, y int) float32 { return f.value(at(x, y).X) })
		add("v", func(x, y int) float32 { return f.value(-at(x, y).Y) })
		if w.o.Confidence {
			add("confidence", l.confidence)
			add("occluded", l.occluded)
		}
	}
	return channels
}

// confidence is 1 if the vector back leads to where the vector came from, and a half if it leads a pixel
// of the guides beside it; 0 without a field.
func (l layer) confidence(x, y int) float32 {
	d, ok := l.disagrees(x, y)
	if !ok {
		return 0
	}
	return float32(1 / (1 + math.Pow(float64(d)/flow.One, 2)))
}

// occluded is 1 if the vector back leads more than a pixel of the guides beside where the vector came
// from, and 0 otherwise.
func (l layer) occluded(x, y int) float32 {
	if d, ok := l.disagrees(x, y); !ok || d > flow.One {
		return 1
	}
	return 0
}

func (l layer) disagrees(x, y int) (d uint16, ok bool) {
	if l.Width == 0 {
		return 0, false
	}
	d = l.disagreement.Row(y >> l.level)[x>>l.level]
	return d, d != flow.Inconsistent
}
