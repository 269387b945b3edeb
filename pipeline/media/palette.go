package media

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"os"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
)

// unpaletted is the pixel format of pictures that get a palette.
const unpaletted = astiav.PixelFormatBgra

// palette gives a clip's pictures the 256 colours that suit the whole clip. As these are
// known after the last picture only, a temporary file keeps the pictures until then.
type palette struct {
	width, height int
	threads       int
	colours       *Filter
	kept          *os.File // has no name, so that it cannot outlive the process
	buffer        *bufio.Writer
	times         []int64
	few           colourSet
}

// paletteUnit is the time base of the palette's filters. Their times only count pictures.
var paletteUnit = big.NewRat(1, 1)

func newPalette(width, height, threads int) (*palette, error) {
	colours, err := newFilter("[in0]palettegen[out]", []Video{unpalettedVideo(width, height)}, threads)
	if err != nil {
		return nil, err
	}
	kept, err := os.CreateTemp("", "retime-palette-*")
	if err != nil {
		colours.Close()
		return nil, err
	}
	os.Remove(kept.Name())
	return &palette{width: width, height: height, threads: threads, colours: colours, kept: kept, buffer: bufio.NewWriterSize(kept, 1<<20), few: colourSet{}}, nil
}

func unpalettedVideo(width, height int) Video {
	return Video{Format: frame.Format{Name: unpaletted.Name()}, Width: width, Height: height, TimeBase: paletteUnit}
}

// add keeps picture, which is shown at pts. The caller keeps its reference.
func (p *palette) add(picture *astiav.Frame, pts int64) error {
	for y := range p.height {
		p.few.add(p.row(picture, y))
		if _, err := p.buffer.Write(p.row(picture, y)); err != nil {
			return p.cannot(err)
		}
	}
	n := int64(len(p.times))
	p.times = append(p.times, pts)
	return p.colours.send(0, picture, n)
}

// row returns row y of an unpaletted picture.
func (p *palette) row(picture *astiav.Frame, y int) []byte {
	first := uintptr(y * av.PlaneStride(picture, 0))
	return unsafe.Slice((*byte)(unsafe.Add(av.PlaneData(picture, 0), first)), 4*picture.Width())
}

func (p *palette) cannot(err error) error {
	return fmt.Errorf("keep the pictures until their palette is made: %w; TMPDIR names another place", err)
}

// apply calls put with all pictures, in pal8, at their times. put may change a picture,
// but not keep it.
func (p *palette) apply(put func(*astiav.Frame) error) error {
	err := p.buffer.Flush()
	if err == nil {
		_, err = p.kept.Seek(0, io.SeekStart)
	}
	if err != nil {
		return p.cannot(err)
	}
	if err := p.colours.End(0); err != nil {
		return err
	}
	colours, err := p.colours.receive()
	if err != nil {
		return fmt.Errorf("make a palette: %w", err)
	}
	defer colours.Free()
	if colours.Width()*colours.Height() == paletteSize {
		table := make([]byte, 0, 4*paletteSize)
		for y := range colours.Height() {
			table = append(table, p.row(colours, y)...)
		}
		p.few.complete(table)
		for y := range colours.Height() {
			copy(p.row(colours, y), table[4*y*colours.Width():])
		}
	}
	remapper, err := newFilter("[in0][in1]paletteuse=diff_mode=rectangle[out]",
		[]Video{unpalettedVideo(p.width, p.height), unpalettedVideo(colours.Width(), colours.Height())}, p.threads)
	if err != nil {
		return err
	}
	defer remapper.Close()
	if err := remapper.send(1, colours, 0); err != nil {
		return err
	}
	if err := remapper.End(1); err != nil {
		return err
	}
	return p.remap(remapper, put)
}

// remap runs the kept pictures through a filter.
func (p *palette) remap(filter *Filter, put func(*astiav.Frame) error) error {
	done := 0
	drain := func() error {
		for {
			picture, err := filter.receive()
			if err == ErrMore || err == io.EOF { //nolint:errorlint // receive returns them bare
				return nil
			} else if err != nil {
				return err
			}
			picture.SetPts(p.times[done])
			done++
			err = put(picture)
			picture.Free()
			if err != nil {
				return err
			}
		}
	}
	in := bufio.NewReaderSize(p.kept, 1<<20)
	for n := range p.times {
		picture, err := p.read(in)
		if err == nil {
			err = filter.send(0, picture, int64(n))
			picture.Free()
		}
		if err == nil {
			err = drain()
		}
		if err != nil {
			return err
		}
	}
	if err := filter.End(0); err != nil {
		return err
	}
	if err := drain(); err != nil {
		return err
	}
	if done < len(p.times) {
		return fmt.Errorf("the palette's filter returned %d of %d pictures", done, len(p.times))
	}
	return nil
}

// read returns the next picture that was kept.
func (p *palette) read(in io.Reader) (*astiav.Frame, error) {
	picture := astiav.AllocFrame()
	picture.SetWidth(p.width)
	picture.SetHeight(p.height)
	picture.SetPixelFormat(unpaletted)
	err := picture.AllocBuffer(0)
	for y := 0; y < p.height && err == nil; y++ {
		if _, err = io.ReadFull(in, p.row(picture, y)); err != nil {
			err = p.cannot(err)
		}
	}
	if err != nil {
		picture.Free()
		return nil, err
	}
	return picture, nil
}

func (p *palette) close() {
	p.colours.Close()
	p.kept.Close()
}
