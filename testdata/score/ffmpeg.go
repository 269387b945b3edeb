package main

import (
	"bytes"
	"fmt"
	"math/big"
	"os/exec"
	"strings"
	"time"
)

// ffmpeg runs ffmpeg quietly: it prints errors only.
func ffmpeg(args ...string) (effort, error) {
	return timed(exec.Command("ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...))
}

// timed runs a command. If it fails, what it printed becomes the error.
func timed(cmd *exec.Cmd) (effort, error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return effort{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said.Bytes())
	}
	return effort{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// probe returns the lines that ffprobe prints about a file's first video stream.
func probe(name string, args ...string) ([]string, error) {
	args = append([]string{"-v", "error", "-select_streams", "v:0", "-of", "default=nokey=1:noprint_wrappers=1"}, append(args, name)...)
	out, err := exec.Command("ffprobe", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("ffprobe %s: %w", name, err)
	}
	return strings.Fields(string(out)), nil
}

// rates are the usual frame rates. A measured rate within half a percent of one counts as it.
var rates = []*big.Rat{
	big.NewRat(24000, 1001), big.NewRat(24, 1), big.NewRat(25, 1), big.NewRat(30000, 1001), big.NewRat(30, 1),
	big.NewRat(50, 1), big.NewRat(60000, 1001), big.NewRat(60, 1),
}

// nearestRate returns the usual frame rate nearest to a measured one, or the measured one.
func nearestRate(text string) (*big.Rat, error) {
	measured, ok := new(big.Rat).SetString(text)
	if !ok || measured.Sign() <= 0 {
		return nil, fmt.Errorf("frame rate %q", text)
	}
	best := measured
	nearest := new(big.Rat).Mul(measured, big.NewRat(1, 200))
	for _, r := range rates {
		if off := new(big.Rat).Sub(r, measured); off.Abs(off).Cmp(nearest) <= 0 {
			best, nearest = r, off
		}
	}
	return best, nil
}
