// Package motion tells how the picture moves between two source frames: it estimates
// optical flow on guides, keeps flow in a cache, and measures how much of a picture the
// flow explains, by which scene cuts are found.
package motion

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// Guide is the picture that the motion of a frame is known on: its luma in 8 bits, halved
// so many times. The motion is estimated on the guide itself, or on the finer picture that
// was halved last. Each is computed at its first use, which may come from any goroutine
// that holds the frame.
type Guide struct {
	picture, searched func() frame.Image[uint8] // searched is what flow is estimated on
	digest            func() pictureDigest      // of what is searched
	number            int64                     // of the picture in its clip, from 0; unnumbered for none
	source            *frame.Frame
	scale             Scale
	// These stand for the picture, and for a finer one, where a device makes them.
	absent, absentFiner frame.Image[uint8]
}

const unnumbered = -1

type pictureDigest [sha256.Size]byte

// NewGuide returns the guide of f at a scale.
func NewGuide(f *frame.Frame, s Scale) Guide {
	s.Finer = s.Finer && s.Level > 0
	searched := s.Level
	if s.Finer {
		searched--
	}
	g := GuideOf(func() frame.Image[uint8] {
		m := warp.Luma(f)
		for range searched {
			m = warp.Halve(m)
		}
		return m
	})
	absent := func(level int) frame.Image[uint8] {
		up := 1<<level - 1
		return frame.Absent[uint8]((f.Width+up)>>level, (f.Height+up)>>level)
	}
	g.source, g.scale, g.absent = f, s, absent(s.Level)
	if s.Finer {
		finer := g.searched
		g.picture = sync.OnceValue(func() frame.Image[uint8] { return warp.Halve(finer()) })
		g.absentFiner = absent(searched)
	}
	return g
}

// GuideOf returns a guide that picture computes, and on which flow is estimated.
func GuideOf(picture func() frame.Image[uint8]) Guide {
	picture = sync.OnceValue(picture)
	return Guide{
		picture:  picture,
		searched: picture,
		digest:   sync.OnceValue(func() pictureDigest { return digestOf(picture()) }),
		number:   unnumbered,
	}
}

// Numbered returns g as the guide of its clip's picture n, from 0, by which files of flow
// are found.
func (g Guide) Numbered(n int64) Guide {
	g.number = n
	return g
}

// Source returns the frame that NewGuide made g of, and the scale; or nil if another
// function made g.
func (g Guide) Source() (f *frame.Frame, s Scale) { return g.source, g.scale }

// OnDevice returns the guide for a device, which makes it from its source if there is one:
// then it is frame.Absent. All copies of a guide return the same image.
func (g Guide) OnDevice() frame.Image[uint8] {
	if g.source == nil {
		return g.picture()
	}
	return g.absent
}

// FinerOnDevice is OnDevice for the finer picture that flow is estimated on; it is empty if
// flow is estimated on the guide.
func (g Guide) FinerOnDevice() frame.Image[uint8] { return g.absentFiner }

// fit halves flow that was estimated on a finer picture than the guide.
func (g Guide) fit(f *flow.Field) {
	if g.scale.Finer {
		*f = flow.Halve(*f)
	}
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
