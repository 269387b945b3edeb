package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"retime/pipeline/fault"
	"retime/testdata/posix"
)

// A signal ends the program, and it leaves nothing behind, although FFmpeg waits for a pipe that
// gives no data, or takes none.
func TestSignalsWhileBlocked(t *testing.T) {
	in := clip(t, 64, 48, 48)
	text, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	for i, args := range []string{
		"fifo -o out.mkv --sidecar side --write-scenes scenes", "fifo -o pictures/%d.png",
		"evaluate fifo --report report", "debug fifo --at 1.5 -o why", "batch jobs.yaml", "/dev/stdin -o out.mkv", in + " -o fifo -f nut",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, d := range []string{"pictures", "tmp"} {
				if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := posix.Mkfifo(t, filepath.Join(dir, "fifo"), 0o666); err != nil {
				t.Fatal(err)
			}
			pipe, err := os.OpenFile(filepath.Join(dir, "fifo"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer pipe.Close()
			write(t, filepath.Join(dir, "jobs.yaml"), "clips:\n  - input: fifo\n    output: out.mkv\n")
			before := tree(t, dir)
			cmd := program(strings.Fields(args)...)
			cmd.Dir, cmd.Env, cmd.Stdin = dir, append(cmd.Env, "TMPDIR="+filepath.Join(dir, "tmp")), pipe
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// The program is at work once a pipe has taken more than it holds, or has given something.
			_ = pipe.SetDeadline(time.Now().Add(time.Minute))
			if strings.Contains(args, "-o fifo") {
				_, err = pipe.Read(make([]byte, 1))
			} else {
				_, err = pipe.Write(text[:1<<16+1+i%2*len(text)/4])
			}
			if err != nil {
				t.Error(err)
			}
			end := []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}[i%3]
			if signal.Ignored(end) { // under nohup
				end = syscall.SIGTERM
			}
			_ = cmd.Process.Signal(end)
			if code := ends(t, cmd); code != int(fault.Cancelled) {
				t.Errorf("exit code %d", code)
			}
			os.RemoveAll(filepath.Join(dir, "jobs.retime")) // the state of a batch stays
			if after := tree(t, dir); after != before {
				t.Errorf("%s were there, and now %s", before, after)
			}
		})
	}
}

// tree lists what is below a directory.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		names = append(names, strings.TrimPrefix(name, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}
