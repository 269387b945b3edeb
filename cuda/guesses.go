package cuda

import (
	"errors"

	"retime/flow"
	"retime/warp"
)

// guesses are the motions that count at each pixel of the guides, shifted.
type guesses struct {
	kernel *Kernel

	motions Buffer[flow.Vec] // by guess, then pixel
	packed  Buffer[uint32]   // shares, and the other fields of Guess in guess.cuh
	counts  Buffer[uint8]    // of a pixel's guesses
}

func (g *guesses) open(s *Stream, _ *warp.Params) (err error) {
	g.kernel, err = s.device.Kernel("gather", "list_guesses")
	return err
}

func (g *guesses) free() {
	g.motions.Free()
	g.packed.Free()
	g.counts.Free()
}

// resize makes room, at each pixel, for all hypotheses and the still one.
func (g *guesses) resize(s *Stream, to *layout) error {
	pixels := to.guideWidth * to.guideHeight
	most := pixels * (len(hypotheses(to.flows, to.level)) + 1)
	return errors.Join(g.motions.Resize(s.device, most), g.packed.Resize(s.device, most), g.counts.Resize(s.device, pixels))
}

// args appends the arguments that pass the guesses to a kernel.
func (g *guesses) args(to []Arg) []Arg {
	return append(to, g.motions.Arg(), g.packed.Arg(), g.counts.Arg())
}

// guessBytes is the size in bytes of a guess.
const guessBytes = vectorBytes + 4

// rowBlock is a block of one thread for each pixel of part of a row. It gathers the pixels' motions
// or renders them.
var rowBlock = Dim{64, 1, 1}

// make queues the kernel that gathers and shifts the motions.
func (g *guesses) make(s *Stream, in *guides, p *projection, shares *shares) error {
	memory := rowBlock.X * (shares.n + 1) * guessBytes
	return s.Launch(g.kernel, Cover(in.width, in.height, rowBlock), rowBlock, memory, g.args([]Arg{
		p.motions.Arg(), shares.list.Arg(), Int(shares.n), Int(in.inner), shares.weights.Arg(), in.lying(), Int(in.width), Int(in.height), Int(in.level),
	})...)
}
