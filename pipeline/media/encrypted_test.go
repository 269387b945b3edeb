package media

import (
	"math/big"
	"path/filepath"
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
