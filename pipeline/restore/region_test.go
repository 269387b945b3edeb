package restore

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline/media"
	"retime/testdata/scene"
)

// Outside its region a frame stays unchanged, and the seam is soft.
func TestRegion(t *testing.T) {
	const width, height = 97, 61
	whole := writeScene(t, width, height, 9)
	input := blacken(t, whole, width, height, 4)
	truth, _ := readAll(t, whole)
	o := options(t, input)
	f, err := ParseRegion("30,20,25,15@4")
	if err != nil {
		t.Fatal(err)
	}
	o.Damage = []Finding{f}
	mustRun(t, o)
	got, _ := readAll(t, o.Convert.Output.File)
	m, w := frame.Samples[uint8](got[4].Planes[0]), frame.Samples[uint8](truth[4].Planes[0])
	sum, n := 0.0, 0
	for y := range height {
		for x := range width {
			dx, dy := max(30-x, x-54, 0), max(20-y, y-34, 0)
			switch v := m.Row(y)[x]; {
			case dx+dy == 0:
				d := float64(v) - float64(w.Row(y)[x])
				sum, n = sum+d*d, n+1
			case dx+dy > seam && v != 16:
				t.Fatalf("%d, %d outside the region is %d, not what it was", x, y, v)
			case dx+dy == seam/2 && (v == 16) != (w.Row(y)[x] <= 17):
				t.Errorf("%d, %d in the seam is %d of %d", x, y, v, w.Row(y)[x])
			}
		}
	}
	if db := 10 * math.Log10(255*255*float64(n)/sum); db < 25 {
		t.Errorf("the region is %.1f dB off", db)
	}
}

// A picture of DPX of which a part is replaced keeps its own header, and the rest of its samples.
func TestRegionOfDPX(t *testing.T) {
	const width, height, header = 96, 64, 1664 // of FFmpeg's
	pattern := writeSequence(t, "dpx", "rgb24")
	for n := 37; n < 49; n++ {
		name := fmt.Sprintf(pattern, n)
		file, err := os.ReadFile(name)
		cliptest.Must(t, err)
		copy(file[36:], filepath.Base(name)) // which a header states
		file[801] = 3                        // transfer: logarithmic
		cliptest.Must(t, os.WriteFile(name, file, 0o600))
	}
	o := options(t, pattern)
	o.Convert.Output.File, o.Convert.Output.VideoCodec, o.Convert.Input.Rate = filepath.Join(t.TempDir(), "f%04d.dpx"), "", big.NewRat(24, 1)
	f, err := ParseRegion("30,20,25,15@4")
	cliptest.Must(t, err)
	o.Damage = []Finding{f}
	mustRun(t, o)
	for n := 37; n < 49; n++ {
		was, err := os.ReadFile(fmt.Sprintf(pattern, n))
		cliptest.Must(t, err)
		got, err := os.ReadFile(fmt.Sprintf(o.Convert.Output.File, n))
		cliptest.Must(t, err)
		const begin = header + 3*width*(20-seam) // of the rows that may change
		const end = header + 3*width*(35+seam)
		switch same := len(got) == len(was) && bytes.Equal(got[:begin], was[:begin]) && bytes.Equal(got[end:], was[end:]); {
		case !same:
			t.Errorf("picture %d has another header, or other samples outside the region", n)
		case bytes.Equal(got[begin:end], was[begin:end]) != (n != 41):
			t.Errorf("picture %d: the region is as it was, or should be", n)
		}
	}
}

// A finding of two parts leaves what is between them as it was, and the log names both.
func TestFindingOfTwoRegions(t *testing.T) {
	const width, height = 97, 61
	input := blacken(t, writeScene(t, width, height, 9), width, height, 4)
	o := options(t, input)
	var err error
	if o.Damage, err = ParseList(strings.NewReader("4 dirt region=2,2,6,6 region=80,50,6,6")); err != nil {
		t.Fatal(err)
	}
	var log []Entry
	o.Log = func(e Entry) { log = append(log, e) }
	mustRun(t, o)
	got, _ := readAll(t, o.Convert.Output.File)
	m := frame.Samples[uint8](got[4].Planes[0])
	for y := range height {
		for x := range width {
			away := min(max(2-x, x-7, 0)+max(2-y, y-7, 0), max(80-x, x-85, 0)+max(50-y, y-55, 0))
			if v := m.Row(y)[x]; away > seam && v != 16 {
				t.Fatalf("%d, %d is %d, not what it was", x, y, v)
			}
		}
	}
	if m.Row(4)[4] == 16 || m.Row(52)[82] == 16 || len(log) != 1 || !slices.Equal(log[0].Areas, []Rectangle{{2, 2, 6, 6}, {80, 50, 6, 6}}) {
		t.Errorf("%d and %d, log %+v", m.Row(4)[4], m.Row(52)[82], log)
	}
}

// In a region, a made frame that cannot be trusted also gives way to the nearer source frame.
func TestRegionOfAFrameThatFails(t *testing.T) {
	const width, height = 97, 61
	input := blacken(t, writeScene(t, width, height, 9), width, height, 4)
	o := options(t, input)
	o.Convert.Synthesis.BlendBelow, o.Convert.Synthesis.NearestBelow = new(1.0), new(1.0)
	f, err := ParseRegion("30,20,25,15@4")
	if err != nil {
		t.Fatal(err)
	}
	o.Damage = []Finding{f}
	mustRun(t, o)
	got, _ := readAll(t, o.Convert.Output.File)
	m, near := frame.Samples[uint8](got[4].Planes[0]), frame.Samples[uint8](got[5].Planes[0])
	for y := 20; y < 35; y++ {
		for x := 30; x < 55; x++ {
			if m.Row(y)[x] != near.Row(y)[x] {
				t.Fatalf("%d, %d is %d, in the nearer frame %d", x, y, m.Row(y)[x], near.Row(y)[x])
			}
		}
	}
}

// Frames with the same regions share a mask, and runs that are too long get none.
func TestRegionsShareMasks(t *testing.T) {
	const size = 512
	s := &inputScan{structure: &wholeFrames{}, video: media.Video{Width: size, Height: size, TimeBase: big.NewRat(1, 24), Start: new(big.Rat)}}
	for n := range int64(300) {
		s.stamps = append(s.stamps, n)
	}
	for _, text := range []string{"0,0,8,8@0-199", "1,2,3,4@201", "1,2,3,4@203-204", "5,6,7,8@204", "5,6,7,8@206", "1,2,3,4@206"} {
		f, err := ParseRegion(text)
		if err != nil {
			t.Fatal(err)
		}
		s.findings = append(s.findings, f)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, err := s.planRepairs(&Options{MaxRun: 6})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / (size * size); n > 20 {
		t.Errorf("it took as much memory as %d masks", n)
	}
	if len(p.tooLong) != 1 || len(p.made) != 4 {
		t.Fatalf("%d runs are too long, %d frames are made", len(p.tooLong), len(p.made))
	}
	mask := func(n int64) *frame.Image[uint8] { return p.repairs.pictures[n].mask }
	if mask(201) != mask(203) || mask(204) != mask(206) || mask(203) == mask(204) {
		t.Error("frames with the same regions have masks of their own, or others share one")
	}
	one, two := mask(203), mask(204)
	if one.Row(2)[1] != 255 || one.Row(13)[11] != 0 || two.Row(2)[1] != 255 || two.Row(13)[11] != 255 {
		t.Error("a mask lacks a region or has too many")
	}
}

// At a cut, the damaged part of a frame comes from the frame's own scene, although the other neighbour is as near.
func TestRegionAtACut(t *testing.T) {
	const width, height, cut = 160, 96, 8
	for n, own := range map[int]int{cut - 1: cut - 2, cut: cut + 1} {
		name := writeClip(t, width, height, steady(16), map[int]func(*scene.Picture){})
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		size := len("FRAME\n") + width*height*3/2
		for k := cut; k < 16; k++ { // another scene, which stands still
			p := scene.Draw(width, height, 100)
			copy(data[len(data)-(16-k)*size+len("FRAME\n"):], slices.Concat(p.Y, p.U, p.V))
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		o := options(t, name)
		f, err := ParseRegion(fmt.Sprintf("60,40,20,12@%d", n))
		if err != nil {
			t.Fatal(err)
		}
		o.Damage = []Finding{f}
		var made []Entry
		o.Log = func(e Entry) { made = append(made, e) }
		mustRun(t, o)
		was, _ := readAll(t, name)
		got, _ := readAll(t, o.Convert.Output.File)
		g, w := frame.Samples[uint8](got[n].Planes[0]), frame.Samples[uint8](was[own].Planes[0])
		for y := 40; y < 52; y++ {
			if !slices.Equal(g.Row(y)[60:80], w.Row(y)[60:80]) {
				t.Fatalf("frame %d, row %d: not that of frame %d", n, y, own)
			}
		}
		if len(made) != 1 || !slices.Equal(made[0].Areas, []Rectangle{{60, 40, 20, 12}}) {
			t.Errorf("made %+v", made)
		}
	}
}
