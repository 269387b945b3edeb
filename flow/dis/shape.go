package dis

import "fmt"

// Shape is the geometry of a level, of its picture and of its patches, which all backends share.
type Shape struct {
	Width, Height int // of the picture in samples
	Columns, Rows int // of the patches
	// Sample (x, y) of a picture's pyramid is at Origin + y*Pitch + x, for x and y from -16 to 16
	// beyond the last. Origin and Pitch are multiples of 16.
	Origin, Pitch int
	// Reach reports whether the level is one of the coarsest, which step 1 of the package
	// comment searches.
	Reach bool
}

// Shapes returns the levels of a picture of width by height, finest first, and the size
// of its pyramid in bytes. It returns an error if the options or the size are out of
// range.
func (o Options) Shapes(width, height int) (list []Shape, size int, err error) {
	if err := o.check(); err != nil {
		return nil, 0, err
	}
	if min(width, height) < 1 || max(width, height) > maxSide {
		return nil, 0, fmt.Errorf("a side of a picture of %dx%d is not within 1 to %d", width, height, maxSide)
	}
	all, size := levels(nil, width, height, o.Stride)
	for i, l := range all {
		list = append(list, Shape{
			Width: l.width, Height: l.height, Columns: l.columns, Rows: l.rows, Origin: l.origin, Pitch: l.pitch,
			Reach: o.Reach > 0 && len(all)-1-i < reachLevels,
		})
	}
	return list, size, nil
}
