// Package exhibit keeps pictures of the frames and the regions that a method makes worst, as
// several methods make them.
package exhibit

import (
	"cmp"
	"context"
	"slices"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/media"
)

// Scene is a held-out frame and the source frames around it.
type Scene struct{ Truth, Before, After *frame.Frame }

// Gallery keeps pictures of the frames that the first method makes worst. First the first method
// makes all frames, then Settle chooses, then the other methods follow.
type Gallery struct {
	size     int
	exhibits []*exhibit // worst first
	painter  *painter   // nil if size is 0
}

// exhibit is a held-out frame and the pictures that the methods made of it.
type exhibit struct {
	held     int // index among the held-out frames
	mse      float64
	pictures report.Exhibit
}

// spacing is the minimum distance between two exhibits, in held-out frames: bad frames come in
// groups, and one of each group is enough. Until Settle, the gallery keeps the worst of every
// spacing frames as a candidate, up to candidates times the wanted number.
const (
	spacing    = 4
	candidates = 2
)

// NewGallery returns a Gallery of size frames like v's. Call Close after use.
func NewGallery(size int, v media.Video, threads int) (*Gallery, error) {
	g := &Gallery{size: size}
	if size == 0 {
		return g, nil
	}
	var err error
	g.painter, err = newPainter(v, threads)
	return g, err
}

// Close frees FFmpeg's filters.
func (g *Gallery) Close() {
	if g.painter != nil {
		g.painter.close()
	}
}

// First draws held-out frame k if it is among the worst. options estimate the flow from which it
// was made, and are nil if it was made without flow. mse is its error.
func (g *Gallery) First(ctx context.Context, k int, s Scene, made *frame.Frame, mse float64, options *pipeline.Options) error {
	if !g.wants(k, mse) {
		return nil
	}
	truth, err := g.painter.jpeg(s.Truth)
	if err != nil {
		return err
	}
	x := &exhibit{held: k, mse: mse}
	x.pictures.Truth = truth
	g.hang(x)
	return g.Next(ctx, k, s, made, options)
}

// Next draws what the next method made of held-out frame k, if the gallery has it.
func (g *Gallery) Next(ctx context.Context, k int, s Scene, made *frame.Frame, options *pipeline.Options) error {
	x := g.find(k)
	if x == nil {
		return nil
	}
	v, err := g.painter.view(ctx, s, made, options)
	x.pictures.Views = append(x.pictures.Views, v)
	return err
}

// Worst returns the frames, as indices among the held-out ones, and their pictures, worst first.
func (g *Gallery) Worst() (frames []int, pictures []report.Exhibit) {
	frames = []int{}
	for _, x := range g.exhibits {
		frames, pictures = append(frames, x.held), append(pictures, x.pictures)
	}
	return frames, pictures
}

// wants reports whether frame k is a candidate.
func (g *Gallery) wants(k int, mse float64) bool {
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

// hang adds candidate x in place of its neighbour or of the least bad exhibit.
func (g *Gallery) hang(x *exhibit) {
	g.exhibits = slices.DeleteFunc(g.exhibits, func(y *exhibit) bool { return y.held/spacing == x.held/spacing })
	if len(g.exhibits) == candidates*g.size {
		g.exhibits = g.exhibits[:len(g.exhibits)-1]
	}
	g.exhibits = append(g.exhibits, x)
	slices.SortStableFunc(g.exhibits, func(a, b *exhibit) int { return cmp.Compare(b.mse, a.mse) })
}

// Settle drops exhibits closer than spacing to a worse one, and those beyond the wanted number.
func (g *Gallery) Settle() {
	var kept []*exhibit
	for _, x := range g.exhibits {
		near := slices.ContainsFunc(kept, func(y *exhibit) bool { return max(x.held, y.held)-min(x.held, y.held) < spacing })
		if !near && len(kept) < g.size {
			kept = append(kept, x)
		}
	}
	g.exhibits = kept
}

// KeepViews drops all but the first count views of each exhibit.
func (g *Gallery) KeepViews(count int) {
	for _, x := range g.exhibits {
		x.pictures.Views = x.pictures.Views[:min(count, len(x.pictures.Views))]
	}
}

// find returns the exhibit of held-out frame k, or nil.
func (g *Gallery) find(k int) *exhibit {
	for _, x := range g.exhibits {
		if x.held == k {
			return x
		}
	}
	return nil
}
