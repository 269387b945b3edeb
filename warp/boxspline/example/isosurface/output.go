package main

import (
	"bufio"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
)

// writeOBJ writes the mesh in the Wavefront OBJ format.
func writeOBJ(w io.Writer, m mesh) error {
	b := bufio.NewWriter(w)
	for _, v := range m.vertices {
		fmt.Fprintf(b, "v %.6g %.6g %.6g\n", v[0], v[1], v[2])
	}
	for _, t := range m.triangles {
		fmt.Fprintf(b, "f %d %d %d\n", t[0]+1, t[1]+1, t[2]+1)
	}
	return b.Flush()
}

// render draws the mesh in a square of size pixels, seen from a corner and lit from the eye.
func render(m mesh, size int) image.Image {
	out := image.NewRGBA(image.Rect(0, 0, size, size))
	for i := range out.Pix {
		out.Pix[i] = 255
	}
	// The rows are the picture's directions right, down and away.
	s2, s3, s6 := math.Sqrt(2), math.Sqrt(3), math.Sqrt(6)
	view := [3]vec{{1 / s2, -1 / s2, 0}, {1 / s6, 1 / s6, -2 / s6}, {-1 / s3, -1 / s3, -1 / s3}}
	turned := make([]vec, len(m.vertices))
	low, high := vec{math.Inf(1), math.Inf(1), math.Inf(1)}, vec{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for i, v := range m.vertices {
		for k, r := range view {
			turned[i][k] = r[0]*v[0] + r[1]*v[1] + r[2]*v[2]
			low[k], high[k] = min(low[k], turned[i][k]), max(high[k], turned[i][k])
		}
	}
	scale := 0.9 * float64(size) / max(high[0]-low[0], high[1]-low[1], 1e-9)
	for i := range turned {
		for k := range 2 {
			turned[i][k] = (turned[i][k]-(low[k]+high[k])/2)*scale + float64(size)/2
		}
		turned[i][2] *= scale
	}
	depth := make([]float64, size*size)
	for i := range depth {
		depth[i] = math.Inf(1)
	}
	for _, t := range m.triangles {
		fill(out, depth, size, turned[t[0]], turned[t[1]], turned[t[2]])
	}
	return out
}

// fill draws a triangle in front of what is further away.
func fill(out *image.RGBA, depth []float64, size int, a, b, c vec) {
	n := b.sub(a).cross(c.sub(a))
	length := math.Sqrt(n[0]*n[0] + n[1]*n[1] + n[2]*n[2])
	if n[2] == 0 || length == 0 {
		return
	}
	light := uint8(40 + 200*math.Abs(n[2])/length)
	x0, x1 := int(math.Ceil(min(a[0], b[0], c[0]))), int(math.Floor(max(a[0], b[0], c[0])))
	y0, y1 := int(math.Ceil(min(a[1], b[1], c[1]))), int(math.Floor(max(a[1], b[1], c[1])))
	for y := max(y0, 0); y <= min(y1, size-1); y++ {
		for x := max(x0, 0); x <= min(x1, size-1); x++ {
			p := vec{float64(x), float64(y)}
			u := ((b[0]-p[0])*(c[1]-p[1]) - (b[1]-p[1])*(c[0]-p[0])) / n[2]
			v := ((c[0]-p[0])*(a[1]-p[1]) - (c[1]-p[1])*(a[0]-p[0])) / n[2]
			if w := 1 - u - v; u < 0 || v < 0 || w < 0 {
				continue
			} else if z := u*a[2] + v*b[2] + w*c[2]; z < depth[y*size+x] {
				depth[y*size+x] = z
				out.SetRGBA(x, y, color.RGBA{light, light, uint8(60 + int(light)*3/4), 255})
			}
		}
	}
}
