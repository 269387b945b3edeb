// Package job holds what submitters and workers of the farm agree on: the requests, the
// workflows that carry them out, and the names of both. A workflow decides and records;
// whatever reads or writes a file is an activity, in package work.
package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"time"
)

// Clip asks for the conversion of one clip. All names are on storage that every worker sees under
// the same path.
type Clip struct {
	Input     string   `json:"input"`     // as the user gave it, for messages
	Output    string   `json:"output"`    // absolute
	Dir       string   `json:"dir"`       // absolute; relative names in Arguments start from here
	Arguments []string `json:"arguments"` // for retime plan: the input and the flags of the conversion
	Format    string   `json:"format,omitempty"`
	Overwrite bool     `json:"overwrite,omitempty"`
	// Before holds the input's mark if an earlier run of the batch converted the clip. If the
	// output exists and the input has not changed, the clip is done.
	Before *Mark `json:"before,omitempty"`
}

// Mark identifies a version of a file.
type Mark struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// Settings say how the farm works on a batch.
type Settings struct {
	Queue     string        `json:"queue"`     // name of the task queue that all workers with one version of retime share
	GPU       bool          `json:"gpu"`       // make frames on the workers' GPUs
	Parallel  int           `json:"parallel"`  // clips converted at the same time
	Sample    int           `json:"sample"`    // frames of each clip to make again and compare, or Thousandth
	Stall     time.Duration `json:"stall"`     // a segment that finishes no frame for this long is made elsewhere
	Heartbeat time.Duration `json:"heartbeat"` // a worker that is silent for this long is dead
	Share     time.Duration `json:"share"`     // how long a worker should take for a share
}

// Thousandth requests a sample of one frame in a thousand, at least one and at most 16.
const Thousandth = math.MinInt32

// Sample returns the number of frames of a clip to make again and compare.
func Sample(wanted int, frames int64) int {
	if wanted == Thousandth {
		return int(min(max((frames+999)/1000, 1), 16))
	}
	return wanted
}

// Batch is the input of the workflow Batch.
type Batch struct {
	Clips    []Clip   `json:"clips"`
	Settings Settings `json:"settings"`
}

// MaxClips bounds a batch, so that its history stays below 10,000 events.
const MaxClips = 500

// Planned is what the farm needs to know about a clip's plan.
type Planned struct {
	ID     string `json:"id"` // hash of the plan and the output's name
	Ranges int    `json:"ranges"`
	Frames int64  `json:"frames"`
	Mark   Mark   `json:"mark"` // of the input
	Done   bool   `json:"done"` // an earlier run made the output, so no plan was made
	// Slots counts the slots of each worker that recently asked for such work, by name.
	Slots map[string]int `json:"slots,omitempty"`
}

// Conversion is the input of the workflow Convert: a clip with its plan.
type Conversion struct {
	Clip     Clip     `json:"clip"`
	Planned  Planned  `json:"planned"`
	Settings Settings `json:"settings"`
}

// State is the state of a clip.
type State string

// The states of a clip.
const (
	Pending    State = "pending"
	Planning   State = "planning"
	Converting State = "converting"
	Done       State = "done"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
)

// ClipReport describes how far a clip is.
type ClipReport struct {
	Input  string `json:"input"`
	Output string `json:"output"`
	State  State  `json:"state"`
	ID     string `json:"id,omitempty"` // of the workflow that converts the clip
	Frames int64  `json:"frames,omitempty"`
	Ranges int    `json:"ranges,omitempty"`
	Made   int    `json:"made"` // number of finished ranges
	Error  string `json:"error,omitempty"`
	Code   int    `json:"code,omitempty"` // retime's exit code if the clip failed
	Mark   *Mark  `json:"mark,omitempty"` // of the input
}

// Report describes how far a batch is.
type Report struct {
	Clips []ClipReport `json:"clips"`
}

// Count returns the number of clips in a state.
func (r *Report) Count(s State) (n int) {
	for _, c := range r.Clips {
		if c.State == s {
			n++
		}
	}
	return n
}

// Work returns the directory in which the farm keeps the clip's plan and segments. It is next to
// the output, and each request has its own.
func (c Clip) Work() string {
	c.Before = nil
	return filepath.Join(filepath.Dir(c.Output), "."+filepath.Base(c.Output)+".farm-"+hash(c)[:12])
}

// Plan returns the name of the clip's plan.
func (c Clip) Plan() string { return filepath.Join(c.Work(), "plan.json") }

// Joined returns the name of the joined file before it becomes the output.
func (c Clip) Joined() string { return filepath.Join(c.Work(), "joined"+filepath.Ext(c.Output)) }

// ID returns the name of the batch's workflow, which depends only on the clips.
func (b Batch) ID() string {
	all := make([]Clip, len(b.Clips))
	for i, c := range b.Clips {
		c.Before, c.Overwrite = nil, false
		all[i] = c
	}
	return "retime-batch-" + hash(all)[:16]
}

// MakeID returns the name of the workflow that makes the segments of a conversion.
func MakeID(conversion string) string { return conversion + "-make" }

func hash(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // every field can be marshalled
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Queue returns the name of the task queue for workers whose retime has this version. Plans depend
// on the version, so each version has workers of its own.
func Queue(prefix, version string) string { return prefix + " " + version }

// SegmentQueue returns the name of the queue for work that takes a slot: a GPU, or a share
// of a machine's processors.
func SegmentQueue(queue string, gpu bool) string {
	if gpu {
		return queue + " gpu"
	}
	return queue + " cpu"
}

// containers maps the extensions of outputs to the formats that retime plans for.
var containers = map[string]string{
	".avi": "avi", ".m4v": "mp4", ".mkv": "matroska", ".mov": "mov", ".mp4": "mp4", ".mts": "mpegts",
	".mxf": "mxf", ".nut": "nut", ".ts": "mpegts", ".m2ts": "mpegts", ".webm": "webm",
}

// Container returns the container to plan for: the user's choice, or what the output's extension
// implies; empty to leave it to retime.
func (c Clip) Container() string {
	if c.Format != "" {
		return c.Format
	}
	return containers[strings.ToLower(filepath.Ext(c.Output))]
}
