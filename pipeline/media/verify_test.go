package media

import (
	"context"
	"errors"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/fault"
	"retime/pipeline/media/timebase"
	"retime/pipeline/media/verify"
	"retime/pipeline/timeline/curve"
)

// copyDemo encodes the demo clip again with its sound. tamper may change what the writer
// has recorded before it verifies the file.
func copyDemo(t *testing.T, demo, name string, tamper func(*Writer)) (string, error) {
	t.Helper()
	ctx := context.Background()
	source, err := Open(ctx, demo, ReaderOptions{To: big.NewRat(1, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	w, err := Create(ctx, name, source, WriterOptions{
		Encoder: EncoderOptions{CRF: 40, Options: map[string]string{"preset": "ultrafast"}},
		Rate:    big.NewRat(24, 1), StreamOptions: StreamOptions{Curve: curve.Constant(new(big.Rat), big.NewRat(1, 1)), End: big.NewRat(1, 1)}, Verify: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for range 24 {
		f, err := source.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		err = w.WriteFrame(f, nil, nil)
		f.Release()
		if err != nil {
			t.Fatal(err)
		}
	}
	tamper(w)
	return w.Finish(false)
}

// soundOf returns the record of the sound that was written.
func soundOf(t *testing.T, w *Writer) *verify.Record {
	t.Helper()
	for i, m := range w.muxer.records {
		if i != w.muxer.video.Index() {
			return m
		}
	}
	t.Fatal("no sound was written")
	return nil
}

func TestVerify(t *testing.T) {
	demo := filepath.Join(t.TempDir(), "demo.mkv")
	cmd := exec.Command("ffmpeg", "-v", "error", "-i", "../../testdata/demo.mp4", "-f", "lavfi", "-i", "sine=duration=2", "-t", "2", "-c:v", "copy", "-c:a", "aac", demo)
	if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the ffmpeg program; make deps installs it")
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, ext := range []string{"mp4", "mkv", "mov", "nut", "ts"} {
		for _, c := range []struct {
			want   string // part of the error; empty if there is none
			tamper func(*Writer)
		}{
			{"", func(*Writer) {}},
			{"frames were", func(w *Writer) { w.times.frames++ }},
			{"behind the first", func(w *Writer) { w.opt.Rate = big.NewRat(25, 1) }},
			{"behind the first, not", func(w *Writer) {
				w.muxer.records[w.muxer.video.Index()].PTS[5] += timebase.Ticks(big.NewRat(1, 500), w.muxer.video.TimeBase())
			}},
			{"packets, ", func(w *Writer) { soundOf(t, w).Packets++ }},
			{"begins", func(w *Writer) { soundOf(t, w).First = new(big.Rat).Add(soundOf(t, w).First, big.NewRat(3, 1000)) }},
			{"last packet", func(w *Writer) { soundOf(t, w).Last = new(big.Rat).Sub(soundOf(t, w).Last, big.NewRat(3, 1000)) }},
			{"", func(w *Writer) { w.opt.Rate, w.opt.Verify = big.NewRat(25, 1), false }},
		} {
			name := filepath.Join(t.TempDir(), "out."+ext)
			got, err := copyDemo(t, demo, name, c.tamper)
			if c.want == "" {
				if err != nil || got != name {
					t.Errorf("%s: %q, %v", ext, got, err)
				}
				continue
			}
			if fault.KindOf(err) != fault.Mismatch || !strings.Contains(err.Error(), c.want) || !strings.Contains(got, ".partial.") {
				t.Errorf("%s: %q, %v; want an error with %q", ext, got, err, c.want)
			}
			if _, err := os.Stat(got); err != nil {
				t.Errorf("%s: what was written is not kept: %v", ext, err)
			}
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%s: a file that failed its check has the output's name", ext)
			}
		}
	}
}
