package evaluate

import (
	"cmp"
	"slices"

	"retime/pipeline/evaluate/report"
	"retime/pipeline/media"
)

// gallery keeps pictures of the frames that the first method makes worst.
type gallery struct {
	size     int
	exhibits []*exhibit // the worst first
	painter  *painter   // nil if size is 0
}

// exhibit is a held-out frame with the pictures that the methods made of it.
type exhibit struct {
	held     int // index among the held-out frames
	mse      float64
	pictures report.Exhibit
}

// spacing is the least distance of two exhibits, in held-out frames: bad frames come in
// groups, and one of a group is enough. While frames come in, the gallery keeps the
// worst of every spacing frames as a candidate, up to candidates times the wanted
// number.
const (
	spacing    = 4
	candidates = 2
)

func newGallery(size int, v media.Video, threads int) (*gallery, error) {
	g := &gallery{size: size}
	if size == 0 {
		return g, nil
	}
	var err error
	g.painter, err = newPainter(v, threads)
	return g, err
}

func (g *gallery) close() {
	if g.painter != nil {
		g.painter.close()
	}
}

// wants reports whether frame k is a candidate.
func (g *gallery) wants(k int, mse float64) bool {
	if g.size == 0 {
		return false
	}
	for _, x := range g.exhibits {
		if x.held/spacing == k/spacing {
			return x.mse < mse
		}
	}
	return len(g.exhibits) < candidates*g.size || g.exhibits[len(g.exhibits)-1].mse < mse
}

// hang adds x, a candidate, in place of its neighbour or of the least bad exhibit.
func (g *gallery) hang(x *exhibit) {
	g.exhibits = slices.DeleteFunc(g.exhibits, func(y *exhibit) bool { return y.held/spacing == x.held/spacing })
	if len(g.exhibits) == candidates*g.size {
		g.exhibits = g.exhibits[:len(g.exhibits)-1]
	}
	g.exhibits = append(g.exhibits, x)
	slices.SortStableFunc(g.exhibits, func(a, b *exhibit) int { return cmp.Compare(b.mse, a.mse) })
}

// settle drops the exhibits that are closer to a worse one than spacing, or too many.
func (g *gallery) settle() {
	var kept []*exhibit
	for _, x := range g.exhibits {
		near := slices.ContainsFunc(kept, func(y *exhibit) bool { return max(x.held, y.held)-min(x.held, y.held) < spacing })
		if !near && len(kept) < g.size {
			kept = append(kept, x)
		}
	}
	g.exhibits = kept
}

// keepViews drops all but the first count views of each exhibit.
func (g *gallery) keepViews(count int) {
	for _, x := range g.exhibits {
		x.pictures.Views = x.pictures.Views[:min(count, len(x.pictures.Views))]
	}
}

// find returns the exhibit of held-out frame k, or nil.
func (g *gallery) find(k int) *exhibit {
	for _, x := range g.exhibits {
		if x.held == k {
			return x
		}
	}
	return nil
}
