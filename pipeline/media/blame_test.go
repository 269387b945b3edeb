package media_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"retime/pipeline"
)

// Damage does not read like an error of the system, as FFmpeg's demuxers and decoders have it.
func TestDamageHasNoErrno(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		ext  string
		args []string
	}{{"mkv", []string{"-c:v", "mpeg4"}}, {"wmv", []string{"-c:v", "wmv2"}}, {"ogg", []string{"-c:v", "libtheora"}}} {
		whole := filepath.Join(dir, "whole."+c.ext)
		ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", "testsrc2=size=64x48:rate=24:duration=0.2"}, c.args...), whole)...)
		text, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 200 {
			damaged := bytes.Clone(text)
			if damaged[(k*7)%1000] ^= 0xff; k%2 == 0 {
				damaged = damaged[:(k*7)%1000+1]
			}
			name := filepath.Join(dir, "damaged."+c.ext)
			if err := os.WriteFile(name, damaged, 0o666); err != nil {
				t.Fatal(err)
			}
			clip, err := pipeline.Open(context.Background(), pipeline.Options{Input: pipeline.Input{File: name}})
			if err == nil {
				clip.Close()
				continue
			}
			for _, misleading := range []syscall.Errno{syscall.EPERM, syscall.EIO, syscall.EINVAL} {
				if text := err.Error(); strings.Contains(strings.ToLower(text), misleading.Error()) {
					t.Errorf("%s, damage %d: %v", c.ext, k, err)
				}
			}
		}
	}
}
