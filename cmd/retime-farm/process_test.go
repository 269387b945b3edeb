package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"retime/cmd/retime-farm/internal/work"
)

// TestMain acts as retime-farm if started by a link of that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "retime-farm" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// needed returns the path of a program that the environment names or that make has built.
func needed(t *testing.T, variable, built string) string {
	t.Helper()
	name := os.Getenv(variable)
	if name == "" {
		name = filepath.Join("..", "..", built)
	}
	name, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Skipf("%s is not there; make test-farm builds it, and %s names another", name, variable)
	}
	return name
}

func retimeProgram(t *testing.T) string { return needed(t, "RETIME", "bin/retime") }

// stub returns the program that replaces retime.
func stub(t *testing.T) string {
	t.Helper()
	name, err := filepath.Abs("testdata/stub.sh")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// farm is a server, its workers and its submitters.
type farm struct {
	t       *testing.T
	program string // retime-farm
	retime  string
	address string
	dir     string // shared storage, empty at first
	state   string // of the server
	server  *process
}

// process is a running program.
type process struct {
	*exec.Cmd
	output *buffer // both its outputs
	ended  chan struct{}
}

// buffer is a buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newFarm starts a server. Its workers and submitters run the given retime.
func newFarm(t *testing.T, retime string) *farm {
	t.Helper()
	temporal := needed(t, "TEMPORAL", "build/farm/temporal-1.5.1")
	f := &farm{t: t, retime: retime, dir: t.TempDir(), state: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.program = filepath.Join(t.TempDir(), "retime-farm")
	if err := os.Symlink(self, f.program); err != nil {
		t.Fatal(err)
	}
	f.address = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	f.serve(temporal)
	return f
}

// lastPort is the port that freePort tried last. Each process starts at a different one.
var lastPort = 10000 + os.Getpid()%10000

// freePort returns a port on which nothing listens. It is below 32768, where systems take
// connections' own ports from, so that none takes it while the server is down.
func freePort(t *testing.T) int {
	t.Helper()
	for range 10000 {
		lastPort++
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", lastPort))
		if err == nil {
			l.Close()
			return lastPort
		}
	}
	t.Fatal("no port is free")
	return 0
}

// serve starts the server, which continues with its predecessor's state, and returns once it
// answers clients.
func (f *farm) serve(temporal string) {
	f.t.Helper()
	_, port, _ := net.SplitHostPort(f.address)
	f.server = f.start(nil, temporal, "server", "start-dev", "--ip", "127.0.0.1", "--port", port, "--headless",
		"--db-filename", filepath.Join(f.state, "temporal.db"), "--log-level", "error")
	f.until("the server answers", func() bool {
		select {
		case <-f.server.ended:
			f.t.Fatalf("the server ended: %s", f.server.output)
		default:
		}
		c, err := client.Dial(client.Options{HostPort: f.address})
		if err != nil {
			return false
		}
		defer c.Close()
		_, err = c.WorkflowService().DescribeNamespace(f.t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: client.DefaultNamespace})
		return err == nil
	})
}

// start starts a program that ends with the test.
func (f *farm) start(environment []string, name string, args ...string) *process {
	f.t.Helper()
	p := &process{exec.Command(name, args...), &buffer{}, make(chan struct{})}
	p.Dir, p.Stdout, p.Stderr = f.dir, p.output, p.output
	p.Env = append(append(os.Environ(), "TEMPORAL_ADDRESS="+f.address), environment...)
	work.DieWithParent(p.Cmd)
	if err := p.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		_ = p.Wait()
		close(p.ended)
	}()
	f.t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
		if f.t.Failed() {
			f.t.Logf("%s %q:\n%s", filepath.Base(name), args, tail(p.output.String()))
		}
	})
	return p
}

// tail returns the end of a long text.
func tail(text string) string { return text[max(len(text)-3000, 0):] }

// worker starts a worker and returns once it is ready.
func (f *farm) worker(environment []string, flags ...string) *process {
	f.t.Helper()
	args := append([]string{"worker", "--retime", f.retime, "--root", f.dir, "--threads", "1"}, flags...)
	p := f.start(environment, f.program, args...)
	f.until("the worker works", func() bool {
		select {
		case <-p.ended:
			f.t.Fatalf("the worker ended: %s", p.output)
		default:
		}
		return strings.Contains(p.output.String(), " works with retime ")
	})
	return p
}

// run runs a verb of the program to its end.
func (f *farm) run(environment []string, args ...string) (output string, code int) {
	f.t.Helper()
	p := f.start(environment, f.program, args...)
	code = f.end(p)
	return p.output.String(), code
}

// end waits for the end of a program and returns its exit code.
func (f *farm) end(p *process) int {
	f.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(20 * time.Minute):
		f.t.Fatalf("%q does not end: %s", p.Args, p.output)
	}
	return p.ProcessState.ExitCode()
}

// submit returns the arguments of a submission.
func (f *farm) submit(args ...string) []string {
	return append(append([]string{"submit"}, args...), "--retime", f.retime)
}

// until waits for a condition. The limit is only for what never happens: a busy machine may take
// minutes to start a program.
func (f *farm) until(what string, holds func() bool) {
	f.t.Helper()
	for limit := time.Now().Add(15 * time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			f.t.Fatalf("never: %s", what)
		}
	}
}

// jobOf returns the name of a job from submit's output.
func jobOf(p *process) string {
	_, rest, _ := strings.Cut(p.output.String(), "job ")
	name, _, _ := strings.Cut(rest, "\n")
	return name
}

// left fails if the shared directory holds anything but the named files.
func (f *farm) left(names ...string) {
	f.t.Helper()
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		known := false
		for _, n := range names {
			known = known || n == e.Name()
		}
		if !known {
			f.t.Errorf("%s is left", e.Name())
		}
	}
}

// kill kills a process at once, like a power cut.
func (p *process) kill() {
	_ = p.Process.Signal(syscall.SIGKILL)
	<-p.ended
}

// ffmpeg runs ffmpeg in the shared directory.
func (f *farm) ffmpeg(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("ffmpeg", append([]string{"-v", "error", "-y"}, args...)...)
	cmd.Dir = f.dir
	out, err := cmd.Output()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		err = fmt.Errorf("%w: %s", err, e.Stderr)
	}
	if err != nil {
		f.t.Fatalf("ffmpeg %q: %v", args, err)
	}
	return string(out)
}

// contents describes all packets of a file, and all frames of its video and sound.
func (f *farm) contents(name string) string {
	f.t.Helper()
	return f.ffmpeg("-i", name, "-map", "0", "-c", "copy", "-f", "framehash", "-") + f.frames(name)
}

// frames describes all frames of a file's video and sound.
func (f *farm) frames(name string) string {
	f.t.Helper()
	return f.ffmpeg("-i", name, "-map", "0:v", "-map", "0:a?", "-f", "framehash", "-")
}

// clip makes a clip with sound and subtitles.
func (f *farm) clip(name string, seconds int) {
	f.t.Helper()
	var text strings.Builder
	for i := range seconds / 2 {
		at := func(s int) string { return fmt.Sprintf("00:%02d:%02d,000", s/60, s%60) }
		fmt.Fprintf(&text, "%d\n%s --> %s\nline %d\n\n", i+1, at(2*i), at(2*i+1), i+1)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "text.srt"), []byte(text.String()), 0o666); err != nil {
		f.t.Fatal(err)
	}
	length := fmt.Sprint(seconds)
	f.ffmpeg("-f", "lavfi", "-t", length, "-i", "testsrc2=size=96x64:rate=10", "-f", "lavfi", "-t", length, "-i", "sine=frequency=330:sample_rate=16000",
		"-i", "text.srt", "-map", "0", "-map", "1", "-map", "2", "-c:v", "libx264", "-preset", "ultrafast", "-g", "30", "-c:a", "flac", "-c:s", "srt", name)
	if err := os.Remove(filepath.Join(f.dir, "text.srt")); err != nil {
		f.t.Fatal(err)
	}
}

// conversion holds the flags of the tests' conversions: lossless and quick.
var conversion = []string{"--fps", "20", "--preset", "fast", "--vcodec", "ffv1", "--segment-seconds", "3"}

// oneMachine converts input on one machine, both in one run and in parts, and returns the contents
// of the joined parts. It removes the files.
func (f *farm) oneMachine(input string, flags ...string) string {
	f.t.Helper()
	must := func(args ...string) {
		f.t.Helper()
		cmd := exec.Command(f.retime, args...)
		cmd.Dir = f.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			f.t.Fatalf("retime %q: %v\n%s", args, err, out)
		}
	}
	must(append([]string{"plan", input, "-o", "plan.json", "--even"}, flags...)...)
	must("segment", "--plan", "plan.json", "--index", "0", "--stride", "1", "--backend", "cpu")
	must("join", "--plan", "plan.json", "-o", "joined.mkv")
	must(append([]string{input, "-o", "whole.mkv", "--backend", "cpu"}, flags...)...)
	if f.frames("whole.mkv") != f.frames("joined.mkv") {
		f.t.Error("on one machine, the parts differ from one run")
	}
	want := f.contents("joined.mkv")
	for _, name := range []string{"plan.json", "plan.segments", "joined.mkv", "whole.mkv"} {
		if err := os.RemoveAll(filepath.Join(f.dir, name)); err != nil {
			f.t.Fatal(err)
		}
	}
	return want
}

// copyFile copies a file into the shared directory.
func (f *farm) copyFile(from, name string) {
	f.t.Helper()
	in, err := os.Open(from)
	if err != nil {
		f.t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(f.dir, name))
	if err == nil {
		_, err = io.Copy(out, in)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		f.t.Fatal(err)
	}
}
