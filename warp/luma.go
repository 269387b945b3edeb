package warp

import (
	"encoding/binary"

	"retime/frame"
)

// Luma returns an 8-bit picture of f's brightness for optical flow: the luma plane
// itself if it has 8 bits, its upper 8 bits if it has more, and 0.299 R + 0.587 G +
// 0.114 B, in 8-bit fixed point, for RGB. Luma tone-maps HDR signals. The picture may
// share f's samples.
func Luma(f *frame.Frame) frame.Image[uint8] {
	if sharesLuma(f) {
		return frame.Samples[uint8](f.Planes[0])
	}
	out := frame.NewImage[uint8](f.Width, f.Height)
	tone := Tone(f)
	if f.Format.Depth == 8 {
		luma[uint8](f, out, tone)
	} else {
		luma[uint16](f, out, tone)
	}
	return out
}

// OwnLuma is Luma in memory of its own.
func OwnLuma(f *frame.Frame) frame.Image[uint8] {
	m := Luma(f)
	if sharesLuma(f) {
		return m.Clone()
	}
	return m
}

// sharesLuma reports whether the luma plane of f is its luma.
func sharesLuma(f *frame.Frame) bool {
	return !f.Format.RGB && f.Format.Depth == 8 && f.Transfer == frame.SDR
}

// Tone returns the 8-bit luma of each sample of f's luma, or nil if Luma drops bits.
func Tone(f *frame.Frame) []uint8 {
	if f.Transfer == frame.SDR {
		return nil
	}
	return toneTable(toneKey{f.Transfer, f.Format.Depth, f.FullRange || f.Format.RGB})
}

// luma fills out through the tone table or, if tone is nil, by dropping bits.
func luma[T frame.Sample](f *frame.Frame, out frame.Image[uint8], tone []uint8) {
	shift := f.Format.Depth - 8
	mask := T(f.Format.Max())
	first := frame.Samples[T](f.Planes[0])
	if !f.Format.RGB {
		for y := range out.Height {
			src, dst := first.Row(y), out.Row(y)
			if tone != nil {
				for x := range dst {
					dst[x] = tone[src[x]&mask]
				}
				continue
			}
			for x := range dst {
				dst[x] = uint8(src[x] >> shift)
			}
		}
		return
	}
	blue, red := frame.Samples[T](f.Planes[1]), frame.Samples[T](f.Planes[2])
	for y := range out.Height {
		g, b, r, dst := first.Row(y), blue.Row(y), red.Row(y), out.Row(y)
		for x := range dst {
			v := 77*uint32(r[x]) + 150*uint32(g[x]) + 29*uint32(b[x])
			if tone != nil {
				dst[x] = tone[T((v+128)>>8)&mask]
			} else {
				dst[x] = uint8(min((v>>shift+128)>>8, 255))
			}
		}
	}
}

// Halve returns the averages of blocks of two by two pixels. It averages an odd last
// row or column with itself.
func Halve(src frame.Image[uint8]) frame.Image[uint8] {
	out := frame.NewImage[uint8]((src.Width+1)/2, (src.Height+1)/2)
	for y := range out.Height {
		a, b := src.Row(2*y), src.Row(min(2*y+1, src.Height-1))
		dst := out.Row(y)
		whole := src.Width / 2
		loops.halve(dst[:whole], a, b)
		if whole < out.Width {
			dst[whole] = uint8((uint32(a[2*whole]) + uint32(b[2*whole]) + 1) >> 1)
		}
	}
	return out
}

// halveRow sets dst to the averages of blocks of two rows.
func halveRow(dst, a, b []uint8) {
	for x := halveWords(dst, a, b); x < len(dst); x++ {
		dst[x] = uint8((uint32(a[2*x]) + uint32(a[2*x+1]) + uint32(b[2*x]) + uint32(b[2*x+1]) + 2) >> 2)
	}
}

// halveWords averages the pixels in whole words of two rows, and returns the number of
// pixels of dst that it has written.
func halveWords(dst, a, b []uint8) int {
	const low = 0x00ff00ff00ff00ff // every second pixel, in 16 bits each
	n := 0
	for len(a) >= 8 && len(b) >= 8 && len(dst) >= 4 {
		u, v := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		s := (u&low + u>>8&low + v&low + v>>8&low + 2*(low/0xff)) >> 2 & low
		s = (s | s>>8) & 0x0000ffff0000ffff
		binary.LittleEndian.PutUint32(dst, uint32(s|s>>16))
		a, b, dst, n = a[8:], b[8:], dst[4:], n+4
	}
	return n
}
