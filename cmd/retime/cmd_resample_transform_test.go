package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/cmd/internal/still"
	"retime/flow"
	"retime/frame"
	"retime/warp/bspline"
)

// TestResampleShift moves pictures by whole samples.
func TestResampleShift(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ppm"), filepath.Join(dir, "out.ppm")
	p := picture(t, in, 19, 14, 3, 65535)
	for _, order := range []string{"0", "1", "3", "5", "11", "catmull-rom"} {
		for _, b := range boundaries {
			mustResample(t, in, "-o", out, "-y", "--shift", "3,-2", "--order", order, "--boundary", b.String())
			compare(t, mustRead(t, out), 0, func(c, x, y int) float64 {
				return p.Channels[c].Row(b.Index(y+2, 14))[b.Index(x-3, 19)]
			})
		}
	}
	mustResample(t, in, "-o", out, "-y", "--shift", "3,-2", "--outside", "black", "--size", "25x10")
	compare(t, mustRead(t, out), 0, func(c, x, y int) float64 {
		if x-3 < 0 || x-3 >= 19 || y+2 >= 14 {
			return 0
		}
		return p.Channels[c].Row(y + 2)[x-3]
	})
}

// TestResampleDirections checks where each transform takes a ramp, which splines
// of order 1 reproduce.
func TestResampleDirections(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.npy"), filepath.Join(dir, "out.npy")
	const width, height = 40, 30
	ramp := &still.Picture{FloatBits: 64, Channels: []frame.Image[float64]{frame.NewImage[float64](width, height)}}
	value := func(x, y float64) float64 { return 3*x + 100*y }
	for y := range height {
		for x := range width {
			ramp.Channels[0].Row(y)[x] = value(float64(x), float64(y))
		}
	}
	o, err := still.NewOutput(in, "", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Write(ramp); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		from func(x, y float64) (float64, float64)
	}{
		{"--shift 2.5,-1.25", func(x, y float64) (float64, float64) { return x - 2.5, y + 1.25 }},
		{"--zoom 4 --center 10,20", func(x, y float64) (float64, float64) { return 10 + (x-10)/4, 20 + (y-20)/4 }},
		{"--zoom 4", func(x, y float64) (float64, float64) { return 19.5 + (x-19.5)/4, 14.5 + (y-14.5)/4 }},
		{"--zoom 2 --size 80x60", func(x, y float64) (float64, float64) { return (x - 0.5) / 2, (y - 0.5) / 2 }},
		{"--zoom 1/2 --size 20x15", func(x, y float64) (float64, float64) { return 2*x + 0.5, 2*y + 0.5 }},
		{"--shift -5,3 --zoom 8 --center 16,16", func(x, y float64) (float64, float64) { return 16 + (x-16)/8 + 5, 16 + (y-16)/8 - 3 }},
		{"--rotate 90 --size 30x40", func(x, y float64) (float64, float64) { return y, 29 - x }},
		{"--rotate 180 --center 20,10", func(x, y float64) (float64, float64) { return 40 - x, 20 - y }},
		{"--affine 2,0,1,0,3,2", func(x, y float64) (float64, float64) { return (x - 1) / 2, (y - 2) / 3 }},
		{"--affine 0,1,5,1,0,-4", func(x, y float64) (float64, float64) { return y + 4, x - 5 }},
		{"--homography 2,0,2,0,2,4,0,0,2", func(x, y float64) (float64, float64) { return x - 1, y - 2 }},
		{"--homography 1,0,0,0,1,0,0,0.01,1", func(x, y float64) (float64, float64) { return x / (1 - 0.01*y), y / (1 - 0.01*y) }},
	} {
		mustResample(t, append([]string{in, "-o", out, "-y", "--order", "1", "--outside", "black"}, strings.Fields(c.args)...)...)
		seen := 0
		got := mustRead(t, out)
		compare(t, got, 1e-6, func(_, x, y int) float64 {
			fx, fy := c.from(float64(x), float64(y))
			// Extended by half a sample the ramp is flat.
			if fx >= 0 && fx <= width-1 && fy >= 0 && fy <= height-1 {
				seen++
				return value(fx, fy)
			}
			return got.Channels[0].Row(y)[x]
		})
		if seen < 50 {
			t.Errorf("%s: only %d samples compared", c.args, seen)
		}
	}
}

// TestResampleTexture runs the examples of CUDA texture filtering: a sample at ((x-c)s
// + c + t) with the nearest neighbour, clamped, or black on one axis.
func TestResampleTexture(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.pgm"), filepath.Join(dir, "out.pgm")
	const n, c = 64, 32
	p := picture(t, in, n, n, 1, 255)
	for _, e := range []struct {
		args         string
		scale, shift float64
		black        bool
	}{
		{"--shift -13,-13 --zoom 8 --center 32,32", 1. / 8, 13, false},
		{"--zoom 1/2 --center 32,32 --boundary constant", 2, 0, false},
		{"--zoom 1/2 --center 32,32 --boundary constant --outside extend,black", 2, 0, true},
	} {
		mustResample(t, append([]string{in, "-o", out, "-y", "--order", "0"}, strings.Fields(e.args)...)...)
		compare(t, mustRead(t, out), 0, func(_, x, y int) float64 {
			at := func(i int) int { return int(math.Floor((float64(i)-c)*e.scale + c + e.shift + 0.5)) }
			i, j := at(x), at(y)
			if e.black && (j < 0 || j >= n) {
				return 0
			}
			return p.Channels[0].Row(min(max(j, 0), n-1))[min(max(i, 0), n-1)]
		})
	}
}

func TestResampleFlow(t *testing.T) {
	dir := t.TempDir()
	in, out, flo := filepath.Join(dir, "in.pgm"), filepath.Join(dir, "out.pgm"), filepath.Join(dir, "f.flo")
	p := picture(t, in, 12, 9, 1, 255)
	field := flow.NewField(10, 11)
	for i := range field.Pix {
		field.Pix[i] = flow.Vec{X: int32(i%3) * flow.One, Y: -int32(i%2) * flow.One}
	}
	field.Row(4)[7] = flow.Unknown
	var b bytes.Buffer
	if err := flow.WriteFlo(&b, field); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(flo, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, err := resample(in, "-o", out, "--flow", flo)
	if err != nil || !strings.Contains(stdout, "10x11, gray, 8 bit") {
		t.Fatalf("%s%v", stdout, err)
	}
	compare(t, mustRead(t, out), 0, func(_, x, y int) float64 {
		if v := field.Row(y)[x]; v.Known() {
			sx, sy := x+int(v.X)/flow.One, y+int(v.Y)/flow.One
			return p.Channels[0].Row(bspline.HalfSymmetric.Index(sy, 9))[bspline.HalfSymmetric.Index(sx, 12)]
		}
		return 0
	})
}
