package opencv

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Build tells a processor without some instructions from this one: so OpenCV is told
// in a second process.
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
	chosen := "" // in this process
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
