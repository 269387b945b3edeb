package main

import (
	"strings"
	"syscall"
	"testing"
)

// A job waits while the disk is full, says so, and continues once there is room.
func TestFullDisk(t *testing.T) {
	f := newFarm(t, retimeProgram(t))
	if err := syscall.Mount("tmpfs", f.dir, "tmpfs", 0, "size=300k"); err != nil {
		t.Skipf("mounting a file system: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(f.dir, syscall.MNT_DETACH) })
	f.worker(nil)
	f.ffmpeg("-f", "lavfi", "-t", "6", "-i", "testsrc2=size=96x64:rate=10", "-c:v", "libx264", "in.mkv")
	p := f.start(nil, f.program, f.submit(append([]string{"in.mkv", "-o", "out.mkv"}, conversion...)...)...)
	f.until("the job says that the disk is full", func() bool {
		out, _ := f.run(nil, "status", jobOf(p))
		return strings.Contains(out, "no space left on device")
	})
	if err := syscall.Mount("tmpfs", f.dir, "tmpfs", syscall.MS_REMOUNT, "size=100m"); err != nil {
		t.Fatal(err)
	}
	if code := f.end(p); code != 0 {
		t.Fatalf("exit code %d: %s", code, p.output)
	}
	f.left("in.mkv", "out.mkv")
	got := f.contents("out.mkv")
	if got != f.oneMachine("in.mkv", conversion...) {
		t.Error("the output is not one machine's")
	}
}
