// Package motion finds how the picture moves between two source frames: it estimates optical flow
// on guides, keeps flow in a cache, and measures how much of a picture the flow explains, from
// which scene cuts are detected.
package motion

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// Guide is the picture on which the motion of a frame is known: its luma in 8 bits, halved as often
// as Scale.Level says. The motion is estimated on the guide itself, or on the finer picture before
// the last halving. Each is computed when it is first used, by any goroutine that holds the frame.
type Guide struct {
	picture, searched func() frame.Image[uint8] // searched is the picture that flow is estimated on
	digest            func() pictureDigest      // of the searched picture
	number            int64                     // of the picture in its clip, from 0; or unnumbered
	source            *frame.Frame
	scale             Scale
	// These represent the guide and the finer picture where a device makes them.
	absent, absentFiner frame.Image[uint8]
}

const unnumbered = -1

type pictureDigest [sha256.Size]byte

// NewGuide returns the guide of f at scale s.
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

// GuideOf returns a guide that picture computes. Flow is estimated on the guide itself.
func GuideOf(picture func() frame.Image[uint8]) Guide {
	picture = sync.OnceValue(picture)
	return Guide{
		picture:  picture,
		searched: picture,
		digest:   sync.OnceValue(func() pictureDigest { return digestOf(picture()) }),
		number:   unnumbered,
	}
}

// Numbered returns g with the number of its picture in the clip, from 0, which files of flow are
// named after.
func (g Guide) Numbered(n int64) Guide {
	g.number = n
	return g
}

// Number returns the number of the picture in the clip, from 0; or -1 if it has none.
func (g Guide) Number() int64 { return g.number }

// Source returns the frame that NewGuide made g from, and the scale; or nil if another function
// made g.
func (g Guide) Source() (f *frame.Frame, s Scale) { return g.source, g.scale }

// OnDevice returns the guide for a device. If the guide has a source, its images are frame.Absent, and
// the device makes the samples. All copies of a guide return the same images.
func (g Guide) OnDevice() warp.Guide {
	d := warp.Guide{Image: g.absent, Finer: g.absentFiner, Frame: g.source, Level: g.scale.Level}
	if g.source == nil {
		d.Image = g.picture()
	}
	return d
}

// fit halves flow that was estimated on a picture finer than the guide.
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
