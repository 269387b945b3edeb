package segment

import (
	"context"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/testdata/scene"
)

// small returns a plan of two ranges for a clip of a few tiny pictures, with a mask.
func small(t testing.TB) *Plan {
	t.Helper()
	input := filepath.Join(t.TempDir(), "clip.y4m")
	if err := scene.CreateY4M(input, 16, 16, 8, 25, 1); err != nil {
		t.Fatal(err)
	}
	o := options(input)
	o.Output.VideoCodec, o.Compute.Threads = "ffv1", 1
	o.Synthesis.StaticMask = frame.Image[uint8]{Width: 16, Height: 16, Stride: 16, Pix: make([]byte, 16*16)}
	p, err := New(context.Background(), o, Options{Length: big.NewRat(4, 25), Even: true, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Ranges) != 2 {
		t.Fatalf("%d ranges", len(p.Ranges))
	}
	return p
}

// A plan that is read, whatever it says of times, frames and methods, is made or refused.
// Input and output are those of a good plan: encoder options may name files to write.
func FuzzMake(f *testing.F) {
	good := small(f)
	f.Add([]byte(text(f, good)))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePlan(b)
		if err != nil {
			return
		}
		mask := p.Settings.Synthesis.StaticMask
		if mask.Width > 64 || mask.Height > 64 {
			return // the picture's size is checked before the samples are
		}
		p.Input, p.Settings.Output = good.Input, good.Settings.Output
		p.Settings.Input = good.Settings.Input
		p.Whole.Parameters = good.Whole.Parameters
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		made := 0
		for i := range min(len(p.Ranges), 2) {
			o := p.apply(pipeline.Options{Compute: pipeline.Compute{Threads: 1, Backend: pipeline.CPU}})
			o.Hooks.Digest = func(int64, pipeline.Digest) {
				if made++; made > 40 {
					cancel()
				}
			}
			_, err := runPart(ctx, o, &p.Whole, p.Ranges[i], nil)
			if err != nil && fault.KindOf(err) == fault.Internal {
				t.Errorf("range %d: %v", i, err)
			}
		}
	})
}

// A manifest that is taken for good describes frames and packets that are there.
func FuzzManifest(f *testing.F) {
	p := full(f)
	dir := f.TempDir()
	m := Manifest{Plan: p.ID(), Index: 0, First: 0, Frames: 9, Bytes: 3, SHA256: strings.Repeat("ab", 32), Digests: make([]Hash, 9)}
	m.Digest, m.File = Sum(m.Digests), packetsName(0, m.SHA256)
	if err := os.WriteFile(filepath.Join(dir, m.File), []byte("abc"), 0o666); err != nil {
		f.Fatal(err)
	}
	good, err := json.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(strings.Replace(string(good), `"frames":9`, `"frames":-9`, 1)))
	f.Add([]byte(strings.Replace(string(good), m.File, "../../etc/passwd", 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(manifestName(dir, 0), b, 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := p.check(dir, 0, false)
		if err == nil && (got.Frames != 9 || len(got.Digests) != 9 || filepath.Base(got.File) != got.File) {
			t.Errorf("%+v", got)
		}
	})
}
