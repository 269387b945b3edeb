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

// commands returns a function that runs programs in the shared directory, with retime-farm and
// retime in PATH, and returns what they print.
func (f *farm) commands() func(environment []string, name string, args ...string) string {
	t := f.t
	t.Helper()
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
	return func(environment []string, name string, args ...string) string {
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
}

// jobsOf returns a command of sh that prints the Jobs for a clip.
func (f *farm) jobsOf(input, output string) string {
	words := append([]string{"retime-farm", "kubernetes", input, "-o", output,
		"--retime", f.retime, "--tasks", "3", "--image", "registry/retime:1", "--claim", "media", "--mount", f.dir}, conversion...)
	for i := range words {
		words[i] = quote(words[i])
	}
	return strings.Join(words, " ")
}

// kubectlEnv names a kubectl that reaches a cluster.
const kubectlEnv = "RETIME_FARM_KUBECTL"

// An API server of Kubernetes takes the Jobs, and refuses them with a policy that it does not
// take together with the rest. It makes none of them: this is a dry run.
func TestKubernetesServer(t *testing.T) {
	kubectl := os.Getenv(kubectlEnv)
	if kubectl == "" {
		t.Skipf("needs a cluster; %s=kubectl runs it", kubectlEnv)
	}
	f := &farm{t: t, retime: retimeProgram(t), dir: t.TempDir()}
	f.clip("in.mkv", 12)
	run := f.commands()
	const tell = " 2>&1 || echo refused"
	apply := " | " + quote(kubectl) + " apply --dry-run=server --validate=strict -f -" + tell
	jobs := f.jobsOf("in.mkv", "out.mkv")
	const both = "job.batch/retime created (server dry run)\njob.batch/retime-join created (server dry run)\n"
	if said := run(nil, "sh", "-c", jobs+apply); said != both {
		t.Errorf("the server says\n%s", said)
	}
	for _, change := range []string{
		`s/"restartPolicy": "Never"/"restartPolicy": "OnFailure"/`,
		`s/"backoffLimitPerIndex"/"backoffLimitPerIndexes"/`,
		`s/"action": "FailJob"/"action": "Fail"/`,
		`s/"completionMode": "Indexed"/"completionMode": "NonIndexed"/`,
	} {
		if said := run(nil, "sh", "-c", jobs+" | sed "+quote(change)+apply); !strings.Contains(said, "refused") {
			t.Errorf("%s: the server says\n%s", change, said)
		}
	}
}

// The Jobs have fields of the published types only, and values that Kubernetes takes
// together. Their commands, run here, make what one machine makes.
func TestKubernetes(t *testing.T) {
	f := &farm{t: t, retime: retimeProgram(t), dir: t.TempDir()}
	f.clip("it's a clip.mkv", 12)
	run := f.commands()
	text := run(nil, "sh", "-c", f.jobsOf("it's a clip.mkv", "out put.mkv"))
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
