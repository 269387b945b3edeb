package segment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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

// values returns the places of the values in JSON, and of the names.
func values(t testing.TB, text []byte) (spans [][2]int) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		at := int(d.InputOffset())
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return spans
		} else if err != nil {
			t.Fatal(err)
		}
		if _, open := token.(json.Delim); !open {
			at += bytes.IndexFunc(text[at:], func(r rune) bool { return !strings.ContainsRune(",: \n", r) })
			spans = append(spans, [2]int{at, int(d.InputOffset())})
		}
	}
}

// A plan in which two values are replaced by others is made or refused. Input and output
// stay those of the good plan: encoder options may name files to write.
func FuzzMake(f *testing.F) {
	good := small(f)
	whole := []byte(text(f, good))
	spans := values(f, whole)
	for i := range spans {
		for _, v := range []string{"null", "0", "-1", `"-1"`, `"1/3"`, `"1000"`, "9223372036854775807", "1099511627776", `"NaN"`, "[]", "{}", `[{"frame":1,"method":"blend"}]`} {
			f.Add(uint8(i), v, uint8(0), string(whole[spans[0][0]:spans[0][1]]))
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, first string, j uint8, second string) {
		a, b := spans[int(i)%len(spans)], spans[int(j)%len(spans)]
		if a[0] > b[0] {
			a, b, first, second = b, a, second, first
		} else if a == b {
			b = [2]int{len(whole), len(whole)}
			second = ""
		}
		p, err := parsePlan([]byte(string(whole[:a[0]]) + first + string(whole[a[1]:b[0]]) + second + string(whole[b[1]:])))
		if err != nil {
			return
		}
		p.Input, p.Settings.Input, p.Settings.Output = good.Input, good.Settings.Input, good.Settings.Output
		p.Whole.Parameters = good.Whole.Parameters
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		made := 0
		for i := range min(len(p.Ranges), 2) {
			o := p.Conversion(pipeline.Options{Compute: pipeline.Compute{Threads: 1, Backend: pipeline.CPU}})
			o.Hooks.Digest = func(int64, pipeline.Digest) {
				if made++; made > 40 {
					cancel()
				}
			}
			_, err := runPart(ctx, o, &p.Whole, p.Ranges[i], discard{})
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
		got, err := p.check(dir, p.ID(), 0, false)
		if err == nil && (got.Frames != 9 || len(got.Digests) != 9 || filepath.Base(got.File) != got.File) {
			t.Errorf("%+v", got)
		}
	})
}
