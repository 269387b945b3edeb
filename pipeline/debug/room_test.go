package debug

import (
	"context"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/testdata/posix"
)

// roomEnv is set in a process that may write short files only.
const roomEnv = "RETIME_TEST_SHORT_FILES"

// A write that fails in the middle of a file, as on a full disk, leaves no file cut.
func TestWithoutRoom(t *testing.T) {
	if os.Getenv(roomEnv) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWithoutRoom$")
		cmd.Env = append(os.Environ(), roomEnv+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	o := pipeline.Options{Input: pipeline.Input{File: clip(t)}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}}
	d, err := Dissect(context.Background(), o, big.NewRat(25, 100))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	const room = 1000 // bytes, less than a picture has
	if err := posix.LimitFiles(t, room); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "why")
	if err := Write(dir, d, false); fault.KindOf(err) != fault.CannotWrite {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v", left, err)
	}
}
