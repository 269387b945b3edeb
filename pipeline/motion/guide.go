// Package motion tells how the picture moves between two source frames: it estimates
// optical flow on guides, keeps flow in a cache, and measures how much of a picture the
// flow explains, by which scene cuts are found.
package motion

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"retime/frame"
	"retime/warp"
)

// Guide is the picture that the motion of a frame is estimated on: its luma in 8 bits,
// halved so many times. It is computed at its first use, which may come from any
// goroutine that holds the frame.
type Guide struct {
	picture func() frame.Image[uint8]
	digest  func() pictureDigest
	number  int64 // of the picture in its clip, from 0; unnumbered for none
	source  *frame.Frame
	level   int
	absent  frame.Image[uint8] // stands for the picture where a device makes it
}

const unnumbered = -1

type pictureDigest [sha256.Size]byte

// NewGuide returns the guide of f, halved level times.
func NewGuide(f *frame.Frame, level int) Guide {
	g := GuideOf(func() frame.Image[uint8] {
		m := warp.Luma(f)
		for range level {
			m = warp.Halve(m)
		}
		return m
	})
	up := 1<<level - 1
	g.source, g.level, g.absent = f, level, frame.Absent[uint8]((f.Width+up)>>level, (f.Height+up)>>level)
	return g
}

// GuideOf returns a guide that picture computes.
func GuideOf(picture func() frame.Image[uint8]) Guide {
	picture = sync.OnceValue(picture)
	return Guide{
		picture: picture,
		digest:  sync.OnceValue(func() pictureDigest { return digestOf(picture()) }),
		number:  unnumbered,
	}
}

// Numbered returns g as the guide of its clip's picture n, from 0, by which files of flow
// are found.
func (g Guide) Numbered(n int64) Guide {
	g.number = n
	return g
}

// Source returns the frame that NewGuide made g of, and how often it is halved; or nil if
// another function made g.
func (g Guide) Source() (f *frame.Frame, level int) { return g.source, g.level }

// OnDevice returns the guide for a device, which makes it from its source if there is one:
// then it is frame.Absent. All copies of a guide return the same image.
func (g Guide) OnDevice() frame.Image[uint8] {
	if g.source == nil {
		return g.picture()
	}
	return g.absent
}

// Picture returns the guide's samples, which may be the frame's own.
func (g Guide) Picture() frame.Image[uint8] { return g.picture() }

// digestOf returns the hash of a picture's size and samples.
func digestOf(m frame.Image[uint8]) pictureDigest {
	h := sha256.New()
	var size [16]byte
	binary.LittleEndian.PutUint64(size[:], uint64(m.Width))
	binary.LittleEndian.PutUint64(size[8:], uint64(m.Height))
	h.Write(size[:])
	for y := range m.Height {
		h.Write(m.Row(y))
	}
	return pictureDigest(h.Sum(nil))
}
