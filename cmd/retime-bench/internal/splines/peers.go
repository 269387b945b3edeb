package splines

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"retime/frame"
)

//go:embed peers.py
var peersProgram []byte

// Peers makes the rows of Rotate with SciPy's map_coordinates (orders 3 and 5) and OpenCV's remap
// (cubic), if the Python interpreter called python has them. Both get precomputed positions; SciPy
// uses one thread.
func Peers(ctx context.Context, python string, img frame.Image[float64]) ([]Rotation, error) {
	f, err := os.CreateTemp("", "retime-peers-*.f32")
	if err != nil {
		return nil, fmt.Errorf("picture for %s: %w", python, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	for y := range img.Height {
		row := make([]float32, img.Width)
		for x, v := range img.Row(y) {
			row[x] = float32(v)
		}
		if err := binary.Write(f, binary.LittleEndian, row); err != nil {
			return nil, fmt.Errorf("picture for %s: %w", python, err)
		}
	}
	cmd := exec.CommandContext(ctx, python, "-",
		strconv.Itoa(img.Width), strconv.Itoa(img.Height), strconv.Itoa(rim), f.Name())
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(peersProgram), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s with NumPy: %w: %s", python, err, lastLine(stderr.Bytes()))
	}
	var results []struct {
		Method  string
		Seconds float64
		PSNR    float64
	}
	if err := json.Unmarshal(stdout.Bytes(), &results); err != nil {
		return nil, fmt.Errorf("answer of %s: %w", python, err)
	}
	var rotations []Rotation
	for _, r := range results {
		rotations = append(rotations, Rotation{r.Method, time.Duration(r.Seconds * float64(time.Second)), r.PSNR})
	}
	return rotations, nil
}

// lastLine returns the last line of a traceback, which states the error.
func lastLine(b []byte) []byte {
	b = bytes.TrimSpace(b)
	return b[bytes.LastIndexByte(b, '\n')+1:]
}
