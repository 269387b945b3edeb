package restoration

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math"
	"os/exec"

	"retime/frame"
	"retime/pipeline/media"
)

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// soundHash returns the hash of the sound's packets, or "" if there is no sound.
func soundHash(ctx context.Context, name string) string {
	out, err := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-i", name, "-map", "0:a", "-c", "copy", "-f", "streamhash", "-").Output()
	if err != nil {
		return "" // no such stream
	}
	return string(out)
}

// each calls use with every frame of a file.
func each(ctx context.Context, name string, use func(*frame.Frame) error) error {
	r, err := media.Open(ctx, name, media.ReaderOptions{})
	if err != nil {
		return err
	}
	defer r.Close()
	return frames(r, use)
}

// frames calls use with every remaining frame of r.
func frames(r *media.Reader, use func(*frame.Frame) error) error {
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		err = use(f)
		f.Release()
		if err != nil {
			return err
		}
	}
}

func hash(f *frame.Frame) [32]byte {
	h := sha256.New()
	for i, p := range f.Planes {
		w, n := f.Format.PlaneSize(i, f.Width, f.Height)
		for y := range n {
			h.Write(p.Pix[y*p.Stride:][:w*f.Format.Bytes()])
		}
	}
	return [32]byte(h.Sum(nil))
}

// lumaPSNR returns the PSNR of luma in dB.
func lumaPSNR(a, b *frame.Frame) float64 {
	if a.Format.Bytes() == 2 {
		return samplesPSNR[uint16](a, b)
	}
	return samplesPSNR[uint8](a, b)
}

func samplesPSNR[T frame.Sample](a, b *frame.Frame) float64 {
	p, q := frame.Samples[T](a.Planes[0]), frame.Samples[T](b.Planes[0])
	sum := 0.0
	for y := range p.Height {
		rp, rq := p.Row(y), q.Row(y)
		for x := range rp {
			d := float64(rp[x]) - float64(rq[x])
			sum += d * d
		}
	}
	peak := float64(a.Format.Max())
	return 10 * math.Log10(peak*peak*float64(p.Width*p.Height)/max(sum, 1))
}
