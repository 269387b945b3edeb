// Package scene draws a small moving picture whose content is known at every
// time: a textured ground that pans and two textured discs that cross it, one
// in front of the other. Tests compare made frames with it, and the demo clip
// is drawn from it.
package scene

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
)

// Picture is a YUV 4:2:0 picture of 8 bits, limited range, rows without gaps.
// Chroma planes round up.
type Picture struct {
	Width, Height int
	Y, U, V       []uint8
}

// Draw returns the scene at t seconds. Motion is linear in t and about a
// twentieth of the width per tenth of a second. It and what it calls share nothing: under the race
// detector, they would take six times as long.
//
//go:norace
func Draw(width, height int, t float64) Picture {
	cw, ch := (width+1)/2, (height+1)/2
	p := Picture{width, height, make([]uint8, width*height), make([]uint8, cw*ch), make([]uint8, cw*ch)}
	for y := range height {
		for x := range width {
			p.Y[y*width+x] = lumaAt(height, float64(x), float64(y), t)
		}
	}
	for y := range ch {
		for x := range cw {
			p.U[y*cw+x], p.V[y*cw+x] = chromaAt(height, 2*float64(x)+0.5, 2*float64(y)+0.5, t)
		}
	}
	return p
}

// disc is a moving disc; positions and speeds are in heights and heights per
// second, the radius in heights.
type disc struct {
	x, y, vx, vy, r float64
	u, v            uint8
	seed            int
}

var discs = []disc{
	{0.35, 0.6, 0.35, -0.08, 0.22, 100, 170, 7},
	{1.35, 0.4, -0.25, 0.06, 0.16, 160, 100, 19},
}

// at returns the disc that covers a place, -1 for none, and the place as it lies in it or in the ground.
//
//go:norace
func at(height int, px, py, t float64) (disc int, x, y float64) {
	h := float64(height)
	x, y = px/h, py/h
	for i := range discs {
		d := &discs[i]
		dx, dy := x-d.x-d.vx*t, y-d.y-d.vy*t
		if dx*dx+dy*dy < d.r*d.r {
			return i, dx, dy
		}
	}
	return -1, x + 0.12*t, y + 0.02*t
}

//go:norace
func lumaAt(height int, px, py, t float64) uint8 {
	i, x, y := at(height, px, py, t)
	if i < 0 {
		return level(texture(x*9, y*9, 1))
	}
	return level(texture(x*14, y*14, discs[i].seed))
}

//go:norace
func chromaAt(height int, px, py, t float64) (u, v uint8) {
	i, x, y := at(height, px, py, t)
	if i < 0 {
		return uint8(128 + 20*math.Sin(3*x)), uint8(128 + 20*math.Cos(2*y))
	}
	return discs[i].u, discs[i].v
}

func level(x float64) uint8 { return uint8(16 + 219*min(max(x, 0), 1)) }

// texture is value noise of three octaves, in [0, 1].
//
//go:norace
func texture(x, y float64, seed int) float64 {
	return 0.5*noise(x, y, seed) + 0.3*noise(2.1*x, 2.1*y, seed+1) + 0.2*noise(4.3*x, 4.3*y, seed+2)
}

//go:norace
func noise(x, y float64, seed int) float64 {
	x0, y0 := math.Floor(x), math.Floor(y)
	fx, fy := fade(x-x0), fade(y-y0)
	i, j := int(x0), int(y0)
	top := lattice(i, j, seed)*(1-fx) + lattice(i+1, j, seed)*fx
	bottom := lattice(i, j+1, seed)*(1-fx) + lattice(i+1, j+1, seed)*fx
	return top*(1-fy) + bottom*fy
}

func fade(t float64) float64 { return t * t * (3 - 2*t) }

// lattice hashes a point to [0, 1).
func lattice(i, j, seed int) float64 {
	h := uint32(i)*0x9e3779b1 ^ uint32(j)*0x85ebca6b ^ uint32(seed)*0xc2b2ae35
	h ^= h >> 15
	h *= 0x2c1b3c6d
	h ^= h >> 12
	h *= 0x297a2d39
	h ^= h >> 15
	return float64(h) / (1 << 32)
}

// WriteY4M writes the first frames pictures of the scene as YUV4MPEG2 at num/den a second.
func WriteY4M(w io.Writer, width, height, frames, num, den int) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "YUV4MPEG2 W%d H%d F%d:%d Ip A1:1 C420jpeg\n", width, height, num, den)
	for k := range frames {
		p := Draw(width, height, float64(k)*float64(den)/float64(num))
		fmt.Fprint(b, "FRAME\n")
		for _, plane := range [][]uint8{p.Y, p.U, p.V} {
			if _, err := b.Write(plane); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// CreateY4M writes what WriteY4M writes to a new file.
func CreateY4M(name string, width, height, frames, num, den int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return WriteY4M(f, width, height, frames, num, den)
}

// CreateCutY4M writes a YUV4MPEG2 file at 24 frames a second with a scene cut in the middle.
func CreateCutY4M(name string, width, height, frames int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(f, "YUV4MPEG2 W%d H%d F24:1 Ip A1:1 C420jpeg\n", width, height)
	for k := range frames {
		t := float64(k) / 24
		if k >= frames/2 {
			t += 100 // far enough that the ground shows other texture
		}
		p := Draw(width, height, t)
		if _, err := fmt.Fprintf(f, "FRAME\n%s%s%s", p.Y, p.U, p.V); err != nil {
			return err
		}
	}
	return f.Close()
}

// BallAt returns the centre and the radius, in pixels, of the ball of DrawBall at t seconds.
func BallAt(height int, t float64) (x, y, r float64) {
	h := float64(height)
	return (0.55 + 2.4*t) * h, (-0.1 + 5*t) * h, 0.09 * h
}

// DrawBall returns the scene at t seconds with a white ball that falls across it, by more than its
// own diameter in a frame at 24 a second.
func DrawBall(width, height int, t float64) Picture {
	p := Draw(width, height, t)
	bx, by, r := BallAt(height, t)
	white := func(px, py float64) (share, shade float64) {
		dx, dy := px-bx, py-by
		shade = 225 - 40*texture(dx/r*2, dy/r*2, 3) - 30*max(dx+dy, 0)/r
		return min(max(r-math.Hypot(dx, dy)+0.5, 0), 1), shade
	}
	mix := func(v *uint8, share, to float64) { *v = uint8(float64(*v) + share*(to-float64(*v)) + 0.5) }
	for y := range height {
		for x := range width {
			share, shade := white(float64(x)+0.5, float64(y)+0.5)
			mix(&p.Y[y*width+x], share, shade)
		}
	}
	cw := (width + 1) / 2
	for i := range p.U {
		share, _ := white(2*float64(i%cw)+1, 2*float64(i/cw)+1)
		mix(&p.U[i], share, 128)
		mix(&p.V[i], share, 128)
	}
	return p
}

// CreateBallMatte writes to a new file where frames of DrawBall show the ball, white on black, at 24 a second.
func CreateBallMatte(name string, width, height, frames int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	b := bufio.NewWriter(f)
	fmt.Fprintf(b, "YUV4MPEG2 W%d H%d F24:1 Ip A1:1 Cmono\n", width, height)
	for k := range frames {
		x, y, r := BallAt(height, float64(k)/24)
		fmt.Fprint(b, "FRAME\n")
		for j := range height {
			for i := range width {
				d := r - math.Hypot(float64(i)+0.5-x, float64(j)+0.5-y) + 0.5
				if err := b.WriteByte(uint8(255*min(max(d, 0), 1) + 0.5)); err != nil {
					return err
				}
			}
		}
	}
	return b.Flush()
}

// CreateBallY4M writes frames of DrawBall to a new file, at 24 a second.
func CreateBallY4M(name string, width, height, frames int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(f, "YUV4MPEG2 W%d H%d F24:1 Ip A1:1 C420jpeg\n", width, height)
	for k := range frames {
		p := DrawBall(width, height, float64(k)/24)
		if _, err := fmt.Fprintf(f, "FRAME\n%s%s%s", p.Y, p.U, p.V); err != nil {
			return err
		}
	}
	return f.Close()
}
