package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"retime/frame"
	"retime/warp"
)

// view is a picture as its motion is estimated on. What its functions return is
// computed at the first call, which may come from any goroutine that holds the frame.
type view struct {
	guide  func() frame.Image[uint8]
	half   func() frame.Image[uint8] // the guide, halved once more
	digest func() pictureDigest      // of the guide
}

type pictureDigest [sha256.Size]byte

func newView(guide func() frame.Image[uint8]) view {
	guide = sync.OnceValue(guide)
	return view{
		guide:  guide,
		half:   sync.OnceValue(func() frame.Image[uint8] { return warp.Halve(guide()) }),
		digest: sync.OnceValue(func() pictureDigest { return digestOf(guide()) }),
	}
}

// view returns that of f, without a picture where none is wanted.
func (c *conversion) view(f *frame.Frame) view {
	return newView(func() frame.Image[uint8] {
		if !c.o.Synthesis.Mode.UsesFlow() && c.o.Synthesis.Duplicates == KeepDuplicates {
			return frame.Image[uint8]{}
		}
		g := warp.Luma(f)
		for range c.level {
			g = warp.Halve(g)
		}
		return g
	})
}

// digestOf is that of a picture's size and samples.
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
