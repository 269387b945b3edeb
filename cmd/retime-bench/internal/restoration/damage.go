package restoration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"retime/frame"
	"retime/pipeline/media"
	"retime/pipeline/restore"
	"retime/pipeline/timeline/curve"
)

// damaged is a clip in which some frames are spoilt.
type damaged struct {
	clip, name string
	rate       string
	bad        []int
	kinds      map[int]restore.Kind
	truth      map[int]*frame.Frame // of the spoilt frames
	hashes     [][32]byte           // of all frames in the file
}

// baseName returns a clip's name without its directory and extension.
func baseName(clip string) string { return strings.SplitN(filepath.Base(clip), ".", 2)[0] }

// damage writes the clip to a file in dir, with one frame in ten spoilt.
func damage(ctx context.Context, clip, dir string, seed uint64) (*damaged, error) {
	d := &damaged{clip: clip, truth: map[int]*frame.Frame{}}
	d.name = filepath.Join(dir, fmt.Sprintf("%s.%d.mkv", baseName(clip), seed))
	count := 0
	if err := each(ctx, clip, func(*frame.Frame) error { count++; return nil }); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, uint64(count)))
	d.choose(random, count)

	r, err := media.Open(ctx, clip, media.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	d.rate = r.Video().Rate.RatString()
	w, err := create(ctx, d.name, r)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := d.write(w, r, random, count); err != nil {
		return nil, err
	}
	_, err = w.Finish(false)
	return d, err
}

// create begins a lossless copy of the clip that r reads.
func create(ctx context.Context, name string, r *media.Reader) (*media.Writer, error) {
	os.Remove(name)
	return media.Create(ctx, name, r, media.WriterOptions{
		Encoder: media.EncoderOptions{Codec: "ffv1", CRF: -1}, Rate: r.Video().Rate, StreamOptions: media.StreamOptions{Curve: curve.Constant(new(big.Rat), big.NewRat(1, 1))},
	})
}

func (d *damaged) write(w *media.Writer, r *media.Reader, random *rand.Rand, count int) error {
	var last *frame.Frame
	defer func() {
		if last != nil {
			last.Release()
		}
	}()
	for n := range count {
		f, err := r.Read()
		if err != nil {
			return fmt.Errorf("frame %d of %d: %w", n, count, err)
		}
		put := f
		if k, bad := d.kinds[n]; bad {
			d.truth[n] = f // for the comparison
			if put = last.Retain(); k != restore.Repeated {
				put.Release()
				if put, err = spoilFrame(w, random, f, k); err != nil {
					return err
				}
			}
		}
		if last != nil {
			last.Release()
		}
		last = put
		d.hashes = append(d.hashes, hash(put))
		if err := w.WriteFrame(put, nil, nil); err != nil {
			return err
		}
	}
	if _, err := r.Read(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more than %d frames: %w", count, err)
	}
	return nil
}

// choose chooses one in ten of count frames to spoil: single frames, pairs and triples, with at
// least two sound frames between them.
func (d *damaged) choose(random *rand.Rand, count int) {
	const edge = 3
	d.kinds = map[int]restore.Kind{}
	lengths, kinds := []int{1, 2, 3, 1, 1}, []restore.Kind{restore.Black, restore.Repeated, restore.Garbled}
	shift := random.IntN(len(kinds))
	for i := 0; len(d.bad) < count/10; i++ {
		length := min(lengths[i%len(lengths)], count/10-len(d.bad))
		for {
			n := edge + random.IntN(count-2*edge-length)
			if slices.ContainsFunc(d.bad, func(b int) bool { return b >= n-2 && b < n+length+2 }) {
				continue
			}
			for k := range length {
				d.bad = append(d.bad, n+k)
				d.kinds[n+k] = kinds[(i+shift)%len(kinds)]
			}
			break
		}
	}
	slices.Sort(d.bad)
}

// spoilFrame returns a black frame or a garbled copy of f.
func spoilFrame(w *media.Writer, random *rand.Rand, f *frame.Frame, k restore.Kind) (*frame.Frame, error) {
	g, err := w.NewFrame(f)
	if err != nil {
		return nil, err
	}
	frame.Copy(g, f)
	if f.Format.Bytes() == 2 {
		spoilSamples[uint16](random, g, k)
	} else {
		spoilSamples[uint8](random, g, k)
	}
	return g, nil
}

func spoilSamples[T frame.Sample](random *rand.Rand, g *frame.Frame, k restore.Kind) {
	grey := T(1) << (g.Format.Depth - 1)
	luma := frame.Samples[T](g.Planes[0])
	if k == restore.Black {
		for y := range luma.Height {
			fillRow(luma.Row(y), grey/8)
		}
		for _, p := range g.Planes[1:] {
			m := frame.Samples[T](p)
			for y := range m.Height {
				fillRow(m.Row(y), grey)
			}
		}
		return
	}
	switch random.IntN(5) {
	case 0:
		shuffle(random, luma, 0)
	case 1: // a lost lower half
		shuffle(random, luma, luma.Height/2)
	case 2: // noise
		for y := range luma.Height {
			row := luma.Row(y)
			for x := range row {
				row[x] = T(random.IntN(2 * int(grey)))
			}
		}
	case 3:
		for y := luma.Height / 2; y < luma.Height; y++ {
			fillRow(luma.Row(y), grey)
		}
	case 4: // torn off sideways
		for y := range luma.Height {
			row := luma.Row(y)
			s := slices.Clone(row[:luma.Width/3])
			copy(row, row[luma.Width/3:])
			copy(row[luma.Width-len(s):], s)
		}
	}
}

func fillRow[T frame.Sample](row []T, v T) {
	for x := range row {
		row[x] = v
	}
}

// shuffle exchanges blocks of 32 by 32 samples below row from.
func shuffle[T frame.Sample](random *rand.Rand, m frame.Image[T], from int) {
	const side = 32
	columns, rows := m.Width/side, (m.Height-from)/side
	random.Shuffle(columns*rows, func(i, j int) {
		xi, yi, xj, yj := i%columns*side, from+i/columns*side, j%columns*side, from+j/columns*side
		for y := range side {
			a, b := m.Row(yi + y)[xi:xi+side], m.Row(yj + y)[xj:xj+side]
			for x := range a {
				a[x], b[x] = b[x], a[x]
			}
		}
	})
}
