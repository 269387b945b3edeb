package pipeline_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/warp"
)

// bigEndianDPX returns a picture of FFmpeg's, of 10 or 16 bits in the little-endian order, as a scanner may write it: in the other
// order, with a header of 2060 bytes, a transfer, a time code, and a rate of 24.
func bigEndianDPX(t *testing.T, file []byte, word int, code uint32) []byte {
	t.Helper()
	if string(file[:4]) != "XPDS" {
		t.Fatalf("FFmpeg writes %q", file[:4])
	}
	samples := bytes.Clone(file[binary.LittleEndian.Uint32(file[4:]):])
	for at := 0; at+word <= len(samples); at += word {
		slices.Reverse(samples[at : at+word])
	}
	const length = 2060
	h := append(bytes.Repeat([]byte{0xff}, length), samples...)
	copy(h, "SDPX")
	for _, at := range []int{768, 770, 804, 806} { // orientation, elements, packing, encoding
		binary.BigEndian.PutUint16(h[at:], binary.LittleEndian.Uint16(file[at:]))
	}
	for _, at := range []int{772, 776, 780, 812, 816} { // width, height, sign, padding
		binary.BigEndian.PutUint32(h[at:], binary.LittleEndian.Uint32(file[at:]))
	}
	for at, v := range map[int]uint32{4: length, 16: uint32(len(h)), 808: length, 1920: code, 1940: math.Float32bits(24)} {
		binary.BigEndian.PutUint32(h[at:], v)
	}
	h[800], h[801], h[802], h[803] = file[800], 3, 1, file[803]
	copy(h[2048:], "of the user")
	return h
}

// Shot pictures of DPX are the files that they were, but for their rate, and made ones have the nearer one's header.
func TestHeadersOfDPX(t *testing.T) {
	for format, word := range map[string]int{"gbrp10le": 4, "rgb48le": 2, "gbrp12le": 2} {
		in := t.TempDir()
		cliptest.FFmpeg(t, "-i", cliptest.WriteScene(t, 64, 48, 3, 24, 1), "-pix_fmt", format, filepath.Join(in, "f%d.dpx"))
		source := make([][]byte, 3)
		for i := range source {
			name := filepath.Join(in, fmt.Sprintf("f%d.dpx", i+1))
			file, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source[i] = bigEndianDPX(t, file, word, uint32(0x01020300+i))
			cliptest.Must(t, os.WriteFile(name, source[i], 0o600))
		}
		made := func(codec string) []string {
			out := t.TempDir()
			o := pipeline.Options{
				Input: pipeline.Input{File: filepath.Join(in, "f#.dpx"), Rate: big.NewRat(24, 1)}, Output: pipeline.Output{File: filepath.Join(out, "g#.dpx"), VideoCodec: codec},
				Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(48, 1)}}, Synthesis: pipeline.Synthesis{Mode: warp.Blend},
			}
			mustRun(t, o)
			files, _ := filepath.Glob(filepath.Join(out, "*.dpx"))
			return files
		}
		kept, plain := made(""), made("dpx")
		if len(kept) != 6 || len(plain) != 6 {
			t.Fatalf("%s: %d and %d files", format, len(kept), len(plain))
		}
		for k, name := range kept {
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := bytes.Clone(source[min((k+1)/2, 2)])
			binary.BigEndian.PutUint32(want[1940:], math.Float32bits(48))
			if k%2 == 1 && k < 5 {
				if a, b := 2060, len(want); len(got) != b || !bytes.Equal(got[:a], want[:a]) || bytes.Equal(got[a:], want[a:]) {
					t.Errorf("%s: made picture %d has not the nearer one's header, or its samples", format, k)
				}
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s: picture %d is not the source's file", format, k)
			}
			a, _, _ := cliptest.ReadAll(t, name)
			if b, _, _ := cliptest.ReadAll(t, plain[k]); !bytes.Equal(a[0], b[0]) {
				t.Errorf("%s: picture %d has other samples than FFmpeg's file", format, k)
			}
		}
	}
}

// Where FFmpeg writes other samples than the source holds, or the source has several elements, no picture has the source's header,
// and a warning says so, also in a dry run.
func TestHeadersOfOtherDPX(t *testing.T) {
	for name, change := range map[string]func(file []byte) []byte{
		"UYVY":     func(f []byte) []byte { f[800] = 100; return f[:2060+64*48*2] },
		"elements": func(f []byte) []byte { f[771] = 2; return f },
	} {
		in, out := t.TempDir(), t.TempDir()
		cliptest.FFmpeg(t, "-i", cliptest.WriteScene(t, 64, 48, 3, 24, 1), "-pix_fmt", "rgb24", filepath.Join(in, "f%d.dpx"))
		for i := range 3 {
			picture := filepath.Join(in, fmt.Sprintf("f%d.dpx", i+1))
			file, err := os.ReadFile(picture)
			cliptest.Must(t, err)
			file = change(bigEndianDPX(t, file, 1, uint32(i)))
			binary.BigEndian.PutUint32(file[16:], uint32(len(file)))
			cliptest.Must(t, os.WriteFile(picture, file, 0o600))
		}
		var said strings.Builder
		o := pipeline.Options{
			Input: pipeline.Input{File: filepath.Join(in, "f#.dpx"), Rate: big.NewRat(24, 1)}, Output: pipeline.Output{File: filepath.Join(out, "g#.dpx")},
			Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(48, 1)}}, Synthesis: pipeline.Synthesis{Mode: warp.Blend},
			Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))},
		}
		_, err := pipeline.NewPreview(t.Context(), o)
		cliptest.Must(t, err)
		foretold := said.String()
		said.Reset()
		mustRun(t, o)
		files, _ := filepath.Glob(filepath.Join(out, "*.dpx"))
		for _, name := range files {
			if file, err := os.ReadFile(name); err != nil || file[801] != 2 || string(file[:4]) != "XPDS" {
				t.Errorf("%s: %s begins %q with transfer %d, %v", name, filepath.Base(name), file[:4], file[801], err)
			}
		}
		if len(files) != 6 || strings.Count(said.String(), "FFmpeg's headers") != 1 || strings.Count(foretold, "FFmpeg's headers") != 1 {
			t.Errorf("%s: %d files; %s; a dry run says %s", name, len(files), said.String(), foretold)
		}
	}
}
