package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/retime-farm/internal/job"
)

// kubernetesOptions holds the flags of kubernetes.
type kubernetesOptions struct {
	planned
	name, image, claim, mount string
	cpus                      int
	deadline                  time.Duration
}

func newKubernetesCommand() *cobra.Command {
	var o kubernetesOptions
	cmd := &cobra.Command{
		Use:   "kubernetes INPUT -o OUTPUT --image IMAGE --claim CLAIM --mount DIR [flags of a conversion]",
		Short: "Print Jobs of Kubernetes that convert a clip",
		Long: `kubernetes plans a conversion here and prints, as JSON, an Indexed Job that makes the
segments and a Job that joins them while they arrive. It needs no Temporal server. All
flags but those below go to retime plan. The input and the output lie in DIR, which
the claim holds on every node.`,
		Example: `  retime-farm kubernetes /media/in.mp4 -o /media/out.mp4 --fps 60 \
    --image registry/retime --claim media --mount /media | kubectl apply -f -`,
	}
	return o.command(cmd, func(f *pflag.FlagSet) {
		f.StringVar(&o.name, "name", "retime", "name of the Jobs")
		f.StringVar(&o.image, "image", "", "image with retime of this version in its PATH")
		f.StringVar(&o.claim, "claim", "", "PersistentVolumeClaim of the shared storage")
		f.StringVar(&o.mount, "mount", "", "directory where this machine and every pod mount it")
		f.IntVar(&o.cpus, "cpus", 4, "processors of a pod")
		f.DurationVar(&o.deadline, "deadline", 24*time.Hour, "time after which the join gives up")
	}, func(_ context.Context, _ string, c job.Clip, ranges int) error {
		return o.print(cmd.OutOrStdout(), c, ranges)
	})
}

// object is a JSON object.
type object = map[string]any

// print prints the Jobs.
func (o *kubernetesOptions) print(w io.Writer, c job.Clip, ranges int) error {
	if o.image == "" || o.claim == "" || !filepath.IsAbs(o.mount) {
		return &exit{2, errors.New("want --image, --claim, and --mount with an absolute name")}
	}
	tasks := min(o.tasks, ranges)
	segment := fmt.Sprintf("exec retime segment --plan %s --index $JOB_COMPLETION_INDEX --stride %d --threads %d -q", quote(c.Plan()), tasks, o.cpus)
	how := "-nT"
	if c.Overwrite {
		how = "-fT"
	}
	join := fmt.Sprintf("retime join --wait --plan %[1]s -o %[2]s -y -q && retime verify --plan %[1]s --sample %[3]d -q && mv %[4]s %[2]s %[5]s && ! test -e %[2]s && rm -r %[6]s",
		quote(c.Plan()), quote(c.Joined()), o.sample, how, quote(c.Output), quote(c.Work()))
	wrong := object{"action": "FailJob", "onExitCodes": object{"operator": "In", "values": []int{2, 65, 66}}}
	moved := object{"action": "Ignore", "onPodConditions": []object{{"type": "DisruptionTarget", "status": "True"}}}
	array := object{
		"completionMode": "Indexed", "completions": tasks, "parallelism": tasks,
		"backoffLimitPerIndex": 10, "maxFailedIndexes": 0,
		"podFailurePolicy": object{"rules": []object{wrong, moved}},
		"template":         o.pod(segment, o.cpus),
	}
	joining := object{
		"backoffLimit": 10, "activeDeadlineSeconds": int(o.deadline.Seconds()),
		"podFailurePolicy": object{"rules": []object{wrong, moved}},
		"template":         o.pod(join, 1),
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(object{"apiVersion": "v1", "kind": "List", "items": []object{o.job(o.name, array), o.job(o.name+"-join", joining)}})
}

func (o *kubernetesOptions) job(name string, spec object) object {
	return object{"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": name}, "spec": spec}
}

// pod returns a pod that runs a shell command line.
func (o *kubernetesOptions) pod(line string, cpus int) object {
	return object{"spec": object{
		"restartPolicy": "Never",
		"containers": []object{{
			"name": "retime", "image": o.image, "command": []string{"sh", "-c", line},
			"resources":    object{"requests": object{"cpu": strconv.Itoa(cpus)}},
			"volumeMounts": []object{{"name": "shared", "mountPath": o.mount}},
		}},
		"volumes": []object{{"name": "shared", "persistentVolumeClaim": object{"claimName": o.claim}}},
	}}
}

// quote quotes a word for the shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
