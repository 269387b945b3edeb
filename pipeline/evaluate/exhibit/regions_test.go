package exhibit

import (
	"image"
	"math/big"
	"slices"
	"testing"

	"retime/frame"
	"retime/pipeline/media"
)

// sized returns Regions for pictures of the given size, without drawing.
func sized(t *testing.T, count, width, height int) *Regions {
	t.Helper()
	g, err := NewRegions(0, media.Video{Width: width, Height: height, TimeBase: big.NewRat(1, 25)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	g.size = count
	return g
}

func TestRegionsFind(t *testing.T) {
	for _, c := range []struct{ width, height, side int }{{640, 360, 64}, {1280, 720, 112}, {1920, 1080, 176}, {3840, 2160, 256}} {
		if g := sized(t, 1, c.width, c.height); g.side != image.Pt(c.side, c.side) {
			t.Errorf("%dx%d: regions of %v, want %d", c.width, c.height, g.side, c.side)
		}
	}
	// The last of 19 columns and the last of 6 rows of blocks are cut off.
	g := sized(t, 4, 300, 90)
	blocks := frame.NewImage[uint64](19, 6)
	if found := g.find(0, blocks); len(found) != 0 {
		t.Errorf("without errors, %d regions", len(found))
	}
	blocks.Row(5)[18], blocks.Row(1)[1], blocks.Row(2)[2], blocks.Row(0)[9] = 50, 30, 30, 10
	found := g.find(7, blocks)
	if len(found) != 3 {
		t.Fatalf("%d regions, want 3", len(found))
	}
	for i, want := range []struct {
		errors uint64
		at     image.Point // in the region
	}{{60, image.Pt(40, 40)}, {50, image.Pt(299, 89)}, {10, image.Pt(150, 8)}} {
		r := found[i]
		if r.held != 7 || r.errors != want.errors || !want.at.In(r.at) || !r.at.In(image.Rect(0, 0, 300, 90)) || r.at.Size() != g.side {
			t.Errorf("region %d: %+v, want %d at %v", i, r, want.errors, want.at)
		}
		for _, o := range found[:i] {
			if o.at.Overlaps(r.at) {
				t.Errorf("regions %v and %v overlap", o.at, r.at)
			}
		}
	}
	// A picture smaller than a region is one region.
	small := sized(t, 1, 20, 100)
	narrow := frame.NewImage[uint64](2, 7)
	narrow.Row(6)[1] = 1
	if found := small.find(0, narrow); len(found) != 1 || found[0].at != image.Rect(0, 36, 20, 100) {
		t.Errorf("a picture of 20x100: %+v", found)
	}
}

func TestRegionsHang(t *testing.T) {
	type spot struct {
		held, x int
		errors  uint64
	}
	for _, c := range []struct {
		name string
		come []spot
		want []uint64
	}{
		{"the worst", []spot{{0, 0, 5}, {0, 100, 7}, {10, 0, 6}, {20, 0, 9}}, []uint64{9, 7}},
		{"once in neighbouring frames", []spot{{0, 0, 5}, {1, 10, 7}, {2, 0, 6}, {3, 300, 2}}, []uint64{7, 2}},
		{"in frames that get worse and worse", []spot{{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {3, 0, 4}, {4, 0, 5}, {5, 0, 6}, {6, 0, 7}, {7, 0, 8}}, []uint64{8, 4}},
		{"again in later frames", []spot{{0, 0, 5}, {4, 0, 5}}, []uint64{5, 5}},
		{"the first of equals", []spot{{0, 0, 5}, {1, 0, 5}, {0, 200, 5}}, []uint64{5, 5}},
	} {
		g := sized(t, 2, 640, 360)
		for _, s := range c.come {
			r := &region{held: s.held, at: image.Rect(s.x, 0, s.x+64, 64), errors: s.errors}
			if hung := g.hang(r); hung != slices.Contains(g.list, r) {
				t.Errorf("%s: hang says %t of %+v", c.name, hung, s)
			}
			if len(g.list) > candidates*2 {
				t.Errorf("%s: %d candidates", c.name, len(g.list))
			}
		}
		g.Settle()
		var got []uint64
		for _, r := range g.list {
			got = append(got, r.errors)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
