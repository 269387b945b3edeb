package media_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// playsIn returns how often the animation in a file is to be shown, 0 for ever.
func playsIn(t *testing.T, name string) int {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	after := func(mark string, skip, size int) []byte {
		i := bytes.Index(data, []byte(mark))
		if i < 0 {
			return nil
		}
		return data[i+len(mark)+skip:][:size]
	}
	switch filepath.Ext(name) {
	case ".gif":
		again := after("NETSCAPE2.0", 2, 2)
		if again == nil {
			return 1
		}
		if n := int(binary.LittleEndian.Uint16(again)); n > 0 {
			return n + 1
		}
		return 0
	case ".apng":
		return int(binary.BigEndian.Uint32(after("acTL", 4, 4)))
	}
	return int(binary.LittleEndian.Uint16(after("ANIM", 8, 2)))
}

// Animations are shown as often as their source, and for ever if that states nothing.
func TestAnimationsPlayAsOften(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		source string
		args   []string
		plays  int
	}{
		{"forever.gif", []string{"-loop", "0"}, 0},
		{"once.gif", []string{"-loop", "-1"}, 1},
		{"twice.gif", []string{"-loop", "1"}, 2},
		{"forever.apng", []string{"-plays", "0"}, 0},
		{"once.apng", []string{"-plays", "1"}, 1},
		{"thrice.apng", []string{"-plays", "3"}, 3},
		{"video.nut", []string{"-c:v", "ffv1"}, 0},
	} {
		in := filepath.Join(dir, c.source)
		ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", "testsrc2=s=48x32:r=10", "-frames:v", "3"}, c.args...), in)...)
		for _, ext := range []string{".gif", ".apng", ".webp"} {
			o := pipeline.Options{
				Input: pipeline.Input{File: in}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
				Output: pipeline.Output{File: filepath.Join(dir, "out"+ext), Overwrite: true},
			}
			mustRun(t, o)
			if got := playsIn(t, o.Output.File); got != c.plays {
				t.Errorf("%s to %s: shown %d times, want %d", c.source, ext, got, c.plays)
			}
		}
	}
	o := pipeline.Options{
		Input: pipeline.Input{File: filepath.Join(dir, "twice.gif")}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
		Output: pipeline.Output{File: filepath.Join(dir, "own.apng"), MuxOptions: map[string]string{"plays": "5"}},
	}
	mustRun(t, o)
	if got := playsIn(t, o.Output.File); got != 5 {
		t.Errorf("the option of one's own: shown %d times, want 5", got)
	}
}
