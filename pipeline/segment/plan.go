// Package segment converts a video in parts that may be made anywhere, in any
// order, more than once, and joins them: the frames are those of one run, bit for
// bit. A plan, which New makes, says which ranges there are; Make makes one of them;
// Join puts them together. Everything is in files that are either whole or not
// there, so that a process may be killed at any time.
package segment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

// Range is the frames of the output from number First to before End.
type Range struct {
	First int64 `json:"first"`
	End   int64 `json:"end"`
	// Start is the timestamp of the source's picture at which reading begins for the range;
	// nil to read from the start.
	Start *int64 `json:"start,omitempty"`
}

// Input is the file that is converted.
type Input struct {
	Path     string    `json:"path"` // absolute
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	SHA256   string    `json:"sha256"`
}

// Plan says how a conversion is cut into ranges.
type Plan struct {
	Format   string           `json:"format"`
	Program  string           `json:"program"` // the version that made it
	Input    Input            `json:"input"`
	Settings pipeline.Options `json:"settings"`
	Whole    Outline          `json:"whole"`
	Ranges   []Range          `json:"ranges"`
}

// planFormat names what ReadPlan reads.
const planFormat = "retime plan 1"

// shortest is how many frames a range has at least, where there are as many:
// encoders look ahead further than that at some cost.
const shortest = 8

// maxRanges bounds a plan.
const maxRanges = 1 << 20

// New plans the conversion that o describes, in ranges of about a length in seconds
// of the output. Ranges begin with scenes where these are near, which o lists or else
// are looked for; with even set, they are of one length. program is the version of the
// program that makes the parts; others refuse the plan.
func New(ctx context.Context, o pipeline.Options, length *big.Rat, even bool, program string) (*Plan, error) {
	if length.Sign() <= 0 {
		return nil, fault.New(fault.Usage, "--segment-seconds %s: must be positive", length.FloatString(3))
	}
	path, err := filepath.Abs(o.Input.File)
	if err != nil {
		return nil, fault.New(fault.NoInput, "%w", err)
	}
	whole, starts, err := survey(ctx, o) // before the path is made absolute: it checks the name
	if err != nil {
		return nil, pipeline.Cancelled(ctx, err)
	}
	p := &Plan{Format: planFormat, Program: program, Settings: settings(o, path), Whole: *whole}
	if p.Input, err = describe(ctx, path); err != nil {
		return nil, err
	}
	each := new(big.Rat).Mul(length, whole.Rate)
	n, _ := new(big.Rat).Quo(new(big.Rat).SetInt64(whole.Frames), each).Float64()
	count := min(max(int64(n+0.5), 1), max(whole.Frames/shortest, 1))
	if count > maxRanges {
		return nil, fault.New(fault.Usage, "--segment-seconds %s: makes %d ranges; at most %d", length.FloatString(3), count, maxRanges)
	}
	scenes, never := whole.Scenes, o.Synthesis.SceneThreshold != nil && *o.Synthesis.SceneThreshold > 1
	switch {
	case even:
		scenes = nil
	case o.Synthesis.Scenes == nil && !never && count > 1:
		if scenes, err = findScenes(ctx, o, whole); err != nil {
			return nil, err
		}
	}
	p.Ranges = divide(whole.Frames, count, scenes)
	for i := range p.Ranges {
		p.Ranges[i].Start = starts.before(p.Ranges[i].First)
	}
	return p, nil
}

// settings are those of o that say what is made, for an input at path.
func settings(o pipeline.Options, path string) pipeline.Options {
	if o.Input.File = path; o.Output.File != "" {
		o.Output.File = filepath.Base(o.Output.File) // for its container
	}
	o.Compute.Threads, o.Compute.Backend, o.Compute.Devices, o.Compute.FaultPolicy, o.Synthesis.FlowCache = 0, "", nil, "", ""
	o.Output.Overwrite, o.Output.NoVerify = false, false
	o.Hooks.Digest, o.Hooks.Log, o.Hooks.Record, o.Hooks.ConfidenceMap, o.Hooks.Progress = nil, nil, nil, nil, nil
	return o
}

// divide cuts frames into count ranges of nearly one length. A scene that begins
// within a quarter of that of a cut moves it.
func divide(frames, count int64, scenes []int64) []Range {
	ranges := make([]Range, 0, count)
	first, reach := int64(0), frames/count/4
	for i := int64(1); i <= count; i++ {
		hi, lo := frames/count, frames%count
		end := hi*i + lo*i/count
		if i < count {
			if j, _ := slices.BinarySearch(scenes, end-reach); j < len(scenes) && scenes[j] <= end+reach {
				end = nearest(scenes[j:], end)
			}
		}
		ranges = append(ranges, Range{First: first, End: end})
		first = end
	}
	return ranges
}

// nearest is the one of ascending values that is nearest to v.
func nearest(values []int64, v int64) int64 {
	best := values[0]
	for _, x := range values {
		if max(x-v, v-x) < max(best-v, v-best) {
			best = x
		}
	}
	return best
}

// describe reads the file at path through.
func describe(ctx context.Context, path string) (in Input, err error) {
	f, err := os.Open(path)
	if err != nil {
		return in, fault.New(fault.NoInput, "%w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return in, fault.New(fault.NoInput, "%w", err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, reader{ctx, f}); err != nil {
		if ctx.Err() != nil {
			return in, fault.Cancel(ctx, "cancelled")
		}
		return in, fault.New(fault.NoInput, "%w", err)
	}
	return Input{path, info.Size(), info.ModTime().UTC(), hex.EncodeToString(h.Sum(nil))}, nil
}

// reader reads until ctx ends.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// checkInput says whether the input is still what was planned. Size and time of
// change are enough unless all of it is to be read.
func (p *Plan) checkInput(ctx context.Context, all bool) error {
	info, err := os.Stat(p.Input.Path)
	if err != nil {
		return fault.New(fault.NoInput, "the plan's input: %w", err)
	}
	changed := fault.New(fault.BadData, "input %q is not the file that was planned; plan again", p.Input.Path)
	if info.Size() != p.Input.Size {
		return changed
	}
	if !all && info.ModTime().Equal(p.Input.Modified) {
		return nil
	}
	now, err := describe(ctx, p.Input.Path)
	if err == nil && now.SHA256 != p.Input.SHA256 {
		err = changed
	}
	return err
}

// ID is the hash of all that the plan says.
func (p *Plan) ID() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // it was read or made from what has JSON
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Write writes p to a file that is there whole or not at all.
func (p *Plan) Write(name string) error {
	b, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = atomicfile.WriteFile(name, append(b, '\n'))
	}
	if err != nil {
		return fault.New(fault.CannotWrite, "plan: %w", err)
	}
	return nil
}

// maxPlan bounds the file of a plan, in bytes.
const maxPlan = 1 << 28

// ReadPlan reads what Write wrote, and refuses the plan of another version of the
// program.
func ReadPlan(name, program string) (*Plan, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NoInput, "plan: %w; retime plan makes it", err)
	} else if err != nil {
		return nil, fault.New(fault.NoInput, "plan: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPlan))
	if err != nil {
		return nil, fault.New(fault.NoInput, "plan: %w", err)
	}
	p, err := parsePlan(b)
	if err != nil {
		return nil, fault.New(fault.BadData, "plan %q: %w", name, err)
	}
	if p.Program != program {
		return nil, fault.New(fault.BadData, "plan %q was made by %s, this is %s; plan again, or use the same program everywhere", name, p.Program, program)
	}
	return p, nil
}

func parsePlan(b []byte) (*Plan, error) {
	p := new(Plan)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, err
	}
	if p.Format != planFormat {
		return nil, fmt.Errorf("its format is %q, not %q", p.Format, planFormat)
	}
	if len(p.Ranges) == 0 || p.Whole.Rate == nil || p.Whole.Rate.Sign() <= 0 {
		return nil, errors.New("it has no ranges or no rate")
	}
	at := int64(0)
	for i, r := range p.Ranges {
		if r.First != at || r.End <= r.First {
			return nil, fmt.Errorf("range %d, from %d to %d, does not follow %d", i, r.First, r.End, at)
		}
		at = r.End
	}
	if at != p.Whole.Frames {
		return nil, fmt.Errorf("its ranges have %d frames of %d", at, p.Whole.Frames)
	}
	return p, nil
}

// Dir is where the segments of the plan in a file go: beside it, plan.segments for
// plan.json.
func Dir(plan string) string { return strings.TrimSuffix(plan, ".json") + ".segments" }
