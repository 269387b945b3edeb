package segment

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/testdata/posix"
)

// left lists the files in a directory.
func left(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestCancelledSegmentsLeaveNothing(t *testing.T) {
	p := newPlan(t, options(clip(t)), 3)
	dir := filepath.Join(t.TempDir(), "segments")
	for _, frames := range []int64{0, 1, 5, 30, 60} {
		ctx, cancel := context.WithCancel(context.Background())
		local := pipeline.Options{
			Hooks: pipeline.Hooks{Progress: func(at pipeline.Progress) {
				if at.Frames == frames {
					cancel()
				}
			}},
		}
		if frames == 0 {
			cancel()
		}
		if _, _, err := p.Make(ctx, dir, 1, local); fault.KindOf(err) != fault.Cancelled {
			t.Errorf("cancelled after %d frames: %v", frames, err)
		}
		if names := left(t, dir); len(names) > 0 {
			t.Errorf("cancelled after %d frames: %q is left", frames, names)
		}
		cancel()
	}
}

func TestResumedConversionsEndAsOneRun(t *testing.T) {
	input := clip(t)
	o := options(input)
	o.Output.Format = ""
	one := filepath.Join(t.TempDir(), "whole.mkv")
	whole(t, o, one)
	want := strings.Join(content(t, one), "\n")
	all := o
	all.Output.File = filepath.Join(t.TempDir(), "counted.mkv")
	counted, err := pipeline.Run(context.Background(), all)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o.Output.File = filepath.Join(dir, "out.mkv")
	second := big.NewRat(1, 1)
	random := rand.New(rand.NewPCG(7, 7))
	last := int64(0)
	for stop := int64(1); stop < 200; stop = last + random.Int64N(60) {
		ctx, cancel := context.WithCancel(context.Background())
		o.Hooks.Progress = func(at pipeline.Progress) {
			if last = at.Frames; at.Frames >= stop {
				cancel()
			}
		}
		_, err := Convert(ctx, o, Options{Length: second, Program: "test"})
		cancel()
		if fault.KindOf(err) != fault.Cancelled {
			t.Fatalf("stopped at frame %d: %v", stop, err)
		}
		// A kill leaves files like these.
		for _, name := range []string{atomicfile.Part("000002.json"), atomicfile.Part("joined.mkv"), "joined.mkv"} {
			if err := os.WriteFile(filepath.Join(StateDir(o.Output.File), name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if names := left(t, dir); len(names) != 1 || names[0] != ".out.mkv.resume" {
			t.Fatalf("stopped at frame %d: %q are left", stop, names)
		}
	}
	other := o
	other.Timing.Rate, other.Hooks.Progress = pipeline.Rate{Value: big.NewRat(60, 1)}, nil
	if _, err := Convert(context.Background(), other, Options{Length: second, Program: "test"}); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "Rate") {
		t.Errorf("other settings: %v", err)
	}
	o.Hooks.Progress = nil
	report, err := Convert(context.Background(), o, Options{Length: second, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if report.Frames != 200 || report.Made != counted.Made || counted.Made == 0 || report.Output != o.Output.File {
		t.Errorf("report %+v, want %d made", report, counted.Made)
	}
	if names := left(t, dir); len(names) != 1 || names[0] != "out.mkv" {
		t.Errorf("%q are left, want out.mkv", names)
	}
	if strings.Join(content(t, o.Output.File), "\n") != want {
		t.Error("the output is not that of one run")
	}
	if _, err := Convert(context.Background(), o, Options{Length: second, Program: "test"}); fault.KindOf(err) != fault.CannotWrite {
		t.Errorf("an output that exists: %v", err)
	}
}

// A conversion that can be resumed gives a file its name at the end, so that nothing else may have that name.
func TestOutputsThatCannotBeResumed(t *testing.T) {
	o, dir := options(clip(t)), t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := posix.Mkfifo(t, pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]fault.Kind{pipe: fault.Usage, o.Input.File: fault.Usage, "http://127.0.0.1:1/a.mkv": fault.Usage, "-": fault.Usage, dir: fault.CannotWrite} {
		o.Output = pipeline.Output{File: name, Format: "matroska", Overwrite: true}
		if _, err := Convert(t.Context(), o, Options{Length: big.NewRat(1, 1), Program: "test"}); fault.KindOf(err) != kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 || len(left(t, dir)) != 1 {
		t.Errorf("%v, %v, beside %q", info, err, left(t, dir))
	}
}

func TestLastStepsAreTakenAgain(t *testing.T) {
	o := options(clip(t))
	dir := t.TempDir()
	o.Output.File, o.Output.Format = filepath.Join(dir, "out.mkv"), ""
	state := StateDir(o.Output.File)
	other := o
	other.Timing.Rate = pipeline.Rate{Value: big.NewRat(60, 1)}
	p := newPlan(t, o, 1)
	for _, test := range []struct{ name, joined, output, want string }{
		{"before the file has its name", "new", "", "new"},
		{"behind it", "", "new", "new"},
	} {
		if err := os.MkdirAll(state, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := p.Write(filepath.Join(state, wholeName), true); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{filepath.Join(state, "joined.mkv"): test.joined, o.Output.File: test.output} {
			os.Remove(name)
			if content == "" {
				continue
			}
			if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Convert(context.Background(), other, Options{Length: big.NewRat(1, 1), Program: "test"}); fault.KindOf(err) != fault.Usage {
			t.Errorf("%s, other settings: %v", test.name, err)
		}
		if _, err := Convert(context.Background(), o, Options{Length: big.NewRat(1, 1), Program: "test"}); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		got, _ := os.ReadFile(o.Output.File)
		if names := left(t, dir); len(names) != 1 || string(got) != test.want {
			t.Errorf("%s: %q are left, and the output is %q", test.name, names, got)
		}
	}
}

func TestWorkersOnOneRange(t *testing.T) {
	o := options(clip(t))
	o.Output.VideoCodec = "libx264" // libx264's packets name its threads
	p := newPlan(t, o, 2)
	dir := t.TempDir()
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for _, i := range []int{n % 2, 1 - n%2} {
				if _, _, err := p.Make(context.Background(), dir, i, pipeline.Options{Compute: pipeline.Compute{Threads: 1 + n}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if err := p.Status(dir, true).Err(); err != nil {
		t.Error(err)
	}
	if _, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mp4")}}); err != nil {
		t.Error(err)
	}
	for _, name := range left(t, dir) {
		if strings.HasSuffix(name, ".part") {
			t.Errorf("%s is left", name)
		}
	}
}

func TestDamagedSegmentsAreMadeAgain(t *testing.T) {
	p := newPlan(t, options(clip(t)), 2)
	dir := t.TempDir()
	makeAll(t, p, dir, []int{0, 1})
	want := p.Status(dir, true).Digest
	m, err := p.check(dir, p.ID(), 0, true)
	if err != nil {
		t.Fatal(err)
	}
	packets := filepath.Join(dir, m.File)
	good, err := os.ReadFile(packets)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	for name, damage := range map[string]func() error{
		"shortened":   func() error { return os.WriteFile(packets, good[:len(good)-1], 0o644) },
		"flipped":     func() error { return os.WriteFile(packets, flipped, 0o644) },
		"gone":        func() error { return os.Remove(packets) },
		"no manifest": func() error { return os.Remove(manifestName(dir, 0)) },
		"half":        func() error { return os.WriteFile(manifestName(dir, 0), []byte(`{"plan": "`), 0o644) },
		"another's":   func() error { return os.WriteFile(manifestName(dir, 0), []byte(`{"plan": "x"}`), 0o644) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if err := p.Status(dir, true).Err(); err == nil {
			t.Errorf("%s: the status says that all is well", name)
		}
		_, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv")}})
		if k := fault.KindOf(err); k != fault.BadData && k != fault.TryAgain {
			t.Errorf("%s: joined: %v", name, err)
		}
		if _, made, err := p.Make(context.Background(), dir, 0, pipeline.Options{}); err != nil || !made {
			t.Errorf("%s: made again %v: %v", name, made, err)
		}
		if s := p.Status(dir, true); s.Digest != want {
			t.Errorf("%s: %s", name, s)
		}
	}
}

func TestPacketsAreReadBack(t *testing.T) {
	list := []media.Packet{
		{PTS: 0, DTS: -1 << 63, Duration: 1, Flags: 1, Data: []byte("picture")},
		{PTS: -7, DTS: 1 << 40, Data: []byte{}, Side: []media.PacketSide{{Kind: 15, Data: []byte("alpha")}, {Kind: 0, Data: []byte{0}}}},
	}
	var b bytes.Buffer
	w := newPacketWriter(&b)
	for _, p := range list {
		if err := w.write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil || w.bytes != int64(b.Len()) {
		t.Fatalf("%d bytes written, %d counted: %v", b.Len(), w.bytes, err)
	}
	r := newPacketReader(bytes.NewReader(b.Bytes()))
	for i, want := range list {
		got, err := r.next()
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("packet %d: %v, %v, want %v", i, got, err, want)
		}
	}
	if _, err := r.next(); !errors.Is(err, io.EOF) || r.hex() != w.hex() {
		t.Errorf("end: %v", err)
	}
	for n := range b.Len() {
		r := newPacketReader(bytes.NewReader(b.Bytes()[:n]))
		var err error
		for err == nil {
			_, err = r.next()
		}
		if errors.Is(err, io.EOF) {
			t.Errorf("the first %d of %d bytes are taken for the whole", n, b.Len())
		}
	}
}

func FuzzPackets(f *testing.F) {
	f.Add([]byte(packetsMagic + "\x01\x00\x00\x01\x01\x00\x03abc\x00\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newPacketReader(bytes.NewReader(b))
		for n := 0; ; n++ {
			if _, err := r.next(); err != nil {
				return
			}
			if n > len(b) {
				t.Fatal("more packets than bytes")
			}
		}
	})
}

// childEnv holds the input and the output, with a colon between them, of a process that
// TestKilledConversionsGoOn starts.
const childEnv = "RETIME_TEST_CONVERT"

// TestConvertChild is that process: it converts and prints the number of each frame.
func TestConvertChild(t *testing.T) {
	input, output, ok := strings.Cut(os.Getenv(childEnv), "|")
	if !ok {
		t.Skip("only in a process of TestKilledConversionsGoOn")
	}
	o := options(input)
	o.Output.File, o.Output.Format = output, ""
	o.Hooks.Progress = func(at pipeline.Progress) { fmt.Println(at.Frames) }
	if _, err := Convert(context.Background(), o, Options{Length: big.NewRat(1, 2), Program: "test"}); err != nil {
		t.Fatal(err)
	}
}

func TestKilledConversionsGoOn(t *testing.T) {
	input := clip(t)
	o := options(input)
	o.Output.Format = ""
	one := filepath.Join(t.TempDir(), "whole.mkv")
	whole(t, o, one)
	dir := t.TempDir()
	output := filepath.Join(dir, "out.mkv")
	child := func(stop int) {
		c := exec.Command(os.Args[0], "-test.run=^TestConvertChild$")
		c.Env = append(os.Environ(), childEnv+"="+input+"|"+output)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if n, err := strconv.Atoi(lines.Text()); err == nil && n >= stop {
				_ = c.Process.Kill() // the process may have ended
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
		if err := c.Wait(); err != nil && stop > 200 {
			t.Fatal(err)
		}
	}
	for _, stop := range []int{1, 40, 63, 130, 200, 200} {
		child(stop)
		names := left(t, dir)
		if _, err := os.Stat(output); err == nil { // the join was faster than the kill
			if os.Remove(StateDir(output)) == nil { // the directory was empty
				break
			}
			names = slices.DeleteFunc(names, func(name string) bool { return name == filepath.Base(output) })
			if len(names) == 0 {
				break
			}
		}
		if !slices.Equal(names, []string{filepath.Base(StateDir(output))}) {
			t.Fatalf("killed at frame %d: %q are left", stop, names)
		}
	}
	if _, err := os.Stat(StateDir(output)); err == nil {
		child(201)
	}
	if names := left(t, dir); len(names) != 1 || names[0] != "out.mkv" {
		t.Errorf("%q are left, want out.mkv", names)
	}
	if strings.Join(content(t, output), "\n") != strings.Join(content(t, one), "\n") {
		t.Error("the output is not that of one run")
	}
}
