package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// The Jobs use only fields of the published types, with values that Kubernetes accepts in
// combination. Their commands, run here, produce what one machine produces.
func TestKubernetes(t *testing.T) {
	f := &farm{t: t, retime: retimeProgram(t), dir: t.TempDir()}
	f.clip("it's a clip.mkv", 12)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	for name, to := range map[string]string{"retime-farm": self, "retime": f.retime} {
		if err := os.Symlink(to, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(environment []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = f.dir
		cmd.Env = append(append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH")), environment...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, &stderr)
		}
		return string(out)
	}
	text := run(nil, filepath.Join(programs, "retime-farm"), append([]string{"kubernetes", "it's a clip.mkv", "-o", "out put.mkv",
		"--retime", f.retime, "--tasks", "3", "--image", "registry/retime:1", "--claim", "media", "--mount", f.dir}, conversion...)...)
	var list struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Items      []batch.Job
	}
	strict := json.NewDecoder(strings.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&list); err != nil || len(list.Items) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	for _, job := range list.Items {
		pod := job.Spec.Template.Spec
		if job.APIVersion != "batch/v1" || job.Kind != "Job" || pod.RestartPolicy != core.RestartPolicyNever {
			t.Errorf("%s: %s %s, %s", job.Name, job.APIVersion, job.Kind, pod.RestartPolicy)
		}
		for _, rule := range job.Spec.PodFailurePolicy.Rules {
			if on := rule.OnExitCodes; on != nil && (!slices.IsSorted(on.Values) || on.Values[0] < 1 || rule.Action != batch.PodFailurePolicyActionFailJob) {
				t.Errorf("%s: %v", job.Name, rule)
			}
		}
		if pod.Containers[0].VolumeMounts[0].Name != pod.Volumes[0].Name {
			t.Errorf("%s: the mount is of no volume", job.Name)
		}
	}
	array := list.Items[0].Spec
	if *array.CompletionMode != batch.IndexedCompletion || *array.Completions != 3 || *array.BackoffLimitPerIndex < 1 || *array.MaxFailedIndexes != 0 {
		t.Errorf("%+v", array)
	}
	for i := range *array.Completions {
		line := array.Template.Spec.Containers[0].Command
		run([]string{"JOB_COMPLETION_INDEX=" + strconv.Itoa(int(i))}, line[0], line[1:]...)
	}
	line := list.Items[1].Spec.Template.Spec.Containers[0].Command
	run(nil, line[0], line[1:]...)
	f.left("it's a clip.mkv", "out put.mkv")
	if got := f.contents("out put.mkv"); got != f.oneMachine("it's a clip.mkv", conversion...) {
		t.Error("the output is not one machine's")
	}
}
