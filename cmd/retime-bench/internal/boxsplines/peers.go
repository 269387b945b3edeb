package boxsplines

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"strconv"
)

//go:embed peers.py
var peersProgram []byte

// Peers returns lines with the times of SciPy and OpenCV on one thread, at the positions of Ours
// and Speed. It leaves out what the Python interpreter lacks.
func Peers(ctx context.Context, python string, size, points, repeat int) (string, error) {
	cmd := exec.CommandContext(ctx, python, "-", strconv.Itoa(size), strconv.Itoa(points), strconv.Itoa(repeat))
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(peersProgram), &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s with NumPy: %w: %s", python, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), nil
}
