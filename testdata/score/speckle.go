package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
)

// A pixel of a made frame is speckle if it differs from the median of its 3x3 block by more than
// speckleMade grey levels, and the same pixel of the true frame by less than speckleTrue. PSNR
// hardly sees such pixels; an eye does.
const (
	speckleMade   = 12
	speckleTrue   = 4
	speckleFrames = 41
)

// speckle prints the share of speckle in the odd frames of files, in parts per million of the
// luma's pixels. It compares frames with those of truth by their order.
func speckle(truth string, made []string) error {
	reference, width, err := deviations(truth)
	if err != nil {
		return err
	}
	for _, name := range made {
		got, w, err := deviations(name)
		if err != nil {
			return err
		}
		n, bad, pixels := min(len(got), len(reference)), 0, 0
		if n == 0 || w != width || len(got[0]) != len(reference[0]) {
			return fmt.Errorf("%s: no frames of the size of %s", name, truth)
		}
		for i, frame := range got[:n] {
			for k, d := range frame {
				if d > speckleMade && reference[i][k] < speckleTrue {
					bad++
				}
			}
			pixels += len(frame)
		}
		fmt.Printf("%s: %.0f ppm over %d frames\n", name, 1e6*float64(bad)/float64(pixels), n)
	}
	return nil
}

// deviations returns, for each odd frame of a file, how far its pixels are from the median of their
// 3x3 blocks, without the outermost rows and columns.
func deviations(name string) (odd [][]uint8, width int, err error) {
	shown, err := probe(name, "-show_entries", "stream=width,height")
	if err != nil {
		return nil, 0, err
	}
	if len(shown) != 2 {
		return nil, 0, fmt.Errorf("%s: no video stream", name)
	}
	width, _ = strconv.Atoi(shown[0])
	height, _ := strconv.Atoi(shown[1])
	cmd := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-i", name, "-map", "0:v:0", "-frames:v", strconv.Itoa(speckleFrames),
		"-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	picture := make([]uint8, width*height)
	for i := 0; ; i++ {
		if _, err = io.ReadFull(pipe, picture); err != nil {
			break
		}
		if i%2 == 1 {
			odd = append(odd, deviation(picture, width, height))
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	return odd, width, cmd.Wait()
}

// deviation returns how far the inner pixels are from the median of their 3x3 blocks.
func deviation(p []uint8, width, height int) []uint8 {
	var out []uint8
	for y := 1; y < height-1; y++ {
		for x := 1; x < width-1; x++ {
			at := y*width + x
			around := [9]uint8{p[at-width-1], p[at-width], p[at-width+1], p[at-1], p[at], p[at+1], p[at+width-1], p[at+width], p[at+width+1]}
			slices.Sort(around[:])
			out = append(out, max(p[at], around[4])-min(p[at], around[4]))
		}
	}
	return out
}
