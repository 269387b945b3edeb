// Package segment converts a video in parts that several processes may make anywhere,
// in any order, more than once, and joins them. The frames are those of one run, bit
// for bit. New makes a plan of the ranges, Plan.Make makes a range, and Plan.Join joins
// the ranges. Every file is either whole or absent, so that a process may be killed at
// any time.
package segment

import (
	"context"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"time"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
)

// Range holds the frames of the output from number First up to, not including, End.
type Range struct {
	First int64 `json:"first"`
	End   int64 `json:"end"`
	// Start is the timestamp of the source picture at which reading begins for the
	// range; nil for the start of the source.
	Start *int64 `json:"start,omitempty"`
}

// Input identifies the file to convert.
type Input struct {
	Path     string    `json:"path"` // absolute
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	SHA256   string    `json:"sha256"`
}

// Plan divides a conversion into ranges.
type Plan struct {
	Program  string // version of the program that made the plan
	Input    Input
	Settings pipeline.Options // the options that decide the frames
	Whole    Outline
	Ranges   []Range
}

// Options configure New.
type Options struct {
	// Length is the approximate length of a range in seconds of the output.
	Length *big.Rat
	// Even makes all ranges of equal length. Otherwise a range begins with a scene if
	// one begins near its cut: a scene of Synthesis.Scenes, or one that New finds.
	Even bool
	// Program is the version of the program that makes the ranges. Other versions
	// refuse the plan.
	Program string
}

// shortest is the least number of frames in a range, if the output has as many: the
// look-ahead of an encoder makes shorter ranges costly.
const shortest = 8

// maxRanges bounds the number of ranges in a plan.
const maxRanges = 1 << 20

// New reads the input of o through and plans the conversion. It refuses flow from a
// command: whoever makes a range would run what the plan says.
func New(ctx context.Context, o pipeline.Options, cut Options) (*Plan, error) {
	if err := checkCommand(o.Synthesis.Flow); err != nil {
		return nil, err
	}
	return planRanges(ctx, o, cut)
}

func checkCommand(m pipeline.FlowMethod) error {
	if _, command := m.Command(); command {
		return fault.New(fault.Usage, "Synthesis.Flow %s: a plan may run no command; write the flow to files, or keep it in a flow cache", m)
	}
	return nil
}

func planRanges(ctx context.Context, o pipeline.Options, cut Options) (*Plan, error) {
	if cut.Length == nil {
		return nil, fault.New(fault.Usage, "Options.Length is not set")
	}
	if cut.Length.Sign() <= 0 {
		return nil, fault.New(fault.Usage, "Options.Length %s: must be positive", cut.Length.FloatString(3))
	}
	path, err := filepath.Abs(o.Input.File)
	if err != nil {
		return nil, fault.New(fault.NoInput, "%w", err)
	}
	whole, starts, err := newOutline(ctx, o) // before the path is made absolute, because newOutline checks the name
	if err != nil {
		return nil, fault.Interrupted(ctx, err)
	}
	o.Input.Rotation = o.Rotation() // the joined file may have another container
	p := &Plan{Program: cut.Program, Whole: *whole}
	stored := store(&o)
	if p.Settings, err = stored.options(path); err != nil {
		return nil, fault.New(fault.Usage, "%w", err)
	}
	if p.Input, err = describe(ctx, path); err != nil {
		return nil, err
	}
	count := Count(whole.Frames, whole.Rate, cut.Length)
	if count > maxRanges {
		return nil, fault.New(fault.Usage, "Options.Length %s: makes %d ranges; at most %d", cut.Length.FloatString(3), count, maxRanges)
	}
	scenes, never := whole.Scenes, o.Synthesis.SceneThreshold != nil && *o.Synthesis.SceneThreshold > 1
	switch {
	case cut.Even:
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

// Count returns about how many ranges of length seconds, which is above 0, a number of frames at rate is divided into.
func Count(frames int64, rate, length *big.Rat) int64 {
	each := new(big.Rat).Mul(length, rate)
	n, _ := each.Quo(new(big.Rat).SetInt64(frames), each).Float64()
	return min(max(int64(n+0.5), 1), max(frames/shortest, 1))
}

// divide cuts frames into count ranges of nearly equal length. It moves a cut to a
// scene that begins within a quarter of that length.
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

// nearest returns the one of ascending values that is nearest to v.
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
	f, err := plainfile.Open(path, plainfile.Unlimited)
	if err != nil {
		return in, fault.New(fault.NoInput, "%w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return in, fault.New(fault.NoInput, "%w", err)
	}
	sum, err := f.SHA256(ctx)
	if err != nil {
		return in, fault.Interrupted(ctx, fault.New(fault.NoInput, "%w", err))
	}
	return Input{path, info.Size(), info.ModTime().UTC(), sum}, nil
}

// checkInput makes sure that the input is the planned one, by its size and time of
// change or, if all is set, by its content, too.
func (p *Plan) checkInput(ctx context.Context, all bool) error {
	info, err := os.Stat(p.Input.Path)
	if err != nil {
		return fault.New(fault.NoInput, "the plan's input %q: %w", p.Input.Path, fault.Plain(err))
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
