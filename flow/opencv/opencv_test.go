//go:build !noopencv

package opencv

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Build marks the instructions that a processor lacks. A second process tells OpenCV to
// do without some of them.
func TestBuild(t *testing.T) {
	const env = "RETIME_TEST_BUILD"
	build := Build()
	features := build[strings.LastIndexByte(build, '\n')+1:]
	if os.Getenv(env) != "" {
		t.Log(features)
		return
	}
	if !strings.Contains(build, Version()) {
		t.Errorf("no version %s in %q", Version(), build)
	}
	chosen := "" // by OpenCV in this process
	for _, f := range strings.Fields(features) {
		if name, ok := strings.CutPrefix(f, "*"); ok && !strings.HasSuffix(name, "?") {
			chosen = name
		}
	}
	if chosen == "" {
		t.Skipf("this OpenCV chooses no instructions here: %s", features)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBuild$", "-test.v")
	cmd.Env = append(os.Environ(), env+"=1", "OPENCV_CPU_DISABLE="+chosen)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "*"+chosen+"?") {
		t.Errorf("without %s: %v:\n%s", chosen, err, out)
	}
}
