package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"retime/internal/cliptest"
	"retime/internal/shell"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/restore"
)

// rows returns the lines of a list of hashes that are about frames.
func rows(text string) (list []string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

func read(t *testing.T, names ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(names...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// FFmpeg confirms the lists, and what the record says of frames and files is so.
func TestRecord(t *testing.T) {
	for _, c := range []struct {
		name, filter, damage, insert string
		coding, output               []string
		made, changed                []int64
		equal                        int64
	}{
		{"FFV1", "null", "5,9-10", "12:1", []string{"in.mkv", "ffv1", "yuv420p"}, []string{"out.mkv", "ffv1"}, []int64{5, 9, 10, 13, 16}, nil, 16},
		{"packed", "null", "5", "", []string{"in.avi", "rawvideo", "uyvy422"}, []string{"out.nut", "rawvideo"}, []int64{5}, nil, 19},
		{"fields", "tinterlace=interleave_top,setfield=tff", "4.t,6", "", []string{"in.mkv", "ffv1", "yuv422p10le"}, []string{"out.mkv", "ffv1"}, []int64{4, 6}, nil, 8},
		{"losses", "null", "2", "", []string{"in.mkv", "ffv1", "yuv420p"}, []string{"out.mp4", "libx264"}, []int64{2}, []int64{0}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			in, out := filepath.Join(dir, c.coding[0]), filepath.Join(dir, c.output[0])
			cliptest.FFmpeg(t, "-i", cliptest.WriteScene(t, 96, 64, 20, 25, 1), "-vf", c.filter+",format="+c.coding[2], "-c:v", c.coding[1], "-pix_fmt", c.coding[2], in)
			o := restore.Options{Convert: pipeline.Options{
				Input: pipeline.Input{File: in}, Output: pipeline.Output{File: out, VideoCodec: c.output[1]},
				Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU},
			}}
			var err error
			if o.Damage, err = restore.ParseFrames(c.damage); err != nil {
				t.Fatal(err)
			}
			if c.name == "FFV1" {
				part, err := restore.ParseRegion("8,10,20,12@15")
				if err != nil {
					t.Fatal(err)
				}
				o.Damage = append(o.Damage, part)
			}
			if c.insert != "" {
				more, err := restore.ParseInsert(c.insert)
				if err != nil {
					t.Fatal(err)
				}
				o.Damage = append(o.Damage, more...)
			}
			j := Job{Options: o, Output: out, Command: []string{"retime", "restore", "in file"}, Version: "v1", Ended: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)}
			o.Log = func(e restore.Entry) { j.Entries = append(j.Entries, e) }
			if _, err := restore.Run(context.Background(), o); err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(dir, "report")
			if err := Write(context.Background(), to, j, false); err != nil {
				t.Fatal(err)
			}
			for file, list := range map[string]string{in: "input.framemd5", out: "output.framemd5"} {
				said, err := exec.Command("ffmpeg", "-v", "error", "-i", file, "-map", "0:v:0", "-f", "framemd5", "-").Output()
				if err != nil {
					t.Fatal(err)
				}
				got, want := rows(read(t, to, list)), rows(string(said))
				if c.insert != "" && file == out { // the inserted frame shares the time of the one before
					for _, l := range []*[]string{&got, &want} {
						for i, line := range *l {
							(*l)[i] = line[strings.LastIndex(line, ",")+1:]
						}
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s:\n%s\nffmpeg says\n%s", list, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			var r Report
			if err := json.Unmarshal([]byte(read(t, to, "report.json")), &r); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(read(t, out)))
			if !slices.Equal(r.Made, c.made) || r.Equal != c.equal || r.Output.SHA256 != hex.EncodeToString(sum[:]) || r.Command != shell.Join(j.Command) || len(r.Frames) != len(j.Entries) {
				t.Errorf("%+v", r)
			}
			if len(c.changed) > 0 != (len(r.Changed) > 0) {
				t.Errorf("changed: %v", r.Changed)
			}
			if at := r.Frames[0].Timecode; !strings.HasPrefix(at, "00:00:00:0") {
				t.Errorf("timecode %q", at)
			}
			if text := read(t, to, "report.html"); strings.Count(text, "<section>") != len(c.made) || !strings.Contains(text, r.Output.SHA256) || !strings.Contains(text, "data:image/png;base64,") || strings.Contains(text, "ZgotmplZ") {
				t.Error("the page lacks something")
			}
			if c.name == "FFV1" {
				part := r.Frames[len(r.Frames)-1]
				if len(part.Areas) != 1 || part.Areas[0] != (restore.Rectangle{X: 8, Y: 10, Width: 20, Height: 12}) || r.Input.Width != 96 || r.Output.Height != 64 {
					t.Errorf("%+v of %+v", part, r.Input)
				}
				if text := read(t, to, "report.html"); strings.Count(text, "<rect") != 1 || !strings.Contains(text, "20x12 pixels at 8, 10") {
					t.Error("the page does not show the part")
				}
			}
			var p premis
			if err := xml.Unmarshal([]byte(read(t, to, "premis.xml")), &p); err != nil {
				t.Fatal(err)
			}
			if len(p.Objects) != 2 || p.Objects[1].Digest.Digest != r.Output.SHA256 || p.Objects[0].Size != r.Input.Bytes || p.Event.Time != "2026-02-03T04:05:06Z" ||
				p.Event.Detail != r.Command || len(p.Event.Outcome.Details) != 1+len(r.Frames) || p.Event.Links[1].Value != out || p.Agent.Version != "v1" {
				t.Errorf("%+v", p)
			}
			checkBag(t, to, out)
			if err := Write(context.Background(), to, j, false); fault.KindOf(err) != fault.CannotWrite {
				t.Errorf("written over: %v", err)
			}
		})
	}
}

// checkBag puts the output into the report's data directory, and checks the bag as RFC 8493 asks for.
func checkBag(t *testing.T, dir, out string) {
	t.Helper()
	if text := read(t, dir, "bagit.txt"); text != "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n" {
		t.Errorf("bagit.txt: %q", text)
	}
	content := read(t, out)
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", filepath.Base(out)), []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	hash, name, _ := strings.Cut(strings.TrimSuffix(read(t, dir, "manifest-sha256.txt"), "\n"), "  ")
	sum := sha256.Sum256([]byte(read(t, dir, name)))
	if hash != hex.EncodeToString(sum[:]) {
		t.Errorf("%s: %s", name, hash)
	}
	if text := read(t, dir, "bag-info.txt"); !strings.Contains(text, fmt.Sprintf("Payload-Oxum: %d.1\n", len(content))) || !strings.HasPrefix(text, "Bagging-Date: 2026-02-03\n") {
		t.Errorf("bag-info.txt: %q", text)
	}
}

// A sequence has no hash of its own, and a frame that its numbers lack is no change.
func TestRecordOfSequence(t *testing.T) {
	dir := t.TempDir()
	cliptest.FFmpeg(t, "-i", cliptest.WriteScene(t, 64, 48, 8, 25, 1), filepath.Join(dir, "in%d.png"))
	if err := os.Remove(filepath.Join(dir, "in4.png")); err != nil {
		t.Fatal(err)
	}
	o := restore.Options{MissingFromNumbering: true, Convert: pipeline.Options{
		Input: pipeline.Input{File: filepath.Join(dir, "in%d.png")}, Output: pipeline.Output{File: filepath.Join(dir, "out%d.png")},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU},
	}}
	j := Job{Options: o, Output: o.Convert.Output.File}
	o.Log = func(e restore.Entry) { j.Entries = append(j.Entries, e) }
	if _, err := restore.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if err := Write(context.Background(), dir, j, false); err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal([]byte(read(t, dir, "report.json")), &r); err != nil {
		t.Fatal(err)
	}
	if r.Equal != 7 || !slices.Equal(r.Made, []int64{3}) || len(r.Changed) != 0 || r.Input.SHA256 != "" || r.Output.Frames != 8 {
		t.Errorf("%+v", r)
	}
}
