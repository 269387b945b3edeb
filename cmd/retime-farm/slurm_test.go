package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// cluster is a Slurm cluster of two nodes on this machine.
type cluster struct {
	*farm
	environment []string
	nodes       map[string]*process
}

// newCluster starts munged, slurmctld and two slurmd, with all their files in one directory.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("Slurm is not installed; Debian's packages are slurm-wlm and munge")
		}
	}
	if os.Getuid() != 0 {
		t.Skip("slurmd starts tasks only as root")
	}
	f := &farm{t: t, retime: retimeProgram(t), dir: t.TempDir(), state: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.program = filepath.Join(f.state, "retime-farm")
	if err := os.Symlink(self, f.program); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(f.state, name) }
	conf := fmt.Sprintf(`
ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.socket,cred_expire=3
CredType=cred/munge
MpiDefault=none
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/%%n
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
ReturnToService=2
NodeName=n1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=2
NodeName=n2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[5]d CPUs=2
PartitionName=all Nodes=ALL Default=YES
`, host, f.state, freePort(t), freePort(t), freePort(t))
	for name, text := range map[string]string{"slurm.conf": conf, "munge.key": strings.Repeat("0123456789abcdef", 64)} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"state", "n1", "n2"} {
		if err := os.Mkdir(in(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := &cluster{farm: f, environment: []string{"SLURM_CONF=" + in("slurm.conf")}, nodes: map[string]*process{}}
	// --force: users other than root may write to the directories of tests.
	f.start(nil, "munged", "--foreground", "--force", "--key-file", in("munge.key"), "--socket", in("munge.socket"),
		"--pid-file", in("munge.pid"), "--log-file", in("munge.log"), "--seed-file", in("munge.seed"))
	f.until("munged listens", func() bool { _, err := os.Stat(in("munge.socket")); return err == nil })
	f.start(c.environment, "slurmctld", "-D", "-L", in("slurmctld.log"))
	for _, n := range []string{"n1", "n2"} {
		c.nodes[n] = f.start(c.environment, "slurmd", "-D", "-N", n, "-L", in(n+".log"))
	}
	t.Cleanup(c.endTasks)
	for _, n := range []string{"n1", "n2"} {
		for end := 0; !strings.Contains(c.slurm("scontrol", "show", "node", n), "State=IDLE"); end++ {
			if end == 120 {
				log, _ := os.ReadFile(in(n + ".log"))
				t.Skipf("this machine does not let slurmd run: %s", tail(string(log)))
			}
			c.wait()
		}
	}
	return c
}

// wait waits half a second.
func (c *cluster) wait() { _ = exec.Command("sleep", "0.5").Run() }

// slurm runs a Slurm command and returns its output.
func (c *cluster) slurm(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), c.environment...)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// tasks returns the processes of a node's jobs and those that supervise them.
func tasks(node string) (all []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		environment, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(environment, []byte("\x00SLURMD_NODENAME="+node+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			all = append(all, pid)
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			_, rest, _ := bytes.Cut(stat, []byte(") "))
			if fields := bytes.Fields(rest); len(fields) > 1 {
				parent, _ := strconv.Atoi(string(fields[1]))
				if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent)); strings.HasPrefix(string(comm), "slurmstepd") {
					all = append(all, parent)
				}
			}
		}
	}
	return all
}

// powerOff kills a node and everything that runs on it.
func (c *cluster) powerOff(node string) {
	c.nodes[node].kill()
	for _, pid := range tasks(node) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}

func (c *cluster) endTasks() {
	for n := range c.nodes {
		c.powerOff(n)
	}
}

// An array job produces what one machine produces, even if a node dies while it works.
func TestSlurm(t *testing.T) {
	c := newCluster(t)
	c.clip("in.mkv", 60)
	request := append([]string{"slurm", "in.mkv", "-o", "out.mkv", "--retime", c.retime, "--tasks", "4", "--cpus-per-task", "1"}, conversion...)
	p := c.start(c.environment, c.program, request...)
	c.until("a task is at work on n2", func() bool { return len(tasks("n2")) > 0 })
	c.powerOff("n2")
	if code := c.end(p); code != 0 {
		t.Fatalf("exit code %d: %s", code, p.output)
	}
	if text := c.slurm("scontrol", "show", "node", "n2"); !strings.Contains(text, "DOWN") {
		t.Errorf("the node is not dead: %s", text)
	}
	c.left("in.mkv", "out.mkv")
	got := c.contents("out.mkv")
	if err := os.Remove(filepath.Join(c.dir, "out.mkv")); err != nil {
		t.Fatal(err)
	}
	if got != c.oneMachine("in.mkv", conversion...) {
		t.Error("the output is not one machine's")
	}

	// If a clip cannot be decoded to its end, the join refuses, and says why.
	data, err := os.ReadFile(filepath.Join(c.dir, "in.mkv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "in.mkv"), data[:len(data)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	if out, code := c.run(c.environment, request...); code != 65 && code != 75 {
		t.Errorf("exit code %d: %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "out.mkv")); err == nil {
		t.Error("half a clip makes an output")
	}
}
