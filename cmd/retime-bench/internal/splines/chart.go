package splines

import (
	"fmt"
	"math"
	"strings"
)

// chart is a line chart, drawn as SVG.
type chart struct {
	title, xLabel, yLabel string
	x0, x1, y0, y1        float64
	xTicks, yTicks        []float64
	tick                  func(float64) string // nil for %g
	series                []series
}

type series struct {
	name   string
	dashed bool
	dots   bool
	points [][2]float64
}

const (
	width, height            = 640, 400
	left, right, top, bottom = 70, 150, 36, 52
)

// palette is Paul Tol's bright palette, which colour-blind readers can tell apart.
var palette = []string{"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#555555"}

func (c chart) px(x float64) float64 {
	return left + (x-c.x0)/(c.x1-c.x0)*(width-left-right)
}

func (c chart) py(y float64) float64 {
	return height - bottom - (y-c.y0)/(c.y1-c.y0)*(height-top-bottom)
}

// svg returns the chart as SVG.
func (c chart) svg() string {
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`, width, height)
	f(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	f(`<text x="%d" y="20" font-size="14" font-weight="bold">%s</text>`, left, c.title)
	tick := c.tick
	if tick == nil {
		tick = func(v float64) string { return fmt.Sprintf("%g", v) }
	}
	for _, v := range c.xTicks {
		x := c.px(v)
		f(`<path d="M%.1f %dV%d" stroke="#dddddd"/>`, x, top, height-bottom)
		f(`<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, x, height-bottom+16, tick(v))
	}
	for _, v := range c.yTicks {
		y := c.py(v)
		f(`<path d="M%d %.1fH%d" stroke="#dddddd"/>`, left, y, width-right)
		f(`<text x="%d" y="%.1f" text-anchor="end" dominant-baseline="middle">%s</text>`, left-6, y, tick(v))
	}
	f(`<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888888"/>`,
		left, top, width-left-right, height-top-bottom)
	f(`<text x="%d" y="%d" text-anchor="middle">%s</text>`, (left+width-right)/2, height-14, c.xLabel)
	f(`<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>`, (top+height-bottom)/2, c.yLabel)
	f(`<clipPath id="p"><rect x="%d" y="%d" width="%d" height="%d"/></clipPath>`,
		left, top, width-left-right, height-top-bottom)
	for i, s := range c.series {
		colour := palette[i%len(palette)]
		dash := ""
		if s.dashed {
			dash = ` stroke-dasharray="5 3"`
		}
		f(`<path d="%s" fill="none" stroke="%s" stroke-width="1.8"%s clip-path="url(#p)"/>`, c.path(s.points), colour, dash)
		if s.dots {
			for _, p := range s.points {
				f(`<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, c.px(p[0]), c.py(p[1]), colour)
			}
		}
		y := top + 10 + 18*i
		f(`<path d="M%d %dh22" stroke="%s" stroke-width="1.8"%s/>`, width-right+10, y, colour, dash)
		f(`<text x="%d" y="%d" dominant-baseline="middle">%s</text>`, width-right+38, y, s.name)
	}
	f(`</svg>`)
	return b.String()
}

func (c chart) path(points [][2]float64) string {
	var b strings.Builder
	// Points far off the chart would only lengthen the file.
	margin := c.y1 - c.y0
	command := "M"
	for _, p := range points {
		y := min(max(p[1], c.y0-margin), c.y1+margin)
		fmt.Fprintf(&b, "%s%.1f %.1f", command, c.px(p[0]), c.py(y))
		command = "L"
	}
	return b.String()
}

// sample returns the graph of f at n+1 points of [a, b].
func sample(a, b float64, n int, f func(float64) float64) [][2]float64 {
	var points [][2]float64
	for i := range n + 1 {
		x := a + (b-a)*float64(i)/float64(n)
		points = append(points, [2]float64{x, f(x)})
	}
	return points
}

// ticks returns a, a+step, ... up to b.
func ticks(a, b, step float64) []float64 {
	var t []float64
	for i := range int(math.Round((b-a)/step)) + 1 {
		t = append(t, math.Round(1e6*(a+float64(i)*step))/1e6)
	}
	return t
}
