// Package warp makes a frame between two others along the optical flow that joins them.
//
// A [Splatter] moves pixels, or the flow vectors that they carry, forward to the time
// of the new frame and marks the pixels at which none arrived; a [FlowFiller] closes
// those holes in a flow. Positions and flow are integers of 1/256 pixel and weights are
// integers, too, so sums are exact, and no result depends on the order of the
// additions, the machine or the number of workers.
package warp
