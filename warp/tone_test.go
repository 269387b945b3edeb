package warp

import (
	"math"
	"slices"
	"testing"

	"retime/frame"
)

func TestPQReferenceLevels(t *testing.T) {
	// The signals are those of ITU-R BT.2408, table 1, and the two ends.
	for _, c := range []struct{ luminance, signal float64 }{{0, 0}, {26, 0.38}, {100, 0.51}, {203, 0.58}, {1000, 0.75}, {10000, 1}} {
		if got := pqSignal(c.luminance); math.Abs(got-c.signal) > 0.005 {
			t.Errorf("%v cd/m²: signal %.4f, want %.2f", c.luminance, got, c.signal)
		}
	}
	for _, c := range []struct{ luminance, signal float64 }{{0, 0}, {26, 0.38}, {203, 0.75}, {1000, 1}} {
		if got := hlgLuminance(c.signal); math.Abs(got-c.luminance) > 0.02*c.luminance+0.001 {
			t.Errorf("HLG %v: %.2f cd/m², want %v", c.signal, got, c.luminance)
		}
	}
}

func TestToneTables(t *testing.T) {
	for _, transfer := range []frame.Transfer{frame.PQ, frame.HLG} {
		for _, depth := range []int{8, 10, 12, 16} {
			for _, full := range []bool{false, true} {
				table := toneTable(toneKey{transfer, depth, full})
				for v := 1; v < len(table); v++ {
					if table[v] < table[v-1] {
						t.Fatalf("%v, %d bits: guide falls at %d", transfer, depth, v)
					}
				}
				if table[0] != 0 || table[len(table)-1] != 255 {
					t.Errorf("%v, %d bits: guide from %d to %d", transfer, depth, table[0], table[len(table)-1])
				}
			}
		}
	}
}

// The guides distinguish dark tones better than the upper eight bits do, and PQ and HLG
// give the same level to the same light.
func TestDarkTonesSpread(t *testing.T) {
	pq := toneTable(toneKey{frame.PQ, 10, true})
	hlg := toneTable(toneKey{frame.HLG, 10, true})
	low, high := int(1023*pqSignal(0.05)), int(1023*pqSignal(5))
	if plain, toned := high>>2-low>>2, int(pq[high])-int(pq[low]); float64(toned) < 1.5*float64(plain) {
		t.Errorf("0.05 to 5 cd/m²: %d levels, %d in the upper bits", toned, plain)
	}
	for _, signal := range []float64{0.1, 0.2, 0.3, 0.4, 0.5} {
		light := hlgLuminance(signal)
		a, b := pq[int(1023*pqSignal(light)+0.5)], hlg[int(1023*signal+0.5)]
		if light < 40 && (int(a)-int(b) > 1 || int(b)-int(a) > 1) {
			t.Errorf("%.2f cd/m²: level %d in PQ, %d in HLG", light, a, b)
		}
	}
}

func TestLumaOfHDR(t *testing.T) {
	f := frame.New(frame.Format{Name: "yuv420p10le", Depth: 10, Planes: 3, ChromaX: 1, ChromaY: 1}, 3, 1)
	row := frame.Samples[uint16](f.Planes[0]).Row(0)
	row[0], row[1], row[2] = 64, 500, 940
	f.Transfer = frame.PQ
	table := toneTable(toneKey{frame.PQ, 10, false})
	got := Luma(f).Row(0)
	for x, v := range row {
		if got[x] != table[v] {
			t.Errorf("sample %d: guide %d, want %d", v, got[x], table[v])
		}
	}
	if got[0] != 0 || got[2] != 255 {
		t.Errorf("black is %d and white %d", got[0], got[2])
	}
	g := frame.New(frame.Format{Name: "gbrp12le", Depth: 12, Planes: 3, RGB: true}, 1, 1)
	for _, p := range g.Planes {
		frame.Samples[uint16](p).Row(0)[0] = 1234
	}
	g.Transfer, g.FullRange = frame.HLG, true
	if got, want := Luma(g).Row(0)[0], toneTable(toneKey{frame.HLG, 12, true})[1234]; got != want {
		t.Errorf("gray in RGB: guide %d, want %d", got, want)
	}
}

// The guide of gray RGB of every depth rises from 0 at black to 255 at white.
func TestLumaOfRGB(t *testing.T) {
	for depth := 8; depth <= 16; depth++ {
		f := frame.New(frame.Format{Name: "rgb", Depth: depth, Planes: 3, RGB: true}, 1<<depth, 1)
		for _, p := range f.Planes {
			for x := range f.Width {
				if depth == 8 {
					p.Pix[x] = uint8(x)
				} else {
					frame.Samples[uint16](p).Row(0)[x] = uint16(x)
				}
			}
		}
		got := Luma(f).Row(0)
		if got[0] != 0 || got[len(got)-1] != 255 || !slices.IsSorted(got) {
			t.Errorf("%d bits: black is %d and white %d; rising: %v", depth, got[0], got[len(got)-1], slices.IsSorted(got))
		}
	}
}

// OwnLuma is Luma, which stays when the frame's samples change.
func TestOwnLuma(t *testing.T) {
	for _, format := range formats {
		f := noiseFrame(1, format, 7, 5)
		own, want := OwnLuma(f), Luma(f).Clone()
		for _, p := range f.Planes {
			clear(p.Pix)
		}
		if !slices.Equal(own.Pix, want.Pix) {
			t.Errorf("%s: it changed with the frame", format.Name)
		}
	}
}
