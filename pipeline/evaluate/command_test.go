package evaluate

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"retime/pipeline/evaluate/report"
	"retime/pipeline/fault"
	"retime/testdata/posix"
)

// A command that runs FFmpeg's filter gets the same figures as the filter itself.
func TestCommandIsTheFilter(t *testing.T) {
	const line = `ffmpeg -v error -i "$IN" -vf tpad=stop=3:stop_mode=clone,minterpolate=fps=$RATE -c:v rawvideo -f nut -`
	dir := t.TempDir()
	ten, varied := filepath.Join(dir, "ten.nut"), filepath.Join(dir, "varied.mkv")
	ffmpeg(t, "-i", writeScene(t, 98, 62, 7, 24), "-pix_fmt", "yuv420p10", "-c:v", "rawvideo", ten)
	ffmpeg(t, "-i", writeScene(t, 98, 62, 24, 24), "-vf", "select='mod(n,3)-2'", "-fps_mode", "vfr", "-c:v", "ffv1", varied)
	for _, c := range []struct {
		name  string
		input string
		every int
	}{{"eight bits", writeScene(t, 99, 61, 9, 24), 2}, {"fifth of five", writeScene(t, 64, 48, 11, 30), 5}, {"ten bits", ten, 2}, {"varying rate", varied, 2}} {
		t.Run(c.name, func(t *testing.T) {
			o := quick(c.input)
			o.Every = c.every
			o.Peers = []Peer{{Name: "filter", Method: Minterpolate}, {Name: "command", Method: Command, Line: line}}
			r := mustRun(t, o)
			if len(r.Failed) > 0 {
				t.Fatalf("failed: %+v", r.Failed)
			}
			a, b := r.Methods[1], r.Methods[2]
			if b.Kind != report.Peer || b.Values["command"] != line || b.SecondsPerFrame <= 0 {
				t.Errorf("the command is reported as %+v", b)
			}
			if c.name == "varying rate" { // its times are rounded to milliseconds, and once more on the way to FFmpeg
				if d := math.Abs(float64(a.Total.PSNRY - b.Total.PSNRY)); d > 0.1 {
					t.Errorf("the command's PSNR is %f off the filter's", d)
				}
				return
			}
			if got, want := fmt.Sprint(b.Frames), fmt.Sprint(a.Frames); got != want {
				t.Errorf("the command has %s, the filter %s", got, want)
			}
		})
	}
}

// scanned returns a scanned clip, ready for methods.
func scanned(t *testing.T, input string) *clip {
	t.Helper()
	o := quick(input)
	if err := o.settle(); err != nil {
		t.Fatal(err)
	}
	c, err := scan(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// try has a command make the frames of a clip.
func (c command) try(t *testing.T, of *clip) error {
	t.Helper()
	r, err := of.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	sink := &timedSink{progress: func() {}}
	_, err = c.make(t.Context(), job{of, r, sink, of.stamps(len(of.held))})
	if err == nil && sink.frames != len(of.held) {
		t.Errorf("%d frames, want %d", sink.frames, len(of.held))
	}
	return err
}

// If a command does not deliver the frames that it should, the error says what it did. Nothing
// waits for it.
func TestCommandPeerFaults(t *testing.T) {
	input := writeScene(t, 64, 48, 9, 24)
	clip := scanned(t, input)
	whole := "cat " + input
	for _, c := range []struct{ name, line, says string }{
		{"good", whole, ""},
		{"good, with a few more", "cat " + writeScene(t, 64, 48, 15, 24), ""},
		{"not found", "/nowhere/program", "not found"},
		{"fails", "echo no such model >&2; exit 3", "it ended before it had written its video (exit status 3): no such model"},
		{"writes nothing", "exit 0", "its output: "},
		{"garbage", "echo hello everybody", "its output: "},
		{"endless garbage", "yes", "its output: "},
		{"only the source frames", `cat "$IN"`, "it wrote no frame for 0.042 s; want 9 frames at 24 frames per second"},
		{"too few frames", "cat " + writeScene(t, 64, 48, 5, 24), "it wrote no frame for 0.208 s; want 9 frames"},
		{"too few because it fails", "head -c 20000 " + input + "; echo out of memory >&2; exit 4", "(exit status 4): out of memory"},
		{"without the last frame", "cat " + writeScene(t, 64, 48, 8, 24), "it wrote 8 frames up to the last source frame; want 9 at 24 frames per second"},
		{"too many frames", "cat " + writeScene(t, 64, 48, 17, 48), "it wrote 17 frames up to the last source frame; want 9 at 24"},
		{"too long", "cat " + writeScene(t, 64, 48, 30, 24), "its video goes on for more than 8 frames after the last source frame"},
		{"wrong size", "cat " + writeScene(t, 48, 64, 9, 24), "its pictures are 48x64, and the clip's are 64x48"},
		{"fails at exit", whole + "; echo cannot free >&2; exit 5", "it ended after it had written its video (exit status 5): cannot free"},
		{"hangs at exit", whole + "; exec >&-; sleep 1000", "after it had written its video and did not end"},
		{"hangs with its output open", whole + "; sleep 1000", "it wrote nothing for 1ms after the last frame that was wanted, and did not end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := newCommand(c.line, 1)
			own.grace = time.Minute
			switch c.name {
			case "hangs at exit":
				own.grace = time.Millisecond
			case "hangs with its output open":
				own.patience = time.Millisecond
			}
			t.Setenv("TMPDIR", t.TempDir())
			err := own.try(t, clip)
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.says)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// A command gets only the source frames, along with the rate and the number of frames to write.
func TestCommandIsTold(t *testing.T) {
	dir := t.TempDir()
	input := writeScene(t, 64, 48, 11, 30)
	o := quick(input)
	o.Every = 3
	o.Peers = []Peer{{Name: "told", Method: Command, Line: "cp \"$IN\" " + dir + "/in.nut; echo $RATE $FRAMES >" + dir + "/told; head -c " +
		fmt.Sprint(10*(64*48*3/2+len("FRAME\n"))+len("YUV4MPEG2 W64 H48 F30:1 Ip A1:1 C420jpeg\n")) + " " + input}}
	r := mustRun(t, o)
	if len(r.Failed) > 0 {
		t.Fatalf("failed: %+v", r.Failed)
	}
	// Frames 2, 5 and 8 of 0 to 10 are held out, so the last source frame is 9.
	if told, err := os.ReadFile(filepath.Join(dir, "told")); err != nil || string(told) != "30 10\n" {
		t.Errorf("told %q, %v", told, err)
	}
	if f := r.Methods[1].Frames; len(f.PSNRY) != 3 || !math.IsInf(float64(slices.Min(f.PSNRY)), 1) {
		t.Errorf("the truth has PSNR %v", f.PSNRY)
	}
	log := ffmpeg(t, "-i", filepath.Join(dir, "in.nut"), "-i", input, "-lavfi", "[1]select='lt(n,10)*(mod(n,3)-2)'[b];[0][b]psnr,metadata=print:file=-", "-f", "null", "-")
	if n := strings.Count(log, "lavfi.psnr.mse_avg=0.00"); n != 7 {
		t.Errorf("%d frames are the source's, want 7\n%s", n, log)
	}
}

// The report names a command that fails, and has the results of the others.
func TestFailedCommandIsReported(t *testing.T) {
	o := quick(writeScene(t, 64, 48, 5, 24))
	o.Peers = []Peer{{Name: "broken", Method: Command, Line: "echo no such model >&2; exit 3"}, {Name: "blend", Method: Blend}}
	r := mustRun(t, o)
	if len(r.Failed) != 1 || r.Failed[0].Name != "broken" || !strings.Contains(r.Failed[0].Error, "no such model") {
		t.Errorf("failed: %+v", r.Failed)
	}
	if len(r.Methods) != 2 || r.Methods[1].Name != "blend" {
		t.Errorf("%d methods", len(r.Methods))
	}
}

// Cancelling the evaluation ends a command.
func TestCommandPeerCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := scanned(t, writeScene(t, 64, 48, 5, 24))
	fifo := filepath.Join(t.TempDir(), "started")
	if err := posix.Mkfifo(t, fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.Open(fifo)
		if err == nil {
			defer f.Close()
			_, _ = f.Read(make([]byte, 1))
		}
		cancel()
	}()
	r, err := c.read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	_, err = newCommand("echo >"+fifo+"; sleep 1000", 1).make(ctx, job{c, r, &timedSink{}, c.stamps(len(c.held))})
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("error %v", err)
	}
}
