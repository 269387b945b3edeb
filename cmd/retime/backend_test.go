package main

import (
	"os/exec"
	"strings"
	"testing"

	"retime/cuda"
	"retime/flow/opencv"
	"retime/frame/simd"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media/exr"
)

func TestInfo(t *testing.T) {
	stdout, stderr, code := run(t, "info")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	wants := []string{"retime ", "FFmpeg ", "ffv1", "CUDA: ", "vector instructions " + simd.Chosen().String()}
	modules := map[string]string{"libavcodec": "libavcodec", "libavformat": "libavformat"}
	if opencv.Version() != "" {
		modules["opencv4"] = "OpenCV"
	} else {
		wants = append(wants, "OpenCV: not in this build")
	}
	if exr.Version() != "" {
		modules["OpenEXR"] = "OpenEXR"
	} else {
		wants = append(wants, "OpenEXR: not in this build")
	}
	for module, name := range modules {
		version, err := exec.Command("pkg-config", "--modversion", module).Output()
		if err != nil {
			t.Fatal(err)
		}
		wants = append(wants, name+" "+strings.TrimSpace(string(version)))
	}
	for _, want := range wants {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is missing in\n%s", want, stdout)
		}
	}
	if _, _, code := run(t, "info", "more"); code != int(fault.Usage) {
		t.Errorf("an argument: exit code %d", code)
	}
}

// Without a device, auto chooses the CPU and says why with -v; cuda is an error.
func TestBackendWithoutDevice(t *testing.T) {
	if n, _, _ := cuda.Probe(); n > 0 {
		t.Skip("a device answers")
	}
	in, out := clip(t, 64, 48, 3), t.TempDir()+"/out.nut"
	stdout, stderr, code := run(t, in, "-o", out, "--fps", "48", "--vcodec", "rawvideo", "--backend", "cuda")
	if code != int(fault.TryAgain) || !strings.Contains(stderr, "--backend cpu") {
		t.Errorf("cuda: exit code %d, %s%s", code, stdout, stderr)
	}
	for _, backend := range []pipeline.Backend{pipeline.Auto, pipeline.CPU} {
		stdout, stderr, code = run(t, in, "-o", out, "--fps", "48", "--vcodec", "rawvideo", "--backend", string(backend), "-y", "-v")
		if code != 0 || !strings.Contains(stdout, "on the CPU") || strings.Contains(stdout, "\nno GPU: ") != (backend == pipeline.Auto) {
			t.Errorf("%s: exit code %d, %s%s", backend, code, stdout, stderr)
		}
	}
}
