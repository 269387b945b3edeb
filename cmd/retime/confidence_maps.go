package main

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"

	"retime/frame"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

// confidenceMaps writes the confidence in each pixel of the made frames as pictures
// into a directory. Their names are the numbers of the frames.
type confidenceMaps struct {
	dir       string
	overwrite bool
	tidy      func() // removes the directory if it was made for nothing
}

// mapPattern is the pattern of the pictures' names.
const mapPattern = "%06d.png"

// newConfidenceMaps creates the directory, which must be empty unless overwrite is set.
// It returns nil if dir is empty.
func newConfidenceMaps(dir string, overwrite bool) (*confidenceMaps, error) {
	if dir == "" {
		return nil, nil
	}
	tidy, err := atomicfile.MakeDir(dir)
	if err != nil {
		tidy()
		return nil, fault.New(fault.CannotWrite, "--confidence-maps: %w", err)
	}
	_ = atomicfile.Sweep(dir + string(filepath.Separator))
	if entries, err := os.ReadDir(dir); err != nil {
		return nil, fault.New(fault.CannotWrite, "--confidence-maps: %w", err)
	} else if len(entries) > 0 && !overwrite {
		return nil, fault.New(fault.CannotWrite, "--confidence-maps: %q is not empty; name another directory, or give -y to write into it", dir)
	}
	return &confidenceMaps{dir, overwrite, tidy}, nil
}

func (m *confidenceMaps) write(number int64, confidence frame.Image[uint8]) error {
	name := filepath.Join(m.dir, fmt.Sprintf(mapPattern, number))
	gray := &image.Gray{Pix: confidence.Pix, Stride: confidence.Stride, Rect: image.Rect(0, 0, confidence.Width, confidence.Height)}
	if err := atomicfile.Write(name, m.overwrite, func(w io.Writer) error { return png.Encode(w, gray) }); err != nil {
		return fault.New(fault.CannotWrite, "--confidence-maps: %w", err)
	}
	return nil
}
