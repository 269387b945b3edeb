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

// The example doubles a file with the samples of the program, whichever way it asks for the frames
// and with however many threads; wrong calls are refused, and signals stay the host's; and the library
// needs the C library alone. Exact.
func TestLibrary(t *testing.T) {
	run(t, exec.Command("make", "-C", root, "--no-print-directory", "libretime"))
	lib, err := filepath.Abs(root + "/build/libretime/lib")
	if err != nil {
		t.Fatal(err)
	}
	needs := run(t, exec.Command("objdump", "-p", lib+"/libretime.so.0"))
	for _, m := range regexp.MustCompile(`NEEDED +(\S+)`).FindAllSubmatch(needs, -1) {
		if !strings.HasPrefix(string(m[1]), "libc.") && !strings.HasPrefix(string(m[1]), "ld-linux") {
			t.Errorf("the library needs %s", m[1])
		}
	}

	flags := exec.Command("pkg-config", "--cflags", "--libs", "libretime")
	flags.Env = append(os.Environ(), "PKG_CONFIG_PATH="+lib+"/pkgconfig")
	build := strings.Fields(string(run(t, flags)))
	dir := t.TempDir()
	program := func(name string, args ...string) *exec.Cmd {
		if _, err := os.Stat(dir + "/" + name); err != nil {
			source := root + "/testdata/libretime/" + name + ".c"
			run(t, exec.Command("gcc", append([]string{source, "-Wall", "-Wextra", "-Werror", "-std=c99", "-o", dir + "/" + name}, build...)...))
		}
		c := exec.Command(dir+"/"+name, args...)
		c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib)
		return c
	}
	run(t, program("faults"))

	in := dir + "/in.y4m"
	if err := scene.CreateCutY4M(in, 150, 86, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Run(t.Context(), pipeline.Options{
		Input:  pipeline.Input{File: in},
		Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}},
		Output: pipeline.Output{File: dir + "/out.yuv", Format: "rawvideo", VideoCodec: "rawvideo", NoVerify: true},
	}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(dir + "/out.yuv")
	if err != nil {
		t.Fatal(err)
	}
	size := 150*86 + 2*75*43
	for _, way := range []string{"push", "random"} {
		for _, threads := range []int{1, 2, 7} {
			c := program("double", way, fmt.Sprint(threads))
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
}
