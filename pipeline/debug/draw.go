package debug

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/media"
	"retime/warp"
)

// hues tells hypotheses and sources apart.
var hues = []struct {
	name string
	color.RGBA
}{
	{"red", color.RGBA{214, 39, 40, 255}}, {"blue", color.RGBA{31, 119, 220, 255}},
	{"orange", color.RGBA{255, 150, 30, 255}}, {"cyan", color.RGBA{60, 200, 220, 255}},
	{"white", color.RGBA{245, 245, 245, 255}}, {"green", color.RGBA{44, 160, 44, 255}},
	{"yellow", color.RGBA{230, 220, 50, 255}}, {"violet", color.RGBA{148, 80, 200, 255}},
	{"pink", color.RGBA{240, 130, 190, 255}}, {"brown", color.RGBA{120, 75, 50, 255}},
	{"olive", color.RGBA{130, 130, 40, 255}}, {"teal", color.RGBA{0, 120, 120, 255}},
	{"salmon", color.RGBA{250, 140, 110, 255}}, {"grey", color.RGBA{128, 128, 128, 255}},
	{"lime", color.RGBA{170, 240, 60, 255}},
}

// hue returns the index of the colour of hypothesis i. The hypotheses with motion from
// flows come before the one without motion, which is white.
func hue(d *Dissection, i int) int {
	flows := 2 * len(d.Interval.Flows)
	if i >= flows {
		return min(4+i-flows, len(hues)-1)
	}
	return i % 4
}

// sources draws the frames in colour.
func sources(d *Dissection) ([]Drawing, error) {
	filter, err := media.NewFilter("[in0]format=gbrp[out]", 1, d.Video, 0)
	if err != nil {
		return nil, err
	}
	defer filter.Close()
	var list []Drawing
	for i, s := range []struct {
		name, about string
		f           *frame.Frame
	}{
		{"1-first.png", "the source frame before", d.First.Frame},
		{"2-made.png", "the frame that was made", d.Made},
		{"3-second.png", "the source frame after", d.Second.Frame},
	} {
		if err := filter.Send(0, s.f, int64(i)); err != nil {
			return nil, err
		}
		rgb, err := filter.Receive()
		if err != nil {
			return nil, fmt.Errorf("draw a frame: %w", err)
		}
		list = append(list, Drawing{s.name, s.about, frame.RGBA(rgb)})
		rgb.Release()
	}
	return list, nil
}

// Draw returns the pictures that Write writes. d must hold a made frame.
func Draw(d *Dissection) ([]Drawing, error) {
	list, err := sources(d)
	if err != nil {
		return nil, err
	}
	pair, guesses := d.Interval.Flows[0], d.Inspection.Guesses
	longest := pair.Forward.UsualLength()
	wheel := fmt.Sprintf("hue is the direction (red right, yellow down, cyan left, violet up), full colour %.1f pixels of the frames",
		longest*float64(int(1)<<d.Interval.Level))
	list = append(list,
		Drawing{"flow-forward.png", "motion from the first frame to the second: " + wheel, flow.ColorWheel(pair.Forward, longest)},
		Drawing{"flow-backward.png", "motion from the second frame to the first, in the same colours", flow.ColorWheel(pair.Backward, longest)},
		Drawing{"flow-projected.png", "the forward motion where it passes at the frame's time, holes filled", flow.ColorWheel(guesses[0].Motion, longest)},
		Drawing{"holes.png", "what the flows do not reach at the frame's time", holes(d)},
		Drawing{"visibility.png", "which source frame shows the place that the winning motion leads to", visibility(d)},
		Drawing{"hypotheses.png", "which motion has the largest share; where red and blue mix, both flows agree", winners(d)},
		Drawing{"costs.png", fmt.Sprintf("error along the best motion: black none, white %d grey levels", costWhite), costs(guesses)},
		Drawing{"shares.png", "share of the winning motion: white all, black as much as the others", shares(guesses)},
		Drawing{"confidence.png", "how far to trust each pixel: white fully, black not at all", gray(d.Confidence)},
		Drawing{"overlay.png", "what is taken for lying still over the picture: white", gray(static(d))},
	)
	return list, nil
}

func gray(m frame.Image[uint8]) image.Image {
	return &image.Gray{Pix: m.Pix, Stride: m.Stride, Rect: image.Rect(0, 0, m.Width, m.Height)}
}

// static returns the overlay mask, which is black if there is no overlay.
func static(d *Dissection) frame.Image[uint8] {
	if m := d.Inspection.Overlay; m.Width > 0 {
		return m
	}
	return frame.NewImage[uint8](d.Confidence.Width, d.Confidence.Height)
}

// key gives a colour its meaning.
type key struct {
	color.RGBA
	text string
}

// legend is the height in pixels of a line of keys.
const legend = 18

// paint draws a picture on the grid with a legend of keys below it. at returns the
// colour of a pixel; if its alpha is below 255, the dimmed first guide shows through.
func paint(d *Dissection, keys []key, at func(x, y int) color.RGBA) image.Image {
	w, h := d.Confidence.Width, d.Confidence.Height
	m := image.NewRGBA(image.Rect(0, 0, max(w, 360), h+legend*len(keys)))
	draw.Draw(m, m.Rect, image.NewUniform(color.RGBA{24, 24, 24, 255}), image.Point{}, draw.Src)
	for y := range h {
		guide := d.Interval.GuideA.Row(y)
		for x := range w {
			c := at(x, y)
			back := uint32(guide[x]) / 2
			mix := func(v uint8) uint8 { return uint8((uint32(v)*uint32(c.A) + back*(255-uint32(c.A))) / 255) }
			m.SetRGBA(x, y, color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255})
		}
	}
	for i, k := range keys {
		y := h + legend*i
		draw.Draw(m, image.Rect(4, y+3, 20, y+legend-3), image.NewUniform(k.RGBA), image.Point{}, draw.Src)
		text := font.Drawer{Dst: m, Src: image.White, Face: basicfont.Face7x13, Dot: fixed.P(26, y+legend-5)}
		text.DrawString(k.text)
	}
	return m
}

// ground lets the guide show.
var ground = color.RGBA{}

func holes(d *Dissection) image.Image {
	first, second, both := hues[0].RGBA, hues[1].RGBA, hues[4].RGBA
	return paint(d, []key{{first, "not reached from the first frame"}, {second, "not reached from the second"}, {both, "reached from neither"}},
		func(x, y int) color.RGBA {
			a, b := d.Holes[0].Row(y)[x] != 0, d.Holes[1].Row(y)[x] != 0
			switch {
			case a && b:
				return both
			case a:
				return first
			case b:
				return second
			}
			return ground
		})
}

func visibility(d *Dissection) image.Image {
	first, second, neither := hues[0].RGBA, hues[1].RGBA, hues[4].RGBA
	return paint(d, []key{{color.RGBA{60, 60, 60, 255}, "seen in both (no colour)"}, {first, "in the first frame only"}, {second, "in the second only"}, {neither, "in neither: inpainted"}},
		func(x, y int) color.RGBA {
			i, _, _ := winner(d.Inspection.Guesses, x, y)
			switch d.Inspection.Guesses[i].Visible(x, y, d.Phase) {
			case warp.SeenInFirst:
				return first
			case warp.SeenInSecond:
				return second
			case warp.SeenInNeither:
				return neither
			}
			return ground
		})
}

func winners(d *Dissection) image.Image {
	var keys []key
	for i, g := range d.Inspection.Guesses {
		keys = append(keys, key{hues[hue(d, i)].RGBA, g.Name})
	}
	return paint(d, keys, func(x, y int) color.RGBA {
		i, _, _ := winner(d.Inspection.Guesses, x, y)
		c := keys[i].RGBA
		c.A = 200
		return c
	})
}

// winner returns the hypothesis with the largest share at a pixel, that share and the
// sum of all shares.
func winner(guesses []warp.Guess, x, y int) (index int, share, all uint32) {
	for i := range guesses {
		w := uint32(guesses[i].Share.Row(y)[x])
		all += w
		if w > share {
			index, share = i, w
		}
	}
	return index, share, all
}

// costWhite is the error, in grey levels, that costs draws white.
const costWhite = 32

func costs(guesses []warp.Guess) image.Image {
	m := frame.NewImage[uint8](guesses[0].Cost.Width, guesses[0].Cost.Height)
	for y := range m.Height {
		row := m.Row(y)
		for x := range row {
			least := guesses[0].Cost.Row(y)[x]
			for i := range guesses {
				least = min(least, guesses[i].Cost.Row(y)[x])
			}
			row[x] = uint8(min(int(least)*255/(costWhite*16), 255))
		}
	}
	return gray(m)
}

func shares(guesses []warp.Guess) image.Image {
	m := frame.NewImage[uint8](guesses[0].Cost.Width, guesses[0].Cost.Height)
	for y := range m.Height {
		row := m.Row(y)
		for x := range row {
			_, share, all := winner(guesses, x, y)
			n := uint32(len(guesses))
			if all > 0 && n > 1 {
				row[x] = uint8(255 * (n*share - all) / ((n - 1) * all))
			}
		}
	}
	return gray(m)
}

// hypothesisShares computes the means over the grid for each hypothesis.
func hypothesisShares(d *Dissection) []hypothesisNumbers {
	guesses := d.Inspection.Guesses
	list := make([]hypothesisNumbers, len(guesses))
	w, h := d.Confidence.Width, d.Confidence.Height
	for y := range h {
		for x := range w {
			i, _, all := winner(guesses, x, y)
			list[i].Wins++
			for k := range guesses {
				list[k].Cost += float64(guesses[k].Cost.Row(y)[x]) / 16
				list[k].Share += float64(guesses[k].Share.Row(y)[x]) / float64(max(all, 1))
			}
		}
	}
	n := float64(w * h)
	for k := range list {
		l := &list[k]
		l.Name, l.Color = guesses[k].Name, hues[hue(d, k)].name
		l.Wins, l.Share, l.Cost = rounded(100*l.Wins/n), rounded(100*l.Share/n), rounded(l.Cost/n)
	}
	return list
}

func rounded(v float64) float64 { return math.Round(v*1e4) / 1e4 }
