package main_test

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"retime/pipeline"
	"retime/testdata/scene"
)

const root = "../.."

// run runs a command, and returns what it prints.
func run(t *testing.T, c *exec.Cmd) []byte {
	t.Helper()
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, &said)
	}
	return out
}

// library is what make libretime builds.
type library struct {
	dir   string   // where the file is
	flags []string // what a program that links it is compiled with
}

var makeLibrary = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("make", "-C", root, "--no-print-directory", "libretime").CombinedOutput()
})

func buildLibrary(t *testing.T) library {
	t.Helper()
	if out, err := makeLibrary(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir, err := filepath.Abs(root + "/build/libretime/lib")
	if err != nil {
		t.Fatal(err)
	}
	flags := exec.Command("pkg-config", "--cflags", "--libs", "libretime")
	flags.Env = append(os.Environ(), "PKG_CONFIG_PATH="+dir+"/pkgconfig")
	return library{dir, strings.Fields(string(run(t, flags)))}
}

// host compiles a program of testdata/libretime with further flags, and returns its file.
func (l library) host(t *testing.T, name string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	args := append([]string{root + "/testdata/libretime/" + name + ".c", "-Wall", "-Wextra", "-Werror", "-std=c99", "-o", out}, l.flags...)
	run(t, exec.Command("gcc", append(args, flags...)...))
	return out
}

// command starts a program where it finds the library.
func (l library) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+l.dir)
	return c
}

// copyLibrary copies the library under another name, and so makes it another one.
func (l library) copyLibrary(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(l.dir + "/libretime.so.0")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "libother.so")
	if err := os.WriteFile(name, data, 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// The example doubles a file with the samples of the program, whichever way it asks for the frames
// and with however many threads; the library needs the C library alone, and shows no other symbols
// than its own. Exact.
func TestLibrary(t *testing.T) {
	l := buildLibrary(t)
	needs := run(t, exec.Command("objdump", "-p", l.dir+"/libretime.so.0"))
	for _, m := range regexp.MustCompile(`NEEDED +(\S+)`).FindAllSubmatch(needs, -1) {
		if !strings.HasPrefix(string(m[1]), "libc.") && !strings.HasPrefix(string(m[1]), "ld-linux") {
			t.Errorf("the library needs %s", m[1])
		}
	}
	for line := range strings.Lines(string(run(t, exec.Command("nm", "-D", "--defined-only", l.dir+"/libretime.so.0")))) {
		if !strings.Contains(line, " T retime_") {
			t.Errorf("the library shows %s", line)
		}
	}

	in := filepath.Join(t.TempDir(), "in.y4m")
	if err := scene.CreateCutY4M(in, 150, 86, 10); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.yuv")
	if _, err := pipeline.Run(t.Context(), pipeline.Options{
		Input:  pipeline.Input{File: in},
		Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}},
		Output: pipeline.Output{File: out, Format: "rawvideo", VideoCodec: "rawvideo", NoVerify: true},
	}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	size := 150*86 + 2*75*43
	double := l.host(t, "double")
	for _, way := range []string{"push", "random"} {
		for _, threads := range []int{1, 2, 7} {
			c := l.command(double, way, fmt.Sprint(threads))
			if c.Stdin, err = os.Open(in); err != nil {
				t.Fatal(err)
			}
			_, got, _ := bytes.Cut(run(t, c), []byte("\n"))
			var samples []byte
			for len(got) >= size+6 {
				samples, got = append(samples, got[6:size+6]...), got[size+6:]
			}
			if !bytes.Equal(samples, want) {
				t.Errorf("%s, %d threads: the frames are not the program's (%d bytes, want %d)", way, threads, len(samples), len(want))
			}
		}
	}

	c := l.command(double, "cuda", "1")
	if c.Stdin, err = os.Open(in); err != nil {
		t.Fatal(err)
	}
	if out, err := c.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("built without CUDA")) {
		t.Errorf("a device in a library without kernels: %v\n%s", err, out)
	}
}

// Handles that are opened, used and closed a thousand times leave no memory, wrong calls are refused,
// and signals stay the host's; the same beside a second library with a Go runtime.
func TestHosts(t *testing.T) {
	l := buildLibrary(t)
	run(t, l.command(l.host(t, "faults"), "1000", "flat"))
	run(t, l.command(l.host(t, "two", "-ldl", "-pthread"), l.dir+"/libretime.so.0", l.copyLibrary(t)))
}

// Hosts under the sanitizers of addresses, leaks and threads have nothing to say about the library.
// ThreadSanitizer alone is told not to look at the C library's functions as the library calls them: it
// does not see by what Go's threads wait for each other. Go's race detector does, in the tests of
// package interpolate.
func TestSanitizedHosts(t *testing.T) {
	l := buildLibrary(t)
	suppressions := filepath.Join(t.TempDir(), "suppressions")
	if err := os.WriteFile(suppressions, []byte("called_from_lib:libretime.so\ncalled_from_lib:libother.so\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(t.TempDir(), "in.y4m")
	if err := scene.CreateCutY4M(in, 150, 86, 6); err != nil {
		t.Fatal(err)
	}
	for _, sanitizer := range []string{"address", "thread"} {
		t.Run(sanitizer, func(t *testing.T) {
			flags := []string{"-g", "-fsanitize=" + sanitizer}
			run := func(c *exec.Cmd) {
				c.Env = append(c.Env, "TSAN_OPTIONS=suppressions="+suppressions)
				out, err := c.CombinedOutput()
				if bytes.Contains(out, []byte("unexpected memory mapping")) || bytes.Contains(out, []byte("interleaves with an existing memory mapping")) {
					t.Skip("GCC's sanitizer does not know where this kernel lays memory")
				}
				if err != nil {
					t.Errorf("%s: %v\n%s", c, err, out[:min(len(out), 4000)])
				}
			}
			run(l.command(l.host(t, "faults", flags...), "50"))
			run(l.command(l.host(t, "two", append(flags, "-ldl", "-pthread")...), l.dir+"/libretime.so.0", l.copyLibrary(t)))
			double := l.host(t, "double", flags...)
			for _, way := range []string{"push", "random"} {
				c := l.command(double, way, "3")
				var err error
				if c.Stdin, err = os.Open(in); err != nil {
					t.Fatal(err)
				}
				run(c)
			}
		})
	}
}
