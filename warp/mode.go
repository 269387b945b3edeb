package warp

// Mode is a method of making a frame between two others.
type Mode string

const (
	// Project splats the optical flow to the frame's time, samples both neighbours
	// backward along it and blends the samples.
	Project Mode = "project"
	// Splat splats the neighbours' colours forward and inpaints the pixels that none
	// reaches, as in Rosner et al., "Fast GPU-based image warping and inpainting for
	// frame interpolation", 2010.
	Splat Mode = "splat"
	// Blend cross-fades the neighbours.
	Blend Mode = "blend"
	// Nearest shows the nearer neighbour.
	Nearest Mode = "nearest"
)

// UsesFlow reports whether the mode needs optical flow.
func (m Mode) UsesFlow() bool { return m == Project || m == Splat }

// Phase is the time of a made frame between its neighbours, in units of
// 1/PhaseOne of their distance: 0 is the first, PhaseOne the second.
type Phase uint32

// PhaseOne is the phase of the second neighbour.
const PhaseOne = 1 << 16
