package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

// Pictures of more than 2^26 pixels are refused.
func TestLargePictures(t *testing.T) {
	in := write(t, filepath.Join(t.TempDir(), "in.y4m"), "YUV4MPEG2 W16384 H4097 F24:1\nFRAME\n")
	for _, args := range [][]string{{in, "-o", in + ".nut"}, {"restore", in, "-o", in + ".nut", "--frames", "0"}} {
		if err := inProcess(t, args...); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "16384x4097") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// docs/security.md states how large the files may be that are read beside videos, and larger ones
// are refused.
func TestFilesHaveLimits(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.y4m")
	if err := os.Rename(clip(t, 16, 16, 3), in); err != nil {
		t.Fatal(err)
	}
	file, out, plan, state := filepath.Join(dir, "file"), filepath.Join(dir, "out.nut"), filepath.Join(dir, "plan.json"), filepath.Join(dir, "state")
	if err := inProcess(t, "plan", in, "-o", plan, "--even"); err != nil {
		t.Fatal(err)
	}
	batch := []string{"batch", dir, "--glob", "in.y4m", "-o", filepath.Join(dir, "outs"), "--state", state, "--format", "nut", "--vcodec", "rawvideo"}
	if err := inProcess(t, batch...); err != nil {
		t.Fatal(err)
	}
	records, err := filepath.Glob(filepath.Join(state, "jobs", "*.json"))
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	manifest := filepath.Join(dir, "plan.segments", "000000.json")
	if err := os.Mkdir(filepath.Dir(manifest), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, file string
		args       []string
	}{
		{"job file, settings", file, []string{"batch", file}},
		{"job file, settings", file, []string{"evaluate", in, "--report", dir + "/report", "--settings", file}},
		{"curve", file, []string{in, "-o", out, "--curve", file}},
		{"scenes", file, []string{in, "-o", out, "--scenes", file}},
		{"list of damage", file, []string{"restore", in, "-o", out, "--list", file}},
		{"decisions", file, []string{in, "-o", out, "--decisions", file}},
		{"plan", file, []string{"segment", "--plan", file, "--index", "0"}},
		{"still picture, mask", file, []string{in, "-o", out, "--static-mask", file}},
		{"still picture, mask", file, []string{"resample", file, "-o", dir + "/out.pgm", "--shift", "1,0"}},
		{"record of a batch", records[0], append(batch, "--resume")},
		{"manifest of a segment", manifest, []string{"join", "--plan", plan, "-o", out}},
	} {
		row := regexp.MustCompile(`(?m)^\| ` + c.what + ` \| (\d+) MiB \|`).FindSubmatch(text)
		if row == nil {
			t.Errorf("the table has no limit for %q", c.what)
			continue
		}
		limit, _ := strconv.ParseInt(string(row[1]), 10, 64)
		limit <<= 20
		if err := os.WriteFile(c.file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(c.file, limit+1); err != nil { // with a hole
			t.Fatal(err)
		}
		if err := inProcess(t, c.args...); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("at most %d are read", limit)) {
			t.Errorf("%q: %v, want a limit of %d bytes", c.args, err, limit)
		}
	}
}

// Pictures of more than 2^28 samples and flow of more than 2^27 vectors are refused by their headers.
func TestLargeStills(t *testing.T) {
	dir := t.TempDir()
	still := write(t, filepath.Join(dir, "in.pgm"), "P5\n65536 4097\n255\n")
	small := write(t, filepath.Join(dir, "small.pgm"), "P5\n2 2\n255\nabcd")
	field := write(t, filepath.Join(dir, "in.flo"), "PIEH\x00\x00\x01\x00\x01\x08\x00\x00")
	for _, args := range [][]string{
		{"resample", still, "-o", filepath.Join(dir, "out.pgm"), "--shift", "1,0"},
		{"resample", small, "-o", filepath.Join(dir, "out.pgm"), "--flow", field},
	} {
		if err := inProcess(t, args...); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "65536x") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
