package media

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

// Encrypted pictures are refused by name, from wherever the reader begins: a decoder makes noise of
// them, some of it without an error.
func TestEncryptedPictures(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "a.mp4")
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24", "-f", "lavfi", "-i", "sine", "-t", "1", "-c:v", "libx264", "-g", "6",
		"-c:a", "aac", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", strings.Repeat("5c", 16), "-encryption_kid", strings.Repeat("7e", 16), clip)
	for _, from := range []Start{{}, {At: big.NewRat(1, 2)}} {
		for _, packets := range []bool{false, true} {
			r, err := Open(t.Context(), clip, ReaderOptions{Threads: 1, From: from, Packets: packets})
			if err == nil {
				r.Close()
			}
			if fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "encrypted") {
				t.Errorf("from %v, packets %v: %v", from.At, packets, err)
			}
		}
	}
}

// A codec that FFmpeg has no name for is refused by the container's.
func TestUnknownCodec(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "a.mp4")
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24", "-t", "0.5", "-c:v", "libx264", clip)
	data, err := os.ReadFile(clip)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"avc1", "avcC"} {
		data = bytes.ReplaceAll(data, []byte(name), []byte("zzz1"))
	}
	if err := os.WriteFile(clip, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), clip, ReaderOptions{Threads: 1})
	if err == nil {
		r.Close()
	}
	if fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), `"zzz1": no decoder`) {
		t.Error(err)
	}
}

// A broadcast that is still scrambled is refused by name, and so is its sound.
func TestScrambledStreams(t *testing.T) {
	dir := t.TempDir()
	clip := filepath.Join(dir, "a.ts")
	ffmpegProgram(t, "ffmpeg", "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24", "-f", "lavfi", "-i", "sine", "-t", "1", "-c:v", "libx264", "-g", "6", "-c:a", "aac", clip)
	for _, c := range []struct {
		step  int // bytes from a packet to the next
		pids  []int
		fails bool
	}{{188, nil, false}, {188, []int{256}, true}, {192, []int{256, 257}, true}, {204, []int{256, 257}, true}, {188, []int{257}, false}} {
		data, err := os.ReadFile(clip)
		if err != nil {
			t.Fatal(err)
		}
		var spread []byte
		random := rand.New(rand.NewPCG(1, 2))
		for p := range slices.Chunk(data, 188) {
			if pid := int(p[1]&0x1f)<<8 | int(p[2]); slices.Contains(c.pids, pid) {
				p[3] |= 0x80
				from := 4
				if p[3]&0x20 != 0 {
					from += 1 + int(p[4])
				}
				for i := from; i < len(p); i++ {
					p[i] = byte(random.Uint32())
				}
			}
			if c.step == 192 {
				spread = append(spread, 0, 0, 0, 0)
			}
			if spread = append(spread, p...); c.step == 204 {
				spread = append(spread, make([]byte, 16)...)
			}
		}
		name := filepath.Join(dir, "b.ts")
		if err := os.WriteFile(name, spread, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), name, ReaderOptions{Threads: 1})
		if err == nil {
			if got := len(r.Source().Streams.Scrambled); got != len(c.pids) {
				t.Errorf("%v: %d streams are scrambled", c, got)
			}
			r.Close()
		}
		if (err != nil) != c.fails || c.fails && (fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "scrambled")) {
			t.Errorf("%v: %v", c, err)
		}
	}
}
