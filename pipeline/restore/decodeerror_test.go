package restore

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
)

// withoutSlice writes raw H.264 without one of its slices.
func withoutSlice(t *testing.T, stream string) string {
	t.Helper()
	data, err := os.ReadFile(stream)
	if err != nil {
		t.Fatal(err)
	}
	const kind, slice = 0x1f, 1 // nal_unit_type, and that of slices but for IDR pictures
	units, left := bytes.SplitAfter(data, []byte{0, 0, 1}), 6
	for i, unit := range units {
		if len(unit) > 0 && unit[0]&kind == slice {
			if left--; left == 0 {
				units[i] = nil
			}
		}
	}
	name := filepath.Join(t.TempDir(), "lost.h264")
	if err := os.WriteFile(name, bytes.Join(units, nil), 0o600); err != nil || left > 0 {
		t.Fatal(err, left)
	}
	return name
}

// A picture that lost a slice is found by any number of threads, in frames and in fields.
func TestDecodeErrors(t *testing.T) {
	for name, args := range map[string]string{"frames": "", "fields": ":interlaced=1:tff=1"} {
		in := withoutSlice(t, film(t, "a.h264", "-an", "-t", "1", "-vf", "scale=640:384", "-c:v", "libx264", "-bf", "2", "-x264-params", "slices=4:scenecut=0"+args))
		for _, threads := range []int{1, 2, 5} {
			found, err := scan(t.Context(), &Options{Detect: true, Convert: pipeline.Options{Input: pipeline.Input{File: in}, Compute: pipeline.Compute{Threads: threads}}})
			if err != nil {
				t.Fatal(err)
			}
			if len(found.findings) != 1 || found.findings[0].Kind != DecodeError || found.findings[0].First != found.findings[0].Last {
				t.Errorf("%s, %d threads: %+v", name, threads, found.findings)
			}
		}
	}
}

// Pictures that FFmpeg conceals without marking them are found by what their packets say: the checksums of FFV1, and the status
// of blocks on a tape of DV. Sound ones are not.
func TestDamageThatPacketsState(t *testing.T) {
	const frame, block = 144_000, 80 // bytes of DV
	for _, c := range []struct {
		name   string
		args   []string
		damage func(data []byte) // in frame 5, or near it
	}{
		{"a.mkv", []string{"-c:v", "ffv1", "-level", "3", "-slices", "4", "-slicecrc", "1", "-g", "1"}, func(data []byte) { data[len(data)/2+100] ^= 1 }},
		{"a.avi", []string{"-c:v", "ffv1", "-level", "3", "-slicecrc", "1", "-g", "5"}, func(data []byte) { data[len(data)/2+100] ^= 1 }},
		{"a.dv", []string{"-c:v", "dvvideo", "-pix_fmt", "yuv420p", "-s", "720x576"}, func(data []byte) { data[5*frame+7*block+3] |= 0x70 }},
	} {
		in := film(t, c.name, append([]string{"-an", "-t", "0.4"}, c.args...)...)
		data, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []bool{false, true} {
			if damaged {
				c.damage(data)
			}
			if err := os.WriteFile(in, data, 0o600); err != nil {
				t.Fatal(err)
			}
			found, err := scan(t.Context(), &Options{Detect: true, Convert: pipeline.Options{Input: pipeline.Input{File: in}, Compute: pipeline.Compute{Threads: 2}}})
			if err != nil {
				t.Fatal(err)
			}
			errors := slices.DeleteFunc(found.findings, func(f Finding) bool { return f.Kind != DecodeError })
			if damaged != (len(errors) == 1) {
				t.Errorf("%s, damaged %v: %+v", c.name, damaged, errors)
			}
		}
	}
}

// A restoration says that the input is damaged, though it copies the damaged packets.
func TestDamageIsTold(t *testing.T) {
	in := film(t, "a.mkv", "-an", "-t", "0.4", "-c:v", "ffv1", "-level", "3", "-slices", "4", "-slicecrc", "1", "-g", "1")
	data, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2+100] ^= 1
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, smart := range []bool{false, true} {
		var log bytes.Buffer
		o := options(t, in)
		o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), VideoCodec: "ffv1"}
		o.Convert.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.SmartCopy, o.Damage = smart, frames(t, "1")
		mustRun(t, o)
		if strings.Count(log.String(), "damage in the input") != 1 {
			t.Errorf("smart copy %v says %s", smart, &log)
		}
	}
}
