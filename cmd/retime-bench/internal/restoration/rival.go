package restoration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// rival returns the PSNR of the frames that minterpolate makes in place of the spoilt frames.
// further holds options of minterpolate; work is a directory for its output.
func (d *damaged) rival(ctx context.Context, further, work string) (db []float64, err error) {
	cache := d.name + ".minterpolate" + further + ".json"
	if data, err := os.ReadFile(cache); err == nil && json.Unmarshal(data, &db) == nil {
		return db, nil
	}
	made := filepath.Join(work, "rival.nut")
	defer os.Remove(made)
	var not []string
	for _, n := range d.bad {
		not = append(not, fmt.Sprintf("eq(n,%d)", n))
	}
	if err := ffmpeg(ctx, "-i", d.name, "-an", "-vf", fmt.Sprintf("settb=1/(%s),setpts=N,select='not(%s)',minterpolate=fps=%s%s", d.rate, strings.Join(not, "+"), d.rate, further),
		"-fps_mode", "passthrough", "-c:v", "rawvideo", "-pix_fmt", d.truth[d.bad[0]].Format.Name, made); err != nil {
		return nil, err
	}
	if db, err = d.qualityOf(ctx, made); err != nil {
		return nil, fmt.Errorf("minterpolate: %w", err)
	}
	data, err := json.Marshal(db)
	if err != nil {
		return nil, err
	}
	return db, os.WriteFile(cache, data, 0o666)
}

// qualityOf returns the PSNR of a file's frames at the times of the spoilt frames.
func (d *damaged) qualityOf(ctx context.Context, name string) (db []float64, err error) {
	rate, _ := new(big.Rat).SetString(d.rate)
	r, err := media.Open(ctx, name, media.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for n := 0; len(db) < len(d.bad); n++ {
		f, err := r.Read()
		if err != nil {
			return nil, fmt.Errorf("frame %d of %v: %w", n, d.bad, err)
		}
		at := new(big.Rat).Mul(r.Video().TimeBase, big.NewRat(f.PTS, 1))
		at.Sub(at, r.Video().Start)
		number, _ := at.Mul(at, rate).Float64()
		if next := d.bad[len(db)]; math.Abs(number-float64(next)) < 0.25 {
			db = append(db, lumaPSNR(f, d.truth[next]))
		}
		f.Release()
	}
	return db, nil
}

func ffmpeg(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fault.New(fault.NoInput, "this study needs the ffmpeg program; make deps installs it")
	}
	if err != nil {
		return fmt.Errorf("ffmpeg %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
