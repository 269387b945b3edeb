package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"retime/pipeline/media"
)

// killsEnv sets how often to kill each job of TestKills; without it, a few times.
const killsEnv = "RETIME_KILLS"

// killed is a job that goes on after a kill. Its commands run in an empty directory
// beside the clips, and leave outputs and state.
type killed struct {
	name    string
	prepare []string // the command before the job, which is not killed; empty for none
	job     []string // the command to kill
	again   []string // the command that goes on
	finish  []string // the command after the job; empty for none
	once    bool     // the job refuses to run again once it is done
	outputs []string
	state   []string // patterns of other files that may stay
}

// TestKills kills each job with SIGKILL at random moments, lets it go on, and compares
// the outputs with those of an unbroken run.
func TestKills(t *testing.T) {
	kills := 3
	if text := os.Getenv(killsEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", killsEnv, err)
		}
		kills = n
	}
	clips := t.TempDir()
	for i, frames := range []int{60, 25, 40} {
		if err := os.Rename(clip(t, 96, 64, frames), filepath.Join(clips, fmt.Sprintf("%d.y4m", i))); err != nil {
			t.Fatal(err)
		}
	}
	input := filepath.Join(clips, "0.y4m")
	how := []string{"--fps", "60", "--preset", "fast", "--backend", "cpu", "--threads", "2", "--vcodec", "ffv1", "--segment-seconds", "0.3"}
	resume := append([]string{input, "-o", "out.mkv", "--resume"}, how...)
	segment := []string{"segment", "--plan", "plan.json", "--index", "0", "--stride", "1", "--threads", "2"}
	batch := append([]string{"batch", clips, "--glob", "*.y4m", "-o", "out", "--jobs", "2"}, how[:len(how)-2]...)
	batch = append(batch, "--format", "matroska", "-q")
	convert := append([]string{input, "-o", "out.mkv"}, how[:len(how)-2]...)
	pictures := append([]string{input, "-o", "%03d.png"}, how[:6]...)
	for _, k := range []killed{
		{name: "convert", job: append(convert, "--sidecar", "out.jsonl"), again: append(slices.Clone(convert), "--sidecar", "out.jsonl", "-y"), outputs: []string{"out.mkv"}, state: []string{"out.jsonl"}},
		{name: "pictures", job: pictures, again: append(slices.Clone(pictures), "-y"), outputs: []string{"%03d.png"}, state: []string{"???.png"}},
		{name: "resume", job: resume, again: resume, once: true, outputs: []string{"out.mkv"}},
		{
			name: "segment", prepare: append([]string{"plan", input, "-o", "plan.json"}, how...), job: segment, again: segment,
			finish: []string{"join", "--plan", "plan.json", "-o", "out.mkv"}, outputs: []string{"out.mkv"},
			state: []string{"plan.json", "plan.segments/??????.json", "plan.segments/??????-????????????????.packets"},
		},
		{
			name: "batch", job: batch, again: append(slices.Clone(batch), "--resume"), outputs: []string{"out/0.y4m", "out/1.y4m", "out/2.y4m"},
			state: []string{"out/.retime/jobs/*.json", "out/.retime/lock", "out/.retime/logs/*.log"},
		},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			k.test(t, kills)
		})
	}
}

// seed fixes the random times of the kills.
const seed = 7

func (k *killed) test(t *testing.T, kills int) {
	random := rand.New(rand.NewPCG(seed, uint64(len(k.name))))
	one := t.TempDir()
	k.must(t, one, k.prepare)
	began := time.Now()
	k.must(t, one, k.job)
	length := time.Since(began)
	k.must(t, one, k.finish)
	want := k.frames(t, one)
	late := 0 // number of runs that ended before the kill
	for n := 0; n < kills; {
		dir := t.TempDir()
		k.must(t, dir, k.prepare)
		moment := time.Duration(random.Int64N(int64(length)))
		cmd := program(k.job...)
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		killer := time.AfterFunc(moment, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		if killer.Stop() || err == nil || k.once && k.done(t, dir) {
			if late++; late > 10+10*kills {
				t.Fatal("the runs end before they are killed")
			}
			continue
		}
		n++
		k.must(t, dir, k.again)
		k.must(t, dir, k.finish)
		if got := k.frames(t, dir); got != want {
			t.Errorf("killed after %v of %v: the frames are not those of one run", moment, length)
		}
		for _, name := range k.stray(t, dir) {
			t.Errorf("killed after %v of %v: %s is left", moment, length, name)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("killed %d times within %v, %d runs ended before", kills, length, late)
}

// done reports whether a job came to its end although it was killed while it exited.
func (k *killed) done(t *testing.T, dir string) bool {
	t.Helper()
	for _, name := range k.outputs {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	states, _ := filepath.Glob(filepath.Join(dir, ".*.resume"))
	for _, s := range states {
		_ = os.Remove(s) // the run removes it if only the empty directory is left
	}
	return len(k.stray(t, dir)) == 0
}

// must runs a command to its end. Without arguments it does nothing.
func (k *killed) must(t *testing.T, dir string, args []string) {
	t.Helper()
	if len(args) == 0 {
		return
	}
	cmd := program(args...)
	cmd.Dir = dir
	var text bytes.Buffer
	cmd.Stderr = &text
	if err := cmd.Run(); err != nil {
		t.Fatalf("retime %q: %v\n%s", args, err, &text)
	}
}

// frames describes the outputs' frames by time and hash.
func (k *killed) frames(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	for _, name := range k.outputs {
		r, err := media.Open(t.Context(), filepath.Join(dir, name), media.ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for {
			f, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			h := sha256.New()
			for _, p := range f.Planes {
				for y := range p.Height {
					h.Write(p.Pix[y*p.Stride:][:p.Width*f.Format.Bytes()])
				}
			}
			fmt.Fprintf(&text, "%s %d %x\n", name, f.PTS, h.Sum(nil))
			f.Release()
		}
		r.Close()
	}
	return text.String()
}

// stray lists the files in dir that are neither outputs nor state.
func (k *killed) stray(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && !strings.HasSuffix(path, ".resume") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		for _, pattern := range append(slices.Clone(k.outputs), k.state...) {
			if ok, err := filepath.Match(pattern, name); ok || err != nil {
				return err
			}
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
