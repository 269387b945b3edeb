package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"retime/cmd/retime-farm/internal/job"
)

// segmentsEnv sets the number of segments of TestManySegments.
const segmentsEnv = "RETIME_FARM_SEGMENTS"

// TestManySegments measures the cost of the engine itself: the programs only sleep, each for one
// segment, in 100 slots.
func TestManySegments(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(segmentsEnv))
	if err != nil {
		t.Skipf("takes minutes; %s=10000 runs it", segmentsEnv)
	}
	const slots, sleep = 100, 2
	f := newFarm(t, stub(t))
	w := f.worker([]string{"STUB_RANGES=" + strconv.Itoa(n), "STUB_SECONDS=" + strconv.Itoa(sleep)}, "--slots", strconv.Itoa(slots))
	request := f.submit("in.mkv", "-o", "out.mkv", "--share", "0s")
	p := f.start(nil, f.program, request...)
	began := time.Now()
	<-p.ended
	took := time.Since(began)
	if code := f.end(p); code != 0 {
		t.Fatalf("exit code %d: %s", code, p.output)
	}
	lost := (took.Seconds()*slots - float64(n*sleep)) / float64(n)
	fmt.Printf("%d segments of %d s in %d slots: %v; a slot lost %.0f ms a segment\n", n, sleep, slots, took.Round(time.Second), 1000*lost)
	fmt.Printf("state %.1f MB; server %s, %.1f ms of processor time a segment; worker %s, %.1f ms\n",
		f.stateSize(), peak(f.server), 1000*processor(f.server)/float64(n), peak(w), 1000*processor(w)/float64(n))
	f.histories(jobOf(p))
}

// stateSize returns the size of the server's state in MB.
func (f *farm) stateSize() (size float64) {
	names, _ := filepath.Glob(filepath.Join(f.state, "*"))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			size += float64(info.Size()) / 1e6
		}
	}
	return size
}

var peakLine = regexp.MustCompile(`VmHWM:\s*(.*)`)

// peak returns the peak memory of a process.
func peak(p *process) string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if m := peakLine.FindSubmatch(status); m != nil {
		return string(m[1])
	}
	return "ended"
}

// processor returns the processor time, in seconds, of a running process and its children that have
// ended.
func processor(p *process) (seconds float64) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	for i := 11; i < min(15, len(fields)); i++ {
		ticks, _ := strconv.ParseFloat(fields[i], 64)
		seconds += ticks / 100 // Linux counts 100 ticks a second
	}
	return seconds
}

// roundsEnv sets the number of rounds of TestOverhead.
const roundsEnv = "RETIME_FARM_ROUNDS"

// TestOverhead alternates between the farm on one machine and one run of retime, on a clip of a
// minute in 20 segments, and compares their times. It prints what the farm did when.
func TestOverhead(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv(roundsEnv))
	if err != nil {
		t.Skipf("takes minutes; %s=5 runs it", roundsEnv)
	}
	f := newFarm(t, retimeProgram(t))
	threads := strconv.Itoa(runtime.NumCPU())
	w := f.worker(nil, "--threads", threads)
	f.minute("in.mp4")
	flags := []string{"in.mp4", "-o", "out.mp4", "-y", "--fps", "48", "-q"}
	if os.Getenv(clipEnv) != "" {
		flags = append(flags, "--preset", "fast")
	}
	for range rounds {
		began := time.Now()
		one := f.start(nil, f.retime, append(flags, "--threads", threads, "--backend", "cpu")...)
		if code := f.end(one); code != 0 {
			t.Fatalf("exit code %d: %s", code, one.output)
		}
		alone, cost := time.Since(began), (one.ProcessState.UserTime() + one.ProcessState.SystemTime()).Seconds()
		before := []float64{processor(w), processor(f.server)}
		began = time.Now()
		p := f.start(nil, f.program, f.submit(append(flags, "--segment-seconds", "3")...)...)
		if code := f.end(p); code != 0 {
			t.Fatalf("exit code %d: %s", code, p.output)
		}
		farmed := time.Since(began)
		work, server := processor(w)-before[0], processor(f.server)-before[1]
		submit := (p.ProcessState.UserTime() + p.ProcessState.SystemTime()).Seconds()
		line, _ := f.run(nil, "logs", jobOf(p))
		fmt.Print(line)
		fmt.Printf("one run %.1f s, %.1f s of processor time; farm %.1f s, retime and worker %.1f s, server %.1f s, submit %.1f s; ratios %.3f, %.3f\n",
			alone.Seconds(), cost, farmed.Seconds(), work, server, submit, farmed.Seconds()/alone.Seconds(), (work+server+submit)/cost)
	}
}

// clipEnv names a clip; TestOverhead converts a minute of it, at the preset fast, instead of a
// small generated one at the default preset.
const clipEnv = "RETIME_FARM_CLIP"

// minute makes a minute of the clip that clipEnv names, looped, or of a test pattern of 320x180
// pixels.
func (f *farm) minute(name string) {
	f.t.Helper()
	input := []string{"-f", "lavfi", "-t", "60", "-i", "testsrc2=size=320x180:rate=24", "-f", "lavfi", "-t", "60", "-i", "sine"}
	if clip := os.Getenv(clipEnv); clip != "" {
		clip, err := filepath.Abs(clip)
		if err != nil {
			f.t.Fatal(err)
		}
		input = []string{"-stream_loop", "-1", "-i", clip}
	}
	f.ffmpeg(append(input, "-t", "60", "-c:v", "libx264", "-c:a", "aac", name)...)
}

// histories prints the length and the size of the history of every run of a job with one clip.
func (f *farm) histories(id string) {
	f.t.Helper()
	t, err := client.Dial(client.Options{HostPort: f.address})
	if err != nil {
		f.t.Fatal(err)
	}
	defer t.Close()
	report := job.Report{}
	if err := t.GetWorkflow(context.Background(), id, "").Get(context.Background(), &report); err != nil {
		f.t.Fatal(err)
	}
	make := job.MakeID(report.Clips[0].ID)
	d, err := t.DescribeWorkflowExecution(context.Background(), make, "")
	if err != nil {
		f.t.Fatal(err)
	}
	for run := d.GetWorkflowExecutionInfo().GetFirstRunId(); run != ""; {
		events := t.GetWorkflowHistory(context.Background(), make, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		n, bytes := 0, 0
		run = ""
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				f.t.Fatal(err)
			}
			n, bytes = n+1, bytes+e.Size()
			run = e.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		}
		if n >= 10000 {
			f.t.Errorf("a history of %d events", n)
		}
		fmt.Printf("history: %d events, %.1f MB\n", n, float64(bytes)/1e6)
	}
}
