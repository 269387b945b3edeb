package media_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/media/exr"
	"retime/warp"
)

// Channels that FFmpeg does not read are named, and pictures of colour alone say nothing.
func TestWhatEXRLosesIsNamed(t *testing.T) {
	for further, want := range map[string]bool{"": false, "depth.Z": true} {
		dir := t.TempDir()
		for n := range 3 {
			var file bytes.Buffer
			channels := []exr.Channel{}
			for _, name := range []string{"R", "G", "B", further} {
				if name != "" {
					channels = append(channels, exr.Channel{Name: name, Type: exr.Half, Sample: func(x, y int) float32 { return float32(x+y) / 64 }})
				}
			}
			if err := exr.Write(&file, 32, 24, channels); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("p.%04d.exr", n)), file.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var said strings.Builder
		o := pipeline.Options{
			Input: pipeline.Input{File: filepath.Join(dir, "p.####.exr"), Rate: big.NewRat(24, 1)}, Output: pipeline.Output{File: filepath.Join(dir, "o.####.exr")},
			Synthesis: pipeline.Synthesis{Mode: warp.Nearest}, Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		}
		mustRun(t, o)
		if got := strings.Contains(said.String(), `lost="channels depth.Z"`); got != want {
			t.Errorf("channel %q: said %s", further, said.String())
		}
	}
}
