package pipeline

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"retime/pipeline/fault"
)

// A container that refuses a stream whose header is damaged is no wrong use of a flag. An undamaged
// stream that it refuses is.
func TestDamagedHeadersAreBadData(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.ogg")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=24:duration=1", "-f", "lavfi", "-i", "sine=duration=1", "-c:v", "libtheora", "-c:a", "libvorbis", whole)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "damaged.ogg")
	if err := os.WriteFile(damaged, bytes.Replace(text, []byte("\x05vorbis"), []byte("\x05vorbix"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		input, format string
		want          fault.Kind
	}{{damaged, "matroska", fault.BadData}, {damaged, "webm", fault.BadData}, {whole, "matroska", 0}, {whole, "yuv4mpegpipe", fault.Usage}} {
		o := Options{Input: Input{File: c.input}, Output: Output{File: filepath.Join(dir, "out"), Format: c.format, Overwrite: true}}
		if c.format == "yuv4mpegpipe" {
			o.Output.VideoCodec = "ffv1"
		}
		_, err := Run(context.Background(), o)
		if got := fault.KindOf(err); err == nil && c.want != 0 || err != nil && got != c.want || c.want == fault.BadData && !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("%s into %s: %v, want kind %d", filepath.Base(c.input), c.format, err, c.want)
		}
	}
}

// Nor does damage read like an error of the system, as FFmpeg's demuxers and decoders have it.
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
			clip, err := Open(context.Background(), Options{Input: Input{File: name}})
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
