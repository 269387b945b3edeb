package exhibit

import (
	"bytes"
	"image"
	"image/png"
	"slices"

	"retime/frame"
	"retime/pipeline/evaluate/measure"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/media"
)

// Regions keeps the regions that the first method makes worst, with pictures of what the methods
// made of them. First the first method makes all frames, then Settle chooses, then the other
// methods follow.
type Regions struct {
	size    int // number wanted
	picture image.Rectangle
	side    image.Point // of a region: whole blocks, or less in a smaller picture
	list    []*region   // worst first
	colours *colours    // nil if size is 0
}

// region is a part of a held-out frame.
type region struct {
	held     int             // index among the held-out frames
	at       image.Rectangle // in pixels
	errors   uint64          // the first method's squared errors of the first plane in the region's blocks
	mse      []float64       // by method
	pictures report.RegionPictures
}

// The side of a region is a sixth of the picture's height, in whole blocks and within these limits.
// A frame contributes at most regionsPerFrame.
const (
	minRegion       = 4 * measure.BlockSide
	maxRegion       = 16 * measure.BlockSide
	regionsPerFrame = 3
)

// NewRegions returns Regions that keep size regions of frames like v's. Call Close after use.
func NewRegions(size int, v media.Video, threads int) (*Regions, error) {
	side := min(max(v.Height/6/measure.BlockSide*measure.BlockSide, minRegion), maxRegion)
	g := &Regions{size: size, picture: image.Rect(0, 0, v.Width, v.Height), side: image.Pt(min(side, v.Width), min(side, v.Height))}
	if size == 0 {
		return g, nil
	}
	var err error
	g.colours, err = newColours("scale=flags=bicubic+accurate_rnd+full_chroma_int", v, threads)
	return g, err
}

// Close frees FFmpeg's filters.
func (g *Regions) Close() {
	if g.colours != nil {
		g.colours.close()
	}
}

// find returns the worst regions of frame k, worst first. They do not overlap.
func (g *Regions) find(k int, blocks frame.Image[uint64]) (found []*region) {
	wide := (g.side.X + measure.BlockSide - 1) / measure.BlockSide
	high := (g.side.Y + measure.BlockSide - 1) / measure.BlockSide
	for range regionsPerFrame {
		worst := &region{held: k}
		for y := 0; y+high <= blocks.Height; y++ {
			for x := 0; x+wide <= blocks.Width; x++ {
				var sum uint64
				for by := y; by < y+high; by++ {
					for _, e := range blocks.Row(by)[x : x+wide] {
						sum += e
					}
				}
				if sum <= worst.errors {
					continue
				}
				corner := image.Pt(min(x*measure.BlockSide, g.picture.Max.X-g.side.X), min(y*measure.BlockSide, g.picture.Max.Y-g.side.Y))
				at := image.Rectangle{corner, corner.Add(g.side)}
				if !slices.ContainsFunc(found, func(r *region) bool { return r.at.Overlaps(at) }) {
					worst.errors, worst.at = sum, at
				}
			}
		}
		if worst.errors == 0 {
			break
		}
		found = append(found, worst)
	}
	return found
}

// hang adds candidate r if it is among the worst, and reports whether it did. Of overlapping
// regions within spacing frames, only the worst is a candidate.
func (g *Regions) hang(r *region) bool {
	same := func(o *region) bool { return o.held/spacing == r.held/spacing && o.at.Overlaps(r.at) }
	if slices.ContainsFunc(g.list, func(o *region) bool { return same(o) && o.errors >= r.errors }) {
		return false
	}
	g.list = slices.DeleteFunc(g.list, same)
	at := len(g.list)
	for at > 0 && g.list[at-1].errors < r.errors {
		at--
	}
	g.list = slices.Insert(g.list, at, r)
	g.list = g.list[:min(len(g.list), candidates*g.size)]
	return at < len(g.list)
}

// Settle drops regions that overlap a worse one in a nearby frame, and those beyond the wanted
// number.
func (g *Regions) Settle() {
	var kept []*region
	for _, r := range g.list {
		near := func(o *region) bool { return max(o.held, r.held)-min(o.held, r.held) < spacing && o.at.Overlaps(r.at) }
		if !slices.ContainsFunc(kept, near) && len(kept) < g.size {
			kept = append(kept, r)
		}
	}
	g.list = kept
}

// KeepViews drops what all but the first count methods made.
func (g *Regions) KeepViews(count int) {
	for _, r := range g.list {
		if len(r.mse) > count {
			r.mse, r.pictures.Made = r.mse[:count], r.pictures.Made[:count]
		}
	}
}

// First finds the worst regions of held-out frame k and draws them. blocks are the squared errors
// of made, as measure.Meter.Blocks returns them.
func (g *Regions) First(k int, s Scene, made *frame.Frame, blocks frame.Image[uint64]) error {
	if g.size == 0 {
		return nil
	}
	var fresh []*region
	for _, r := range g.find(k, blocks) {
		if g.hang(r) {
			fresh = append(fresh, r)
		}
	}
	for _, d := range []struct {
		f  *frame.Frame
		to func(*region) *[]byte
	}{
		{s.Before, func(r *region) *[]byte { return &r.pictures.Before }},
		{s.Truth, func(r *region) *[]byte { return &r.pictures.Truth }},
		{s.After, func(r *region) *[]byte { return &r.pictures.After }},
	} {
		if err := g.draw(fresh, d.f, d.to); err != nil {
			return err
		}
	}
	return g.show(fresh, s, made)
}

// Next draws what the next method made of the regions of held-out frame k.
func (g *Regions) Next(k int, s Scene, made *frame.Frame) error {
	var list []*region
	for _, r := range g.list {
		if r.held == k {
			list = append(list, r)
		}
	}
	return g.show(list, s, made)
}

func (g *Regions) show(list []*region, s Scene, made *frame.Frame) error {
	for _, r := range list {
		r.mse = append(r.mse, measure.RegionMSE(s.Truth, made, r.at))
		r.pictures.Made = append(r.pictures.Made, nil)
	}
	return g.draw(list, made, func(r *region) *[]byte { return &r.pictures.Made[len(r.pictures.Made)-1] })
}

// draw draws regions of f.
func (g *Regions) draw(list []*region, f *frame.Frame, to func(*region) *[]byte) error {
	if len(list) == 0 {
		return nil
	}
	picture, err := g.colours.draw(f)
	if err != nil {
		return err
	}
	for _, r := range list {
		var b bytes.Buffer
		if err := png.Encode(&b, picture.SubImage(r.at)); err != nil {
			return err
		}
		*to(r) = b.Bytes()
	}
	return nil
}

// Worst returns the regions and their pictures, worst first. peak is the largest sample value.
func (g *Regions) Worst(peak int) (list []report.Region, pictures []report.RegionPictures) {
	list = []report.Region{}
	for _, r := range g.list {
		d := report.Region{Frame: r.held, X: r.at.Min.X, Y: r.at.Min.Y, Width: r.at.Dx(), Height: r.at.Dy()}
		for _, mse := range r.mse {
			d.PSNRY = append(d.PSNRY, report.Decibel(measure.PSNR(mse, peak)))
		}
		list, pictures = append(list, d), append(pictures, r.pictures)
	}
	return list, pictures
}
